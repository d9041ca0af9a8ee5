import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { BreakHow, HandsCall, HttpAnswer, ProxyTarget, Sight, Watched } from './hands.ts'

/**
 * Runs inside a test's network namespace and does there what the test says, one JSON line a call: requests,
 * TCP connections, protected services, and a proxy that can be cut. See hands.ts.
 */
const connectMs = 1_500
const requestMs = 10_000

type Held = {
  socket: Socket
  state: 'connecting' | 'open' | 'refused' | 'reset' | 'ended'
  endedAt: number | null
}
const held: Held[] = []

type Pair = { agent: Socket; server: Socket; mode: 'pass' | 'mute' | 'dead' }
type Proxy = { server: Server; pairs: Set<Pair>; targets: ProxyTarget[]; delayMs: number }
const proxies = new Map<number, Proxy>()

const acts: { [Act in HandsCall['act']]: (call: Extract<HandsCall, { act: Act }>) => Promise<unknown> } = {
  fetch: ({ url, init }) => request(url, init),
  say: ({ host, port, text }) => say(host, port, text),
  reach: ({ host, port }) => reach(host, port),
  hold: async ({ host, port }) => hold(host, port),
  held: async ({ number }) => ({ state: held[number]?.state, endedAt: held[number]?.endedAt ?? null }),
  serve: ({ port }) => listen(createServer(greet), port, '::'),
  proxy: ({ port, targets }) => openProxy(port, targets),
  proxyTargets: async ({ port, targets }) => {
    proxyOf(port).targets = targets
  },
  proxyLinks: async ({ port }) => proxyOf(port).pairs.size,
  proxyBreak: async ({ port, how }) => breakLinks(port, how),
  proxyDelay: async ({ port, delayMs }) => {
    proxyOf(port).delayMs = delayMs
  },
  watch: async ({ doors, everyMs }) => watch(doors, everyMs),
}

for await (const line of createInterface({ input: process.stdin })) void answer(line)
process.exit(0)

async function answer(line: string): Promise<void> {
  const { id, call } = JSON.parse(line) as { id: number; call: HandsCall }
  const act = acts[call.act] as (call: HandsCall) => Promise<unknown>
  const reply = await act(call).then(
    (value) => ({ id, value }),
    (error: unknown) => ({ id, error: error instanceof Error ? error.message : String(error) }),
  )
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}

async function request(
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
): Promise<HttpAnswer> {
  const response = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(requestMs),
  })
  return { status: response.status, headers: [...response.headers], body: await response.text() }
}

/** Writes a text to a TCP service; all it answers until it closes, or falls silent for a while. */
async function say(host: string, port: number, text: string): Promise<string> {
  const socket = connect(port, host)
  let heard = ''
  socket.on('data', (data) => {
    heard += String(data)
  })
  socket.write(text)
  await Promise.race([once(socket, 'close'), wait(connectMs)]).catch(() => undefined)
  socket.destroy()
  return heard
}

/** One connection: open when the service's greeting came through. */
async function reach(host: string, port: number): Promise<'open' | 'refused' | 'silent'> {
  const number = hold(host, port)
  const { socket } = held[number] as Held
  const [state = 'silent'] = await Promise.race([
    once(socket, 'data').then(() => ['open' as const]),
    once(socket, 'close').then(() => ['refused' as const]),
    wait(connectMs, ['silent' as const]),
  ]).catch(() => ['refused' as const])
  socket.destroy()
  return state
}

/** A connection that goes on talking until somebody ends it. */
function hold(host: string, port: number): number {
  const socket = connect(port, host)
  const connection: Held = { socket, state: 'connecting', endedAt: null }
  const end = (state: Held['state']) => {
    clearInterval(talking)
    if (connection.endedAt !== null) return
    connection.state = state
    connection.endedAt = Date.now()
  }
  const talking = setInterval(() => connection.state === 'open' && socket.write('still here\n'), 10)
  socket.on('data', () => {
    connection.state = 'open'
  })
  socket.on('error', (error: NodeJS.ErrnoException) =>
    end(error.code === 'ECONNREFUSED' ? 'refused' : 'reset'),
  )
  socket.on('close', () => end('ended'))
  return held.push(connection) - 1
}

/** Tries each door from each address, over and over; what is seen is told in rounds, beside the answers. */
async function watch(doors: readonly Watched[], everyMs: number): Promise<void> {
  let isLooking = false
  setInterval(() => {
    // A machine that is behind with one round doesn't begin another.
    if (isLooking) return
    isLooking = true
    void Promise.all(doors.map(look)).then((sights) => {
      isLooking = false
      process.stdout.write(`${JSON.stringify({ sights })}\n`)
    })
  }, everyMs)
}

function look({ host, port, from }: Watched, index: number): Promise<Sight> {
  const startedAt = Date.now()
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress: from })
    const end = (state: Sight[3]) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      if (state === 'open') socket.resetAndDestroy()
      else socket.destroy()
      resolve([index, startedAt, Date.now(), state])
    }
    const timer = setTimeout(() => end('silent'), connectMs)
    socket.once('data', () => end('open'))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET' ? 'refused' : 'silent'),
    )
  })
}

function greet(socket: Socket): void {
  socket.on('error', () => undefined)
  socket.write('hello\n')
  socket.on('data', (data) => socket.write(data))
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}

async function openProxy(port: number, targets: ProxyTarget[]): Promise<void> {
  const pairs = new Set<Pair>()
  const server = createServer((agent) => void pass(agent, port))
  proxies.set(port, { server, pairs, targets, delayMs: 0 })
  await listen(server, port, '127.0.0.1')
}

function proxyOf(port: number) {
  const proxy = proxies.get(port)
  if (proxy === undefined) throw new Error(`no proxy on port ${port}`)
  return proxy
}

async function pass(agent: Socket, port: number): Promise<void> {
  agent.on('error', () => undefined)
  const proxy = proxyOf(port)
  for (const target of proxy.targets) {
    if (target === 'nowhere') return
    const server = connectTo(target)
    server.on('error', () => undefined)
    const isUp = await Promise.race([
      once(server, 'connect').then(() => true),
      once(server, 'close').then(() => false),
    ]).catch(() => false)
    if (!isUp) continue
    join({ agent, server, mode: 'pass' }, proxy)
    return
  }
  agent.destroy()
}

function connectTo(target: ProxyTarget): Socket {
  if (typeof target === 'number') return connect(target, '127.0.0.1')
  if (target.startsWith('/')) return connect(target)
  const [host = '', port = ''] = target.split(':')
  return connect(Number(port), host)
}

/** A dead pair swallows everything and tells neither end of the other's death: half open, as after a lost path. */
function join(pair: Pair, proxy: Proxy): void {
  const { pairs } = proxy
  pairs.add(pair)
  const { agent, server } = pair
  const toServer = inOrder(proxy, (data) => pair.mode !== 'dead' && server.write(data))
  const toAgent = inOrder(proxy, (data) => pair.mode === 'pass' && agent.write(data))
  agent.on('data', toServer)
  server.on('data', toAgent)
  agent.on('close', () => {
    if (pair.mode !== 'dead') server.destroy()
    pairs.delete(pair)
  })
  server.on('close', () => {
    if (pair.mode !== 'dead') agent.destroy()
  })
}

/** Hands on at once, or so much later as the proxy says; never before what came earlier. */
function inOrder(proxy: Proxy, give: (data: Buffer) => unknown): (data: Buffer) => void {
  let last: Promise<unknown> | undefined
  return (data) => {
    if (proxy.delayMs === 0 && last === undefined) {
      give(data)
      return
    }
    const turn = Promise.all([last, wait(proxy.delayMs)]).then(() => {
      give(data)
      if (last === turn) last = undefined
    })
    last = turn
  }
}

function breakLinks(port: number, how: BreakHow): void {
  for (const pair of proxyOf(port).pairs) {
    if (how === 'bury' && pair.mode === 'pass') continue
    if (how === 'mute' || how === 'dead') {
      pair.mode = how
      continue
    }
    pair.agent.resetAndDestroy()
    pair.server.resetAndDestroy()
  }
}

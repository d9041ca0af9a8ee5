import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'

/** What the worker of streams.ts is told to do, inside of a network namespace. */
export type StreamCall =
  | { act: 'serve'; port: number }
  | { act: 'open'; host: string; port: number; from?: string; fromPort?: number; isPushed: boolean }
  | { act: 'talk'; number: number }
  | { act: 'look'; number: number }

/** How a stream is; instants are Unix milliseconds. */
export type StreamState = {
  state: 'connecting' | 'open' | 'refused' | 'reset' | 'ended'
  endedAt: number | null
  /** When something came last. */
  heardAt: number
}

const pushEveryMs = 10
const streams: { socket: Socket; seen: StreamState }[] = []

const acts: { [Act in StreamCall['act']]: (call: Extract<StreamCall, { act: Act }>) => Promise<unknown> } = {
  serve: async ({ port }) => {
    const server = createServer(attend).listen(port, '::')
    await once(server, 'listening')
  },
  open: ({ host, port, from, fromPort, isPushed }) =>
    open(connect({ host, port, localAddress: from, localPort: fromPort }), isPushed),
  talk: async ({ number }) => {
    const sentAt = Date.now()
    streams[number]?.socket.write('talk\n')
    return sentAt
  },
  look: async ({ number }) => streams[number]?.seen,
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, call } = JSON.parse(line) as { id: number; call: StreamCall }
  const act = acts[call.act] as (call: StreamCall) => Promise<unknown>
  void act(call).then(
    (value) => process.stdout.write(`${JSON.stringify({ id, value })}\n`),
    (error: unknown) => process.stdout.write(`${JSON.stringify({ id, error: String(error) })}\n`),
  )
}
process.exit(0)

/** Greets, gives back what it hears, and goes on talking by itself when asked to. */
function attend(socket: Socket): void {
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.write('hello\n')
  socket.on('data', (data) => {
    if (!String(data).startsWith('push')) return socket.write(data)
    const pushing = setInterval(() => socket.write('pushed\n'), pushEveryMs)
    socket.on('close', () => clearInterval(pushing))
    return undefined
  })
}

async function open(socket: Socket, isPushed: boolean): Promise<number> {
  const seen: StreamState = { state: 'connecting', endedAt: null, heardAt: 0 }
  const number = streams.push({ socket, seen }) - 1
  const end = (state: StreamState['state']) => {
    if (seen.endedAt !== null) return
    Object.assign(seen, { state, endedAt: Date.now() })
  }
  socket.setNoDelay(true)
  socket.on('error', (error: NodeJS.ErrnoException) =>
    end(error.code === 'ECONNREFUSED' ? 'refused' : 'reset'),
  )
  socket.on('close', () => end('ended'))
  socket.on('data', () => {
    seen.heardAt = Date.now()
    if (seen.state !== 'connecting') return
    seen.state = 'open'
    if (isPushed) socket.write('push\n')
  })
  await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => undefined)
  return number
}

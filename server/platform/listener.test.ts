import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Hono } from 'hono'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { aCertificate } from '#tests/support/certificate.ts'
import { ApiError } from '../errors.ts'
import { type Certificate, openCertificate } from './certificate.ts'
import { bodyLimit } from './http/body-limit.ts'
import { type Fetch, type ListenerLimits, startListener } from './listener.ts'
import { startDenoListener } from './listener-deno.ts'
import { createLog } from './log.ts'
import type { OnUpgrade, Upgrade } from './upgrade.ts'

const log = createLog({ logLevel: 'fatal', replica: 'test' })
const config = { host: '127.0.0.1', port: 0, trustedProxies: [] }

async function start(
  fetch: Fetch = (_, { peer }) => new Response(peer),
  more: {
    onUpgrade?: OnUpgrade
    limits?: Partial<ListenerLimits>
    host?: string
    certificate?: Certificate
  } = {},
) {
  const { host = config.host, ...options } = more
  const listener = await startListener({ config: { ...config, host }, fetch, log, ...options })
  onTestFinished(() => listener.stop(0))
  return listener
}

function dial(port: number): { socket: Socket; text: () => string } {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += String(chunk)
  })
  socket.on('error', () => undefined)
  return { socket, text: () => text }
}

const closed = (socket: Socket, milliseconds: number) =>
  Promise.race([once(socket, 'close').then(() => true), wait(milliseconds).then(() => false)])

describe('the listener', () => {
  it('tells the app who is at the other end, on both families at once', async () => {
    const { port } = await start(undefined, { host: '::' })
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toMatch(/127\.0\.0\.1$/)
    expect(await (await fetch(`http://[::1]:${port}/`)).text()).toBe('::1')
  })

  it('answers 408 to a header that is never finished, or closes', async () => {
    const { port } = await start(undefined, { limits: { headers: 700 } })
    const { socket, text } = dial(port)
    const started = performance.now()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    expect(await closed(socket, 4000)).toBe(true)
    expect(performance.now() - started).toBeGreaterThan(600)
    expect(text()).toMatch(/^(HTTP\/1\.1 408 |$)/)
  })

  it('closes a connection that says nothing at all', async () => {
    const { port } = await start(undefined, { limits: { headers: 700 } })
    expect(await closed(dial(port).socket, 4000)).toBe(true)
  })

  it('does not wait for a body that never comes', async () => {
    const { port } = await start(async (request) => new Response(await request.text()), {
      limits: { headers: 500, request: 900 },
    })
    const { socket, text } = dial(port)
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nonly this')
    expect(await closed(socket, 4000)).toBe(true)
    expect(text()).not.toContain('200 OK')
  })

  it('refuses headers over 16 kB', async () => {
    const { port } = await start()
    const { socket, text } = dial(port)
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(20_000)}\r\n\r\n`)
    expect(await closed(socket, 5000)).toBe(true)
    expect(text()).toMatch(/^(HTTP\/1\.1 431 |$)/)
    expect(text()).not.toContain('200 OK')
  })

  it.each([
    ['as long as the limit', 1024, 200],
    ['longer than the limit', 1025, 413],
  ])('takes a body without a told length that is %s: %i bytes', async (_, bytes, status) => {
    const app = new Hono()
      .onError((error, c) => c.text('', error instanceof ApiError ? (error.status as 413) : 500))
      .post(
        '/',
        bodyLimit(() => 1024),
        async (c) => c.text(String((await c.req.text()).length)),
      )
    const { port } = await start((request) => app.fetch(request))
    const body = new Blob(['x'.repeat(bytes)]).stream()
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(status)
    expect(await response.text()).toBe(status === 200 ? String(bytes) : '')
  })

  it('lets a stream of events live longer than a request may take to arrive', async () => {
    const events: Fetch = () => {
      const ticks = new ReadableStream({
        async start(controller) {
          for (let tick = 0; tick < 10; tick += 1) {
            await wait(200)
            controller.enqueue(new TextEncoder().encode(`data: ${tick}\n\n`))
          }
          controller.close()
        },
      })
      return new Response(ticks, { headers: { 'Content-Type': 'text/event-stream' } })
    }
    const { port } = await start(events, { limits: { headers: 300, request: 500 } })
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('data: 9')
  })

  it('holds a bounded number of connections of one address', async () => {
    const { port } = await start(undefined, { limits: { connectionsPerAddress: 2 } })
    const [one, two] = [dial(port), dial(port)]
    await Promise.all([once(one.socket, 'connect'), once(two.socket, 'connect')])
    expect(await closed(dial(port).socket, 5000)).toBe(true)
    one.socket.destroy()
    // The listener hears of it in its own time.
    const ask = async () => {
      const next = dial(port)
      next.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      await once(next.socket, 'close')
      return next.text()
    }
    await expect.poll(ask, { timeout: 5000 }).toContain('200 OK')
  })

  it('finishes running requests when it stops, and takes no new ones', async () => {
    const [begun, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { port, stop } = await start(async () => {
      begun.resolve()
      await finished.promise
      return new Response('done')
    })
    const slow = fetch(`http://127.0.0.1:${port}/`)
    await begun.promise
    const started = performance.now()
    const stopped = stop(5000)
    await wait(20)
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    finished.resolve()
    expect(await (await slow).text()).toBe('done')
    await stopped
    expect(performance.now() - started).toBeLessThan(2000)
  })

  it('does not wait longer than its grace for a request that never ends', async () => {
    const begun = Promise.withResolvers<void>()
    const { port, stop } = await start(() => {
      begun.resolve()
      return new Promise<Response>(() => undefined)
    })
    const endless = fetch(`http://127.0.0.1:${port}/`).catch(() => 'cut')
    await begun.promise
    await stop(200)
    expect(await endless).toBe('cut')
  })
})

describe('the listener with a certificate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knoc-tls-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const { certificate: certificateFile, key: keyFile, authority } = aCertificate(folder, 'DNS:localhost')

  const startTls = async (more: Parameters<typeof start>[1] = {}) => {
    const certificate = await openCertificate({ certificateFile, keyFile }, log)
    return start(undefined, { ...more, certificate })
  }

  it('speaks https to browsers and agents, and nothing in plain text', async () => {
    const { port } = await startTls({
      onUpgrade: async ({ accept }) => (await accept()).send('hello'),
    })
    const ca = readFileSync(authority)
    const options = { port, host: '127.0.0.1', servername: 'localhost', ca }
    const [answer] = (await once(request(options).end(), 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(200)
    answer.resume()
    const agent = new WebSocket(`wss://localhost:${port}/agent`, { ca, host: '127.0.0.1' })
    expect(String((await once(agent, 'message'))[0])).toBe('hello')
    const plain = dial(port)
    plain.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await closed(plain.socket, 4000)).toBe(true)
    expect(plain.text()).not.toContain('200 OK')
  })

  it('closes a connection that never finishes its handshake', async () => {
    const { port } = await startTls({ limits: { handshake: 500 } })
    expect(await closed(dial(port).socket, 5000)).toBe(true)
  })
})

describe('a WebSocket', () => {
  const agent = (port: number) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/agent`, { headers: { authorization: 'right' } })
    socket.on('error', () => undefined)
    return socket
  }

  it('is accepted by its header, with frames up to 1 MiB', async () => {
    const { port } = await start(undefined, {
      onUpgrade: async ({ request, peer, accept, refuse }) => {
        if (request.headers.authorization !== 'right') return refuse('err.unauthorised')
        const socket = await accept()
        socket.on('message', (data) => socket.send(`${peer} ${(data as Buffer).length}`))
      },
    })
    const socket = agent(port)
    await once(socket, 'open')
    expect(socket.extensions).toBe('')
    socket.send('hello')
    expect(String((await once(socket, 'message'))[0])).toBe('127.0.0.1 5')
    socket.send('x'.repeat(1024 * 1024 + 1))
    expect((await once(socket, 'close'))[0]).toBe(1009)
  })

  it.each([
    ['is refused with the catalogue’s error', ({ refuse }: Upgrade) => refuse('err.agentUnknown'), 401],
    ['is refused when deciding fails', () => Promise.reject(new Error('no')), 500],
    ['is refused where nobody takes any', undefined, 404],
  ])('%s', async (_, onUpgrade, status) => {
    const { port } = await start(undefined, onUpgrade && { onUpgrade })
    const socket = new WebSocket(`ws://127.0.0.1:${port}/agent`)
    const [error] = await once(socket, 'error')
    expect(String(error)).toContain(String(status))
  })

  it('is closed when the listener stops', async () => {
    const { port, stop } = await start(undefined, { onUpgrade: async ({ accept }) => void (await accept()) })
    const socket = agent(port)
    await once(socket, 'open')
    const ended = once(socket, 'close')
    await stop(100)
    await ended
  })
})

describe('the Deno listener', () => {
  const listener = startDenoListener({ config, fetch: (_, { peer }) => new Response(peer) })
  afterAll(() => listener.stop(100))

  it('tells the app who is at the other end', async () => {
    expect(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()).toBe('127.0.0.1')
  })
})

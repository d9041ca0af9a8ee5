import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { bringsOrders, createFrameReader } from './link-frames.ts'
import { openRelay, type Relay } from './relay.ts'

const frame = (text: string, head = 0x81): Buffer => {
  const body = Buffer.from(text)
  const length = body.length < 126 ? Buffer.from([body.length]) : Buffer.alloc(3, 126)
  if (body.length >= 126) length.writeUInt16BE(body.length, 1)
  return Buffer.concat([Buffer.from([head]), length, body])
}
const orders = JSON.stringify({ type: 'orders', batch: 1 })
const beat = JSON.stringify({ type: 'heartbeat', nowMs: 1 })

describe('frames of a link', () => {
  it('are whole, in whatever pieces they come', () => {
    const frames = [frame(orders), frame('x'.repeat(300)), frame('', 0x89)]
    const bytes = Buffer.concat(frames)
    for (let size = 1; size < 20; size += 1) {
      const read = createFrameReader()
      const seen: Buffer[] = []
      for (let at = 0; at < bytes.length; at += size) seen.push(...read(bytes.subarray(at, at + size)))
      expect(seen).toEqual(frames)
    }
  })

  it('bring orders or something else', () => {
    expect(bringsOrders(frame(orders))).toBe(true)
    expect(bringsOrders(frame(beat))).toBe(false)
    expect(bringsOrders(frame(orders, 0x88))).toBe(false)
  })

  it('are never longer than the protocol’s', () => {
    const head = Buffer.alloc(10, 0)
    head.set([0x81, 127])
    head.writeBigUInt64BE(9_000_000n, 2)
    expect(() => createFrameReader()(head)).toThrow('9000000 bytes')
  })
})

describe('a relay', () => {
  let server: WebSocketServer
  let relay: Relay
  beforeAll(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
    await once(server, 'listening')
    const { port: to } = server.address() as AddressInfo
    relay = await openRelay((command) => command, { port: 0, to })
  })
  afterAll(() => {
    relay.stop()
    server.close()
  })

  /** What an agent hears of `count` orders, each with a heartbeat behind it. */
  async function hear(count: number): Promise<{ type: string; batch: number }[]> {
    const linked = once(server, 'connection') as Promise<[WebSocket]>
    const agent = new WebSocket(`ws://127.0.0.1:${relay.port}`, { perMessageDeflate: false })
    const heard: { type: string; batch: number }[] = []
    agent.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString())))
    const [socket] = await linked
    for (let batch = 1; batch <= count; batch += 1)
      for (const type of ['orders', 'heartbeat']) socket.send(JSON.stringify({ type, batch }))
    await expect.poll(() => new Set(heard.map(({ type, batch }) => type + batch)).size).toBe(2 * count)
    const { repeated } = await relay.counts()
    await expect.poll(() => heard.length, { timeout: 5_000 }).toBe(2 * count + repeated)
    agent.close()
    return heard
  }

  it('passes everything as it comes, until it muddles: then orders come twice and late, nothing is lost', async () => {
    const plain = await hear(20)
    expect(plain.map(({ batch }) => batch)).toEqual(plain.map(({ batch }) => batch).toSorted((a, b) => a - b))
    expect(await relay.counts()).toEqual({ repeated: 0, delayed: 0, overtaken: 0 })
    await relay.muddle(1)
    const muddled = await hear(40)
    const ofType = (type: string) => muddled.filter((one) => one.type === type).map(({ batch }) => batch)
    const beats = ofType('heartbeat')
    expect(beats).toEqual(beats.toSorted((a, b) => a - b))
    expect(ofType('orders')).not.toEqual(ofType('orders').toSorted((a, b) => a - b))
    const counts = await relay.counts()
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0)
  })
})

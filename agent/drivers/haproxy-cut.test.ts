import { Agent as HttpAgent, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { requireProgram } from '#tests/support/debian.ts'
import { until } from '#tests/support/until.ts'
import { acls, aHaproxyWithService, haproxyTarget, type TestHaproxy } from '../testing/haproxy.ts'
import { haproxyDriver } from './haproxy.ts'
import { readSession } from './haproxy-cut.ts'
import { createHaproxySockets, type HaproxySockets } from './haproxy-socket.ts'

const source = '127.0.0.5'
const stranger = '127.0.0.6'

describe.skipIf(!requireProgram('haproxy'))(
  'established connections through HAProxy',
  { timeout: 30_000 },
  () => {
    let haproxy: TestHaproxy
    let sockets: HaproxySockets
    const streams = new Set<Socket>()
    const agents = new Set<HttpAgent>()

    const driver = (id: number) =>
      haproxyDriver({ sockets, allowed: [haproxy.socket] }, haproxyTarget(haproxy.socket, id))
    const closingOf = (addresses: string[]) => addresses.map((address) => ({ address, userName: 'erika' }))
    const open = (id: number, ...addresses: string[]) =>
      driver(id).open(addresses.map((address) => ({ address, timeoutSeconds: 600, userName: 'erika' })))
    const close = (id: number, ...addresses: string[]) => driver(id).close(closingOf(addresses))
    const cut = (id: number, ...addresses: string[]) => driver(id).cut?.(closingOf(addresses))

    beforeAll(async () => {
      haproxy = await aHaproxyWithService()
    })
    afterEach(async () => {
      sockets?.stop()
      for (const stream of streams) stream.destroy()
      for (const agent of agents) agent.destroy()
      for (const id of [acls.tcp, acls.http]) await haproxy.say(`clear acl #${id}`)
    })
    afterAll(() => haproxy.remove())

    const begin = () => {
      sockets = createHaproxySockets()
    }

    /** A stream that talks every few milliseconds, or has fallen silent. */
    const aStream = async (from: string, { isSilent = false, port = haproxy.tcpPort } = {}) => {
      const socket = connect({ host: '127.0.0.1', port, localAddress: from })
      streams.add(socket)
      const state = { talked: false, isOver: false }
      socket.on('error', () => undefined)
      socket.on('data', () => {
        state.talked = true
      })
      socket.on('close', () => {
        state.isOver = true
      })
      socket.write('hello\n')
      await until(`a stream from ${from}`, () => state.talked)
      const talking = setInterval(() => !isSilent && !state.isOver && socket.write('still here\n'), 10)
      socket.on('close', () => clearInterval(talking))
      return state
    }
    const get = (path: string, agent: HttpAgent): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', port: haproxy.httpPort, path, agent, localAddress: source }, resolve)
          .on('error', reject)
          .end()
      })
    const aKeptAlive = () => {
      const agent = new HttpAgent({ keepAlive: true })
      agents.add(agent)
      return agent
    }
    const aMoment = () => new Promise((resolve) => setTimeout(resolve, 300))

    it('are ended for a closed address, silent ones too, and for nobody else', async () => {
      begin()
      await open(acls.tcp, source, stranger)
      const mine = [await aStream(source), await aStream(source, { isSilent: true })]
      const theirs = await aStream(stranger)
      await close(acls.tcp, source)
      expect(await cut(acls.tcp, source)).toBeNull()
      await until('the streams end', () => mine.every(({ isOver }) => isOver))
      await aMoment()
      expect(theirs.isOver).toBe(false)
    })

    it('are ended for everybody in a network that was closed', async () => {
      begin()
      await open(acls.tcp, '127.0.0.4/30')
      const mine = await aStream(source)
      await close(acls.tcp, '127.0.0.4/30')
      expect(await cut(acls.tcp, '127.0.0.4/30')).toBeNull()
      await until('the stream ends', () => mine.isOver)
    })

    it('are ended in the middle of an HTTP answer, and a kept-alive one gets no further request through', async () => {
      begin()
      await open(acls.http, source)
      const idle = aKeptAlive()
      const slow = await get('/slow', aKeptAlive())
      let isOver = false
      slow.on('data', () => undefined)
      slow.on('error', () => undefined)
      slow.on('close', () => {
        isOver = true
      })
      const quick = await get('/', idle)
      quick.resume()
      await until('the first answer is read', () => quick.complete)
      await close(acls.http, source)
      expect(await cut(acls.http, source)).toBeNull()
      await until('the slow answer breaks off', () => isOver)
      expect((await get('/', idle)).statusCode).toBe(403)
    })

    it('are ended in a process that a reload has left behind, too, and it is let go of when it is empty', async () => {
      begin()
      await open(acls.tcp, source, stranger)
      const [mine, theirs] = [await aStream(source), await aStream(stranger)]
      await haproxy.reload()
      await open(acls.tcp, source, stranger)
      await close(acls.tcp, source)
      expect(await cut(acls.tcp, source)).toBeNull()
      await until('the stream ends', () => mine.isOver)
      expect(theirs.isOver).toBe(false)
      expect(haproxy.workers()).toBe(2)
      await close(acls.tcp, stranger)
      expect(await cut(acls.tcp, stranger)).toBeNull()
      await until('the old process ends', () => haproxy.workers() === 1)
    })

    it('are left, with words, while another ACL of the same HAProxy lets the address in', async () => {
      begin()
      await open(acls.http, source)
      await open(acls.tcp, source)
      const mine = await aStream(source)
      await close(acls.tcp, source)
      expect(await cut(acls.tcp, source)).toEqual({
        code: 'notVerified',
        text: expect.stringMatching(/left as they are.*127\.0\.0\.5 \(ACL #8\)/),
      })
      await aMoment()
      expect(mine.isOver).toBe(false)
      await close(acls.http, source)
      expect(await cut(acls.http, source)).toBeNull()
      await until('the stream ends', () => mine.isOver)
    })

    it('are left, with words, when the socket may not end them', async () => {
      begin()
      const reader = await aHaproxyWithService({ level: 'operator' })
      try {
        const target = haproxyTarget(reader.socket, acls.tcp)
        const one = haproxyDriver({ sockets, allowed: [reader.socket] }, target)
        await one.open([{ address: source, timeoutSeconds: 600, userName: 'erika' }])
        const mine = await aStream(source, { port: reader.tcpPort })
        await one.close(closingOf([source]))
        expect(await one.cut?.(closingOf([source]))).toEqual({
          code: 'permission',
          text: expect.stringMatching(/level admin/),
        })
        expect(mine.isOver).toBe(false)
      } finally {
        await reader.remove()
      }
    })

    it('are left while a wider network of the same ACL lets the address in', async () => {
      begin()
      await open(acls.tcp, source, '127.0.0.0/24')
      const mine = await aStream(source)
      await close(acls.tcp, source)
      expect(await cut(acls.tcp, source)).toMatchObject({ code: 'notVerified' })
      expect(mine.isOver).toBe(false)
    })
  },
)

describe('a line of HAProxy’s sessions', () => {
  it.each([
    [
      '0x55: proto=tcpv4 src=10.0.0.1:4711 fe=web be=b',
      { handle: '0x55', from: '10.0.0.1:4711', address: '10.0.0.1' },
    ],
    [
      '0x5f: proto=tcpv6 src=fd77::1:4711 fe=web be=b',
      { handle: '0x5f', from: 'fd77::1:4711', address: 'fd77::1' },
    ],
    [
      '0x5f: proto=tcpv6 src=::ffff:10.0.0.1:4711 fe=web be=b',
      { handle: '0x5f', from: '::ffff:10.0.0.1:4711', address: '10.0.0.1' },
    ],
    ['0x55: proto=unix_stream src=unix:1 fe=GLOBAL be=<NONE>', undefined],
    ['0x55: proto=tcpv4 src=127.0.0.1:4711 fe=GLOBAL be=<NONE>', undefined],
    ['0x55; shutdown session 0x1: proto=tcpv4 src=10.0.0.1:4711 fe=web', undefined],
    ['  age=1s calls=1', undefined],
  ])('reads %j', (line, session) => {
    expect(readSession(line)).toEqual(session)
  })
})

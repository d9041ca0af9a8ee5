import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { aFakeSocket, haproxyTarget } from '../testing/haproxy.ts'
import type { Driver } from './driver.ts'
import { haproxyDriver } from './haproxy.ts'
import { connectionLimits, openHaproxyConnection } from './haproxy-connection.ts'
import { createHaproxySockets } from './haproxy-socket.ts'

const entry = { address: '192.0.2.1', timeoutSeconds: 600, userName: 'erika' }
const limits = { ...connectionLimits, connectMs: 300, answerMs: 300, answerBytes: 100_000, lineBytes: 10_000 }
const info = 'Pid: 1\nStopping: 0\n\n> '

describe('the HAProxy driver, on a socket that misbehaves', () => {
  const cleanUp: (() => void)[] = []
  afterEach(() => {
    for (const undo of cleanUp.splice(0)) undo()
  })

  async function aDriver(behave: (socket: Socket) => void): Promise<Driver> {
    const fake = await aFakeSocket(behave)
    const sockets = createHaproxySockets({ limits })
    cleanUp.push(sockets.stop, fake.stop)
    return haproxyDriver({ sockets, allowed: [fake.path] }, haproxyTarget(fake.path, 7))
  }

  it.each<[string, (socket: Socket) => unknown, string]>([
    ['never answers', () => undefined, 'timeout'],
    ['closes at once', (socket) => socket.end(), 'unknown'],
    ['floods with lines', (socket) => socket.write('x\n'.repeat(200_000)), 'unknown'],
    ['floods without a line’s end', (socket) => socket.write('x'.repeat(200_000)), 'unknown'],
    ['drips for ever', (socket) => drip(socket), 'timeout'],
    ['speaks HTTP', (socket) => socket.on('data', () => socket.write('HTTP/1.1 400\r\n\r\n')), 'timeout'],
    ['answers what nobody asked', (socket) => socket.write(`\n> ${info.repeat(3)}`), 'unknown'],
    ['is somebody else’s', (socket) => answerEach(socket, 'hello\n', 'hello\n\n> '), 'unknown'],
    ['agrees with everything', (socket) => answerEach(socket, ''), 'unknown'],
    ['answers addresses with garbage', (socket) => answerEach(socket, 'yes, surely\n'), 'unknown'],
  ])('fails in time, with words, when it %s', async (_, behave, code) => {
    const one = await aDriver(behave)
    const startedAt = performance.now()
    const error = { code, text: expect.stringMatching(/\w/) }
    expect(await one.open([entry])).toEqual([{ address: entry.address, outcome: 'failed', error }])
    expect(await one.close([entry])).toEqual([{ address: entry.address, outcome: 'failed', error }])
    expect(await one.list()).toEqual(error)
    await one.cut?.([entry])
    expect(performance.now() - startedAt).toBeLessThan(6_000)
  })

  const drip = (socket: Socket) => {
    const timer = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(timer))
  }

  /** Says the same to every question but who it is. */
  const answerEach = (socket: Socket, answer: string, identity = info) => {
    socket.on('data', (data) => {
      for (const line of String(data).trim().split('\n')) {
        socket.write(line === 'show info' ? identity : `${answer}\n> `)
      }
    })
  }

  it('believes nothing that it does not see', async () => {
    const told = (match: string) =>
      aDriver((socket) => {
        socket.on('data', (data) => {
          for (const line of String(data).trim().split('\n')) {
            if (line === 'show info') socket.write(info)
            else socket.write(line.startsWith('get') ? `type=ip, case=sensitive, ${match}\n\n> ` : '\n> ')
          }
        })
      })
    const error = { code: 'notVerified', text: expect.stringMatching(/afterwards/) }
    const failed = [{ address: entry.address, outcome: 'failed', error }]
    expect(await (await told('match=no')).open([entry])).toEqual(failed)
    const standing = `match=yes, idx=tree, pattern="${entry.address}"`
    expect(await (await told(standing)).close([entry])).toEqual(failed)
  })

  it.each(['show info;quit', 'show info\nquit', 'add acl #7 "x"', 'show info \\', 'x'.repeat(201), ''])(
    'never writes %j',
    async (text) => {
      const heard: string[] = []
      const fake = await aFakeSocket((socket) => {
        socket.on('data', (data) => {
          heard.push(String(data))
          socket.write('\n> ')
        })
      })
      cleanUp.push(fake.stop)
      const connection = await openHaproxyConnection({ path: fake.path })
      cleanUp.push(connection.close)
      await expect(connection.ask([{ text: 'show info' }, { text }])).rejects.toThrow(/must not/)
      expect(heard).toEqual(['prompt\n'])
    },
  )

  it('puts answers together that come a byte at a time', async () => {
    const answers: Record<string, string> = {
      'get acl #7 192.0.2.1': 'type=ip, case=sensitive, match=no\n\n> ',
      'show acl #7': '0x1 10.0.0.1\n\n> ',
      'show info': info,
    }
    const one = await aDriver((socket) => {
      let queue = ''
      const timer = setInterval(() => {
        if (queue !== '') socket.write(queue[0] ?? '')
        queue = queue.slice(1)
      }, 1)
      socket.on('close', () => clearInterval(timer))
      socket.on('data', (data) => {
        for (const line of String(data).trim().split('\n')) queue += answers[line] ?? '\n> '
      })
    })
    expect(await one.list()).toEqual(new Map([['10.0.0.1', 0]]))
  })

  it('uses only sockets that the agent’s own configuration names, by any spelling', async () => {
    const sockets = createHaproxySockets({ limits })
    cleanUp.push(sockets.stop)
    const allowed = ['/var/run/knoc-test-nowhere.sock', '127.0.0.1:9']
    const refused = haproxyDriver({ sockets, allowed }, haproxyTarget('/run/docker.sock', 7))
    expect(await refused.list()).toEqual({
      code: 'permission',
      text: expect.stringMatching(/haproxyAddresses.*agent\.json/),
    })
    for (const address of ['/run/knoc-test-nowhere.sock', 'localhost:9']) {
      const known = haproxyDriver({ sockets, allowed }, haproxyTarget(address, 7))
      expect(await known.list()).toEqual({
        code: 'unknown',
        text: expect.stringMatching(/cannot be reached/),
      })
    }
  })

  it.each([
    [{ Protocol: 'unix', Address: '/run/h.sock;x' }, { ID: 7 }],
    [{ Protocol: 'unix', Address: '/run/h.sock' }, { ID: '7' }],
    [{ Protocol: 'unix', Address: '/run/h.sock' }, { ID: -1 }],
    [{}, {}],
  ])('refuses an order that names no usable socket or ACL: %j %j', async (backend, list) => {
    const sockets = createHaproxySockets()
    cleanUp.push(sockets.stop)
    const target = haproxyTarget('/run/h.sock', 7, { backend, list })
    const one = haproxyDriver({ sockets, allowed: ['/run/h.sock'] }, target)
    expect(await one.list()).toMatchObject({ code: 'badTarget' })
  })
})

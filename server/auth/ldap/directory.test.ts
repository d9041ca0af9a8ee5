import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '#tests/support/until.ts'
import { withDirectory } from './directory.ts'

/** As BER has it: a tag, a length, a content. */
const element = (tag: number, ...contents: Buffer[]): Buffer => {
  const content = Buffer.concat(contents)
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
const octets = (text = '') => element(0x04, Buffer.from(text))
/** Number 2 is the first message that a client of ldapts sends. */
const message = (operation: Buffer, id = 2) => element(0x30, element(0x02, Buffer.from([id])), operation)
const result = (tag: number, code: number) =>
  message(element(tag, element(0x0a, Buffer.from([code])), octets(), octets()))
const entry = message(element(0x64, octets('uid=ada,dc=example'), element(0x30)))
const tinyEntry = message(element(0x64, octets(), element(0x30)))
const answered = (bytes: Buffer) => (socket: Socket) => void socket.on('data', () => socket.write(bytes))

const servers: Server[] = []
afterAll(() => servers.forEach((server) => server.close()))

/** A directory that isn't one. */
async function aLiar(behave: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).resume()
    behave(socket)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n)))
  return { url: `ldap://127.0.0.1:${port}`, connections }
}

const settings = { startTls: false, skipVerifyTls: true }
const unavailable = { code: 'err.directoryUnavailable', status: 503 }

describe('a directory that', () => {
  it.concurrent.each<[string, (socket: Socket) => void, { startTls?: boolean }]>([
    ['never answers', () => undefined, {}],
    ['closes at once', (socket) => void socket.end(), {}],
    ['closes when asked', (socket) => void socket.on('data', () => socket.destroy()), {}],
    ['speaks HTTP', answered(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')), {}],
    ['begins an answer and no more', answered(Buffer.from([0x30, 0x40, 0x02])), {}],
    [
      'says a byte now and then',
      (socket) => {
        const dripping = setInterval(
          () => socket.write(Buffer.from([[0x30, 0x82, 0x7f][socket.bytesWritten] ?? 2])),
          200,
        )
        socket.on('close', () => clearInterval(dripping))
      },
      {},
    ],
    ['announces two gigabytes', answered(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff])), {}],
    ['sends entries without end', floods(entry), {}],
    ['sends the smallest entries without end', floods(tinyEntry), {}],
    ['calls nothing a success', answered(message(element(0x61))), {}],
    [
      'points past the end of an answer',
      answered(message(element(0x64, octets(), element(0x30, Buffer.from([4, 4, 4, 0, 0x31, 0x7f]))))),
      {},
    ],
    ['sends elsewhere', answered(result(0x61, 10)), {}],
    ['is busy', answered(result(0x61, 51)), {}],
    ['answers another operation', answered(message(element(0x69))), {}],
    ['doesn’t know StartTLS', answered(result(0x78, 2)), { startTls: true }],
    [
      'agrees to StartTLS and goes quiet',
      (socket) => void socket.once('data', () => socket.write(result(0x78, 0))),
      { startTls: true },
    ],
    ['agrees to StartTLS and speaks on in LDAP', answered(result(0x78, 0)), { startTls: true }],
    [
      'agrees to StartTLS and goes away',
      (socket) => void socket.on('data', () => socket.end(result(0x78, 0))),
      { startTls: true },
    ],
    [
      'agrees to StartTLS and answers the next question in clear before it is asked',
      answered(Buffer.concat([result(0x78, 0), message(element(0x61), 3)])),
      { startTls: true },
    ],
  ])('%s costs an error within 5 s and leaves nothing open', async (_, behave, options) => {
    const liar = await aLiar(behave)
    const began = performance.now()
    const asking = withDirectory({ ...settings, ...options, url: liar.url }, (client) =>
      client.bind('uid=ada,dc=example', 'a password'),
    )
    await expect(asking).rejects.toMatchObject(unavailable)
    expect(performance.now() - began).toBeLessThan(5500)
    await until('every connection is closed', async () => (await liar.connections()) === 0)
  })

  it.concurrent.each([
    ['doesn’t listen', 'ldap://127.0.0.1:1'],
    ['has no socket', 'ldapi://%2Fnowhere%2Fldapi'],
    ['has no address', 'ldap://nowhere.invalid'],
  ])('%s costs an error', async (_, url) => {
    const asking = withDirectory({ ...settings, url }, (client) => client.bind('uid=ada', 'a password'))
    await expect(asking).rejects.toMatchObject(unavailable)
  })

  it('closes between two questions is not asked again over a new connection, in clear', async () => {
    let seen = 0
    const liar = await aLiar((socket) => {
      seen += 1
      socket.on('data', () => socket.end(result(0x61, 0)))
    })
    const asking = withDirectory({ ...settings, url: liar.url }, async (client) => {
      await client.bind('uid=ada,dc=example', 'a password')
      await until('ldapts sees it', () => !client.isConnected)
      await client.bind('uid=ada,dc=example', 'another password')
    })
    await expect(asking).rejects.toMatchObject(unavailable)
    expect(seen).toBe(1)
  })
})

describe('a directory’s address', () => {
  it.each(['cldap://example.test', 'http://example.test', 'ldap', '', 'ldapi://relative'])(
    'is refused: %s',
    async (url) => {
      await expect(withDirectory({ ...settings, url }, async () => undefined)).rejects.toMatchObject({
        code: 'err.ldapUrlScheme',
      })
    },
  )
})

function floods(bytes: Buffer) {
  const packet = Buffer.concat(Array.from({ length: 20_000 }, () => bytes))
  return (socket: Socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(packet));
    }
    socket.on('drain', more).once('data', more)
  }
}

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDiscovery } from '#server/discovery/discovery.service.ts'
import { openCertificate } from '#server/platform/certificate.ts'
import { systemClock } from '#server/platform/clock.ts'
import { readConfig } from '#server/platform/config.ts'
import { createLog } from '#server/platform/log.ts'
import { Secret } from '#server/platform/secret.ts'
import { createSealer } from '#server/platform/secrets.ts'
import { aCertificate } from '#tests/support/certificate.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { freePorts, takePort } from '#tests/support/free-ports.ts'

let database: TestDatabase
const folder = mkdtempSync(join(tmpdir(), 'knoc-lookup-'))
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true })
})

const log = createLog({ logLevel: 'silent', replica: 'tests' })

async function set(values: Record<string, unknown>): Promise<void> {
  for (const [name, value] of Object.entries(values))
    await database.db
      .insertInto('settings')
      .values({ name, value: JSON.stringify(value) })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: JSON.stringify(value) }))
      .execute()
}

/** A replica's discovery on real ports of this machine. */
async function aReplica(env: Record<string, string>) {
  const config = readConfig({ KNOC_HOST: '127.0.0.1', KNOC_PUBLIC_URL: 'http://localhost:8080', ...env })
  const certificate = config.tls && (await openCertificate(config.tls, log))
  const warned: string[] = []
  const discovery = createDiscovery({
    config,
    db: database.db,
    sealer: createSealer(new Secret(Buffer.alloc(32, 7).toString('base64'))),
    isGrantable: () => true,
    certificate,
    clock: systemClock,
    log: Object.assign(Object.create(log) as typeof log, {
      warn: (_: unknown, text: string) => void warned.push(text),
    }),
  })
  onTestFinished(discovery.stop)
  return { discovery, certificate, warned }
}

/** Sends raw text; everything that comes back until the other side closes. */
async function say(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.on('data', (data) => {
    heard += data.toString()
  })
  socket.on('error', () => undefined)
  socket.write(text)
  await new Promise((resolve) => socket.on('close', resolve))
  return heard
}

const ask = async (port: number, path = '/ip?n=x', init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, init)
const isOpen = (port: number) =>
  ask(port).then(
    async (answer) => (await answer.text()) === '127.0.0.1',
    () => false,
  )

describe('lookup ports', () => {
  it('listen while discovery is on and no foreign service is named, on each replica', async () => {
    const [one = 0, two = 0, three = 0] = await freePorts(3)
    const first = await aReplica({ KNOC_LOOKUP_PORTS: `443=${one},222=${two},3389=off` })
    const second = await aReplica({ KNOC_LOOKUP_PORTS: `8000=${three}` })
    const look = () => Promise.all([first.discovery.look(), second.discovery.look()])
    const open = () => Promise.all([one, two, three].map(isOpen))
    await set({ DiscoverIP: false, DiscoverIPURL: '' })
    await look()
    expect(await open()).toEqual([false, false, false])
    await set({ DiscoverIP: true })
    await look()
    expect(await open()).toEqual([true, true, true])
    expect(first.discovery.status()).toMatchObject({
      IPApi: 'http://localhost',
      LookupPorts: [
        { Port: 443, At: one },
        { Port: 222, At: two },
      ],
    })
    await set({ DiscoverIPURL: 'http://lookup.example' })
    await look()
    expect(await open()).toEqual([false, false, false])
    await set({ DiscoverIPURL: '' })
    await look()
    expect(await open()).toEqual([true, true, true])
    await set({ DiscoverIP: false })
    await look()
    expect(await open()).toEqual([false, false, false])
    expect(first.discovery.status()).toMatchObject({ IPApi: '', LookupPorts: [] })
  })

  it('are left out when another program has them, and come when it has gone; the others go on', async () => {
    const [taken = 0, free = 0] = await freePorts(2)
    const giveBack = await takePort(taken)
    const { discovery, warned } = await aReplica({ KNOC_LOOKUP_PORTS: `443=${taken},222=${free}` })
    await set({ DiscoverIP: true, DiscoverIPURL: '' })
    await discovery.look()
    await discovery.look()
    expect(await isOpen(free)).toBe(true)
    expect(discovery.status().LookupPorts).toEqual([{ Port: 222, At: free }])
    expect(discovery.connectSources()).toEqual([`http://localhost:${free}`])
    expect(discovery.warnings()).toEqual([{ Code: 'lookupPortInUse', Extra: String(taken) }])
    expect(warned).toHaveLength(1)
    expect(warned[0]).toContain('KNOC_LOOKUP_PORTS')
    await giveBack()
    await discovery.look()
    expect(await isOpen(taken)).toBe(true)
    expect(discovery.warnings()).toEqual([])
    expect(discovery.status().LookupPorts).toHaveLength(2)
  })

  describe('answer', () => {
    let port = 0
    let replica: Awaited<ReturnType<typeof aReplica>>
    async function start() {
      ;[port = 0] = await freePorts(1)
      replica = await aReplica({ KNOC_LOOKUP_PORTS: `222=${port}`, KNOC_TRUSTED_PROXIES: '192.0.2.1' })
      await set({ DiscoverIP: true, DiscoverIPURL: '' })
      await replica.discovery.look()
    }

    it('any path with the address in plain text, for the portal’s pages only', async () => {
      await start()
      for (const path of ['/', '/ip?n=x', '/api/status', '/admin', '/assets/index.js']) {
        const answer = await ask(port, path)
        expect(await answer.text()).toBe('127.0.0.1')
        expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
        expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('http://localhost:8080')
        expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull()
        expect(answer.headers.get('Set-Cookie')).toBeNull()
        expect(answer.headers.get('Cache-Control')).toBe('no-store')
      }
    })

    it('nothing else: no other method, no body, no WebSocket, no long header, nobody who dawdles', async () => {
      await start()
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
        expect((await ask(port, '/api/login', { method })).status).toBe(405)
      const head = `GET / HTTP/1.1\r\nHost: x\r\n`
      expect(await say(port, `${head}Content-Length: 5\r\n\r\nhello`)).toMatch(/^HTTP\/1\.1 405 /)
      const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
      const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
      expect(await say(port, `${head}${upgrade}${key}\r\n`)).not.toContain(' 101 ')
      expect(await say(port, `${head}X-Long: ${'x'.repeat(9_000)}\r\n\r\n`)).toMatch(/^(HTTP\/1\.1 431 |$)/)
      const started = performance.now()
      expect(await say(port, `${head}X-Slow: `)).not.toContain(' 200 ')
      expect(performance.now() - started).toBeLessThan(15_000)
    })
  })
})

describe('lookup ports of a portal in https', () => {
  const files = ['one', 'two'].map((name) => {
    const own = join(folder, name)
    mkdirSync(own)
    return aCertificate(own, 'DNS:localhost')
  })
  const used = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  function use(number: number) {
    copyFileSync(files[number]?.certificate ?? '', used.certificate)
    copyFileSync(files[number]?.key ?? '', used.key)
  }
  const env = (port: number) => ({
    KNOC_PUBLIC_URL: 'https://localhost:8080',
    KNOC_LOOKUP_PORTS: `222=${port}`,
    KNOC_TLS_CERT_FILE: used.certificate,
    KNOC_TLS_KEY_FILE: used.key,
    KNOC_TLS_FOR: 'lookup',
  })
  const fingerprint = (port: number) =>
    new Promise<string>((resolve, reject) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().fingerprint256)
        socket.end()
      })
      socket.on('error', reject)
    })
  const lookUp = (port: number, ca: string) =>
    new Promise<string>((resolve, reject) => {
      const options = { port, host: '127.0.0.1', servername: 'localhost', path: '/ip', ca: readFileSync(ca) }
      request(options, (answer) => answer.on('data', (data) => resolve(String(data))))
        .on('error', reject)
        .end()
    })

  it('speak https with the server’s certificate, and with the renewed one without a restart', async () => {
    use(0)
    const [port = 0] = await freePorts(1)
    const { discovery, certificate } = await aReplica(env(port))
    await set({ DiscoverIP: true, DiscoverIPURL: '' })
    await discovery.look()
    expect(discovery.status()).toMatchObject({
      IPApi: 'https://localhost',
      LookupPorts: [{ Port: 222, At: port }],
    })
    expect(await lookUp(port, files[0]?.authority ?? '')).toBe('127.0.0.1')
    const first = await fingerprint(port)
    // Half of a pair, as while it is written, changes nothing.
    writeFileSync(used.certificate, readFileSync(files[1]?.certificate ?? ''))
    await certificate?.look()
    expect(await fingerprint(port)).toBe(first)
    use(1)
    await certificate?.look()
    await expect.poll(() => fingerprint(port)).not.toBe(first)
    expect(await lookUp(port, files[1]?.authority ?? '')).toBe('127.0.0.1')
    expect(await say(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).not.toContain('200')
  })

  it('don’t start without one, and the console says so', async () => {
    const [port = 0] = await freePorts(1)
    const { discovery } = await aReplica({
      KNOC_PUBLIC_URL: 'https://localhost:8080',
      KNOC_LOOKUP_PORTS: `222=${port}`,
    })
    await set({ DiscoverIP: true, DiscoverIPURL: '' })
    await discovery.look()
    await expect(fingerprint(port)).rejects.toThrow()
    expect(discovery.status()).toMatchObject({ IPApi: 'https://localhost', LookupPorts: [] })
    expect(discovery.warnings()).toEqual([{ Code: 'lookupCertificate', Extra: 'https://localhost:8080' }])
  })
})

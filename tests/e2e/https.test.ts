import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aCertificate } from '#tests/support/certificate.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { freePorts } from '#tests/support/free-ports.ts'
import type { TestProcess } from '#tests/support/process.ts'
import { startServerProcess, toDatabaseUrl } from '#tests/support/running-server.ts'
import { until } from '#tests/support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'knoc-https-'))
const files = ['one', 'two'].map((name) => {
  const own = join(folder, name)
  mkdirSync(own)
  return aCertificate(own, 'DNS:localhost')
})
const used = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
const use = (number: number) => {
  copyFileSync(files[number]?.certificate ?? '', used.certificate)
  copyFileSync(files[number]?.key ?? '', used.key)
}

let database: TestDatabase
let server: TestProcess | undefined
beforeAll(async () => {
  database = await testDatabase({ max: 2 })
})
afterAll(async () => {
  await server?.stop()
  await database.drop()
  rmSync(folder, { recursive: true })
})

/** What the server answers to somebody who trusts this authority; an error's text when nothing. */
const ask = (port: number, path: string, authority = '') =>
  new Promise<string>((resolve) => {
    const options = { host: '127.0.0.1', port, path, servername: 'localhost', ca: readFileSync(authority) }
    get(options, (answer) => answer.on('data', (data) => resolve(String(data)))).on('error', (error) =>
      resolve(error.message),
    )
  })

it('serves portal and lookup ports in https, and uses a renewed certificate while it runs', {
  timeout: 90_000,
}, async () => {
  use(0)
  const [port = 0, lookup = 0] = await freePorts(2)
  await database.db.insertInto('settings').values({ name: 'DiscoverIP', value: 'true' }).execute()
  server = await startServerProcess({
    place: (command) => command,
    env: {
      KNOC_DATA_DIR: join(folder, 'data'),
      KNOC_HOST: '127.0.0.1',
      KNOC_PORT: String(port),
      KNOC_PUBLIC_URL: `https://localhost:${port}`,
      KNOC_LOOKUP_PORTS: `222=${lookup},8000=${port}`,
      KNOC_TLS_CERT_FILE: used.certificate,
      KNOC_TLS_KEY_FILE: used.key,
      KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATABASE_URL: toDatabaseUrl(database.connection),
    },
  })
  const [first, second] = files.map(({ authority }) => authority)
  expect(await ask(port, '/health', first)).toContain('ok')
  expect(await ask(lookup, '/ip', first)).toBe('127.0.0.1')
  const { data } = JSON.parse(await ask(port, '/api/system_status', first))
  expect(data).toMatchObject({
    IPApi: 'https://localhost',
    LookupPorts: [
      { Port: 222, At: lookup },
      { Port: 8000, At: port },
    ],
  })
  expect(await ask(port, '/health', second)).not.toContain('ok')
  use(1)
  await until(
    'the renewed certificate is used',
    async () => (await ask(port, '/health', second)).includes('ok'),
    {
      withinMs: 30_000,
    },
  )
  expect(await ask(lookup, '/ip', second)).toBe('127.0.0.1')
})

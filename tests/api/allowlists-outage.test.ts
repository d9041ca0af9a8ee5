import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allowlistRoutes } from '#server/allowlists/allowlist.routes.ts'
import { systemClock } from '#server/platform/clock.ts'
import { createDatabase, type Database } from '#server/platform/database.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { clientAddressOf } from '#server/platform/http/client-address.ts'
import type { HttpEnv } from '#server/platform/http/http-env.ts'
import { requestId } from '#server/platform/http/request-id.ts'
import { createLog } from '#server/platform/log.ts'
import { migrateToLatest } from '#server/platform/migrate.ts'
import { hashToken, newToken } from '#server/platform/random.ts'
import { fetchFrom } from '#tests/support/list-api.ts'

const log = createLog({ logLevel: 'fatal', replica: 'tests' })
const ranges = [{ prefix: '192.0.2.0/24', note: '' }]
const key = newToken()
const [keyed, keyless] = [newToken(), newToken()]
let dataDir: string
let postgres: EmbeddedPostgres
let database: Database
let firewall: ReturnType<typeof fetchFrom>
const paths: Record<string, string> = {}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'knoc-list-'))
  postgres = await startEmbeddedPostgres({ dataDir, log })
  await migrateToLatest(postgres.connection)
  database = createDatabase(postgres.connection, { max: 4, applicationName: 'lists' })
  firewall = firewallAt(database)
  const { id } = await database.db
    .insertInto('apiKeys')
    .values({
      ...{ name: 'key', purpose: 'allowlists', keyHash: hashToken(key) },
      allowedFrom: JSON.stringify(ranges),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  paths['keyed'] = await aList(keyed, { ApiKeyId: id, AllowAccessByIp: false, AllowedIpAddresses: [] })
  paths['keyless'] = await aList(keyless, {
    ...{ ApiKeyId: null, AllowAccessByIp: true, AllowedIpAddresses: ranges },
  })
}, 60_000)
afterAll(async () => {
  await database.close()
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

/** A firewall whose lists come from a server on this database. */
function firewallAt({ db }: Database, clock = systemClock): ReturnType<typeof fetchFrom> {
  const events = { publish: () => undefined, subscribe: () => () => undefined }
  const deps = { db: { grants: db, lists: db, background: db }, events, log, clock }
  const app = new Hono<HttpEnv>()
    .use(requestId())
    .use(clientAddressOf([]))
    .route('/api/v1/allowlists', allowlistRoutes(deps))
  return fetchFrom({ app })
}

/** A list with one address on it, as the database has it. */
async function aList(Token: string, access: Record<string, unknown>): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    with b as (insert into backends (name, type) values ('list', 'allowlist') returning id),
    a as (
      insert into acls (description, backend_id, config) select 'list', id, ${JSON.stringify({ Token, ...access })}::jsonb
      from b returning id, backend_id),
    t as (
      insert into targets (key, backend_id, type, expiry) select 'allowlist:' || id, backend_id, 'allowlist', 'native'
      from a returning id),
    e as (
      insert into entries (target_id, address, desired, until, ordered_until, generation)
      select id, '198.51.100.1', 'open', now() + interval '1 hour', now() + interval '1 hour', nextval('generations') from t),
    k as (update api_keys set scopes = scopes || (select 'allowlists.read:' || id from a)),
    at as (insert into acl_targets (acl_id, family, target_id) select a.id, 4, t.id from a, t)
    select id from a`.execute(database.db)
  return `/api/v1/allowlists/${rows[0]?.id}/${Token}.txt`
}

/** Every way to ask: by key and by address, rightly and wrongly, for what is there and what isn't. */
const questions: [string, (of: typeof firewall) => ReturnType<typeof firewall>][] = [
  ['the right key', (of) => of(paths['keyed'] ?? '', { key })],
  ['a wrong key', (of) => of(paths['keyed'] ?? '', { key: newToken() })],
  ['no key', (of) => of(paths['keyed'] ?? '')],
  ['a permitted address', (of) => of(paths['keyless'] ?? '')],
  ['another address', (of) => of(paths['keyless'] ?? '', { peer: '203.0.113.9' })],
  ['JSON', (of) => of((paths['keyless'] ?? '').replace('.txt', '.json'))],
  ['HEAD', (of) => of(paths['keyless'] ?? '', { method: 'HEAD' })],
  ['an ETag', (of) => of(paths['keyless'] ?? '', { etag: '*' })],
  ['another token', (of) => of((paths['keyless'] ?? '').replace(keyless, newToken()))],
  [
    'another list',
    (of) => of((paths['keyless'] ?? '').replace(/[^/]+(\/[^/]+)$/, `${crypto.randomUUID()}$1`)),
  ],
]
const usual = [200, 401, 401, 200, 403, 200, 200, 304, 404, 404]

const askAll = (of: typeof firewall) =>
  Promise.all(questions.map(async ([name, ask]) => ({ name, ...(await ask(of)) })))

/** 503, nothing in it, and when to come back. */
async function expectNoAnswer(of = firewall): Promise<void> {
  for (const { name, status, text, etag, headers } of await askAll(of)) {
    expect([name, status, text, etag]).toEqual([name, 503, '', null])
    expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
    expect(headers.get('Content-Type')).toBeNull()
    expect(headers.get('WWW-Authenticate')).toBeNull()
  }
}
const expectAsUsual = async () => expect((await askAll(firewall)).map(({ status }) => status)).toEqual(usual)

describe('without its database a list is no answer at all: 503 without a body, by key and by address alike', () => {
  it('while it takes no writes: it may be a replica that is behind', { timeout: 60_000 }, async () => {
    await expectAsUsual()
    const set = (value: string) =>
      sql.raw(`alter database knoc set default_transaction_read_only = ${value}`).execute(database.db)
    await set('on')
    const replica = createDatabase(postgres.connection, { max: 2, applicationName: 'replica' })
    await expectNoAnswer(firewallAt(replica))
    await replica.close()
    await set('off')
  })

  it('while its tables can’t be had', { timeout: 60_000 }, async () => {
    await database.db.transaction().execute(async (tx) => {
      await sql`lock table acls, api_keys in access exclusive mode`.execute(tx)
      const { status, text } = await firewall(paths['keyless'] ?? '')
      expect([status, text]).toEqual([503, ''])
    })
    await expectAsUsual()
  })

  it('while it can’t be noted who reads: what nobody knows to be read isn’t given away', async () => {
    await sql`update entries set applied_generation = 0, applied_desired = null`.execute(database.db)
    await database.db.transaction().execute(async (tx) => {
      await sql`select id from entries for update`.execute(tx)
      const { status, text } = await firewall(paths['keyless'] ?? '')
      expect([status, text]).toEqual([503, ''])
    })
    await expectAsUsual()
  })

  it('while PostgreSQL is stopped, until it is back', { timeout: 90_000 }, async () => {
    await expectAsUsual()
    await postgres.stop()
    await expectNoAnswer()
    postgres = await startEmbeddedPostgres({ dataDir, log })
    await expectAsUsual()
  })
})

it('an address may ask a thousand times at once; then it is told when to come back', async () => {
  const asks = firewallAt(database, { now: () => new Date(0) })
  const statusOf = async (peer: string) => (await asks('/api/v1/allowlists/none/none.txt', { peer })).status
  const first = await Promise.all(Array.from({ length: 1_000 }, () => statusOf('192.0.2.10')))
  expect(new Set(first)).toEqual(new Set([404]))
  const refused = await asks('/api/v1/allowlists/none/none.txt', { peer: '192.0.2.10' })
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1'])
  expect(await statusOf('192.0.2.11')).toBe(404)
})

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDigest } from '#agent/digest.ts'
import { differingBuckets } from '#server/gateway/digest.ts'
import { readBuckets, readDigest } from '#server/gateway/order.query.ts'
import { aKnoc, anAgent } from '#tests/support/builders.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'

let database: TestDatabase
let targetId: string

beforeAll(async () => {
  database = await testDatabase()
  ;({ targetId } = await aKnoc(database.db, { agentId: await anAgent(database.db) }))
  await sql`
    insert into entries (target_id, address, desired, until, ordered_until, generation)
    select ${targetId}, a.address, case when n % 7 = 0 then 'closed' else 'open' end, now(), now(), nextval('generations')
    from generate_series(1, 400) n
    cross join lateral (values (inet '10.9.0.0' + n), (inet '2001:db8::1:0' + n * 65537)) as a (address)`.execute(
    database.db,
  )
})
afterAll(() => database.drop())

const listEntries = async () => {
  const { rows } = await sql<{ address: string; generation: number; desired: 'open' | 'closed' }>`
    select host(address) as address, generation, desired from entries where target_id = ${targetId}`.execute(
    database.db,
  )
  return rows
}

it('is the same in the database and in the agent, for both families', async () => {
  const agents = createDigest()
  for (const entry of await listEntries()) agents.toggle(entry)
  expect(agents.values()).toEqual(await readDigest(database.db, targetId))
})

it('finds just the bucket in which one entry differs, and reads its whole truth', async () => {
  const server = await readDigest(database.db, targetId)
  const agents = createDigest()
  const entries = await listEntries()
  const missing = entries.find(({ desired }) => desired === 'open')
  for (const entry of entries) if (entry !== missing) agents.toggle(entry)
  const differing = differingBuckets(server, agents.values(), server)
  expect(differing).toHaveLength(1)
  const truth = await readBuckets(database.db, targetId, differing)
  expect(truth.entries.map(({ address }) => address)).toContain(missing?.address)
  expect(truth.asOfGeneration).toBeGreaterThanOrEqual(Math.max(...entries.map((entry) => entry.generation)))
})

it('counts a bucket that changed while the agent was asked as no difference', () => {
  expect(differingBuckets(['a', 'b', 'c'], ['x', 'x', 'c'], ['a', 'z', 'c'])).toEqual([0])
})

it('reads an empty bucket as empty, with how far the sequence was', async () => {
  const empty = await aKnoc(database.db, { agentId: await anAgent(database.db) })
  const truth = await readBuckets(database.db, empty.targetId, [0, 1, 255])
  expect(truth.entries).toEqual([])
  expect(truth.asOfGeneration).toBeGreaterThan(0)
})

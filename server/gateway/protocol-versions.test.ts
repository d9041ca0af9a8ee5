import { afterAll, beforeAll, expect, it } from 'vitest'
import { anAgent } from '#tests/support/builders.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { aReplica } from '#tests/support/listing-agents.ts'

let database: TestDatabase
let replica: ReturnType<typeof aReplica>
beforeAll(async () => {
  database = await testDatabase()
  replica = aReplica(database.db)
})
afterAll(async () => {
  await replica.stop()
  await database.drop()
})

it.each([
  { speaks: { min: 1, max: 1 }, with: 1 },
  { speaks: { min: 1, max: 2 }, with: 2 },
  { speaks: { min: 1, max: 3 }, with: 3 },
  { speaks: { min: 2, max: 7 }, with: 3 },
])(
  'speaks version $with with an agent that knows $speaks.min to $speaks.max',
  async ({ speaks, with: version }) => {
    const link = await replica.link(await anAgent(database.db), { protocol: speaks })
    expect(link.frames.find(({ type }) => type === 'welcome')).toMatchObject({ protocol: version })
    expect(link.closed).toEqual([])
  },
)

it('refuses an agent with which it has no version in common', async () => {
  const link = await replica.link(await anAgent(database.db), { protocol: { min: 4, max: 5 }, withinMs: 300 })
  expect(link.closed).toEqual([4426])
})

it('ends the link of an agent that tells a list which it was not asked for', async () => {
  for (const protocol of [
    { min: 1, max: 1 },
    { min: 1, max: 2 },
    { min: 1, max: 3 },
  ]) {
    const link = await replica.link(await anAgent(database.db), { protocol })
    const targetId = crypto.randomUUID()
    link.say({
      type: 'listing',
      request: 1,
      targetId,
      checkedAtMs: 1,
      state: 'listed',
      error: null,
      entries: [],
      last: true,
    })
    expect(link.closed).toEqual([4400])
  }
})

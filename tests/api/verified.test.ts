import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countDoors, listFoundAlarms } from '#server/alarms/alarm.query.ts'
import { sweepOnce } from '#server/entries/sweep.ts'
import { applyResults } from '#server/gateway/result.store.ts'
import { type DiscoveryApi, startDiscoveryApi, statusOf } from '#tests/support/discovery-api.ts'

let api: DiscoveryApi
beforeAll(async () => {
  api = await startDiscoveryApi()
  await sql`update agents set link_epoch = 1, link_replica = 'here'`.execute(api.db)
  await sql`insert into replicas (id, host_name, version) values ('here', 'h', '2.0.0')`.execute(api.db)
})
afterAll(() => api.stop())

type Knoc = { aclId: string; targetId: string }
type Outcome = 'verified' | 'reported' | 'failed'

/** The agent answers what it was ordered of a knoc last. */
async function answers({ targetId }: Knoc, outcome: Outcome, at = new Date()) {
  await sql`update replicas set seen_at = now() + interval '1 minute'`.execute(api.db)
  const orders = await api.db
    .selectFrom('entries')
    .innerJoin('targets', 'targets.id', 'entries.targetId')
    .select(['agentId', 'targetId', 'address', 'generation'])
    .where('targetId', '=', targetId)
    .execute()
  const error = outcome === 'failed' ? { code: 'scriptFailed', text: 'exit code 3' } : null
  return applyResults(
    api.db,
    { agentId: orders[0]?.agentId ?? '', linkEpoch: 1 },
    orders.map(({ address, generation }) => ({
      targetId,
      address,
      generation,
      outcome,
      atMs: at.getTime(),
      error,
    })),
  )
}

async function aGrantedDoor(outcome: Outcome, at = '203.0.113.50') {
  const knoc = await api.aKnoc({ clickToGrant: true })
  const person = await api.aPerson(at, [knoc])
  await person.post('/grant', { ACLID: knoc.aclId })
  await answers(knoc, outcome)
  const entry = async () => (await statusOf(person)).ACLs[0]
  const revoke = () => person.delete(`/sessions/current/granted-acls/${knoc.aclId}`)
  return { knoc, person, entry, revoke }
}

/** The agent looked at the whole list. */
const looks = (
  { targetId }: Knoc,
  at: Date,
  seen: { actual?: number; foreign?: number; error?: string } = {},
) =>
  sql`
    insert into target_reports (target_id, checked_at, desired, actual, "foreign", error)
    values (${targetId}, ${at}, 1, ${seen.actual ?? 1}, ${seen.foreign ?? 0}, ${seen.error ?? null})
    on conflict (target_id) do update set checked_at = excluded.checked_at, actual = excluded.actual,
      "foreign" = excluded."foreign", error = excluded.error`.execute(api.db)

const sweep = () =>
  sweepOnce({
    db: api.db,
    gateway: { nudge: () => undefined },
    events: { publish: () => undefined, subscribe: () => () => undefined },
  } as Parameters<typeof sweepOnce>[0])

describe('an open door', () => {
  it('is verified by what the agent read back, and by each look at the list that misses nothing', async () => {
    const { knoc, entry } = await aGrantedDoor('verified')
    expect(await entry()).toMatchObject({ Status: 0, Verified: 'verified' })
    const first = Date.parse((await entry()).VerifiedAt)
    expect(Math.abs(first - Date.now())).toBeLessThan(10_000)
    const later = new Date(first + 60_000)
    await looks(knoc, later, { actual: 3, foreign: 2 })
    expect(Date.parse((await entry()).VerifiedAt)).toBe(later.getTime())
  })

  it.each([
    ['misses it', { actual: 1, foreign: 1 }],
    ['failed', { error: 'no such set' }],
  ])('grows no younger by a look that %s', async (_, seen) => {
    const { knoc, entry } = await aGrantedDoor('verified')
    const { VerifiedAt } = await entry()
    await looks(knoc, new Date(Date.now() + 60_000), seen)
    expect(await entry()).toMatchObject({ Status: 0, VerifiedAt })
  })

  it('ages while the agent is away', async () => {
    const { knoc, entry } = await aGrantedDoor('verified')
    const { VerifiedAt } = await entry()
    await sql`update replicas set seen_at = now() - interval '1 minute'`.execute(api.db)
    expect(await entry()).toMatchObject({ Status: 0, Verified: 'verified', VerifiedAt })
    await answers(knoc, 'verified')
  })

  it('of a script is reported, not verified, whatever the list’s report says', async () => {
    const { knoc, entry } = await aGrantedDoor('reported')
    const { VerifiedAt } = await entry()
    await looks(knoc, new Date(Date.now() + 60_000))
    expect(await entry()).toMatchObject({ Status: 0, Verified: 'reported', VerifiedAt })
  })
})

describe('a closed door', () => {
  it.each(['verified', 'reported'] as const)('is %s closed only when it was seen', async (outcome) => {
    const { knoc, entry, revoke } = await aGrantedDoor(outcome)
    await revoke()
    expect(await entry()).toMatchObject({ Status: 8, Verified: null })
    await answers(knoc, outcome)
    expect(await entry()).toMatchObject({ Status: 9, Verified: outcome })
  })

  it('is not called closed while somebody else at the address holds it open', async () => {
    const { knoc, entry, revoke } = await aGrantedDoor('verified', '203.0.113.60')
    const neighbour = await api.aPerson('203.0.113.60', [knoc])
    await neighbour.post('/grant', { ACLID: knoc.aclId })
    await answers(knoc, 'verified')
    await revoke()
    expect(await entry()).toMatchObject({ Status: 9, Verified: null })
  })
})

describe('a close that fails', () => {
  it('is never shown as closed, is alarmed, counted and tried again for ever, then verified, each told once', async () => {
    await sql`delete from target_reports`.execute(api.db)
    const { knoc, person, entry, revoke } = await aGrantedDoor('reported')
    await revoke()
    const failing = { Status: 10, Error: 'err.revokeFailed', Verified: null }
    for (let attempts = 1; attempts <= 4; attempts += 1) {
      expect(await answers(knoc, 'failed')).toMatchObject({ settled: [] })
      expect(await entry()).toMatchObject(failing)
      expect(await listFoundAlarms(api.db)).toMatchObject([{ kind: 'closeFailed', count: 1 }])
      expect((await countDoors(api.db)).closeFailed).toBe(1)
      const [waits] = await entriesOf(knoc)
      expect(waits?.attempts).toBe(attempts)
      expect(waits?.seconds).toBeGreaterThan(2 ** (attempts - 1) - 1)
      expect(waits?.seconds).toBeLessThanOrEqual(2 ** (attempts - 1))
      await sql`update entries set retry_at = now() where target_id = ${knoc.targetId}`.execute(api.db)
      await sweep()
      // Ordered anew and on its way, it may still be open.
      expect(await entry()).toMatchObject(failing)
      expect((await countDoors(api.db)).closeFailed).toBe(1)
    }
    await sql`update entries set attempts = 1000 where target_id = ${knoc.targetId}`.execute(api.db)
    await answers(knoc, 'failed')
    expect((await entriesOf(knoc))[0]?.seconds).toBeLessThanOrEqual(60)
    expect((await entriesOf(knoc))[0]?.seconds).toBeGreaterThan(55)
    await sql`update entries set retry_at = now(), wanted_at = now() - interval '90 s'
      where target_id = ${knoc.targetId}`.execute(api.db)
    await sweep()
    const { settled } = await answers(knoc, 'verified')
    // From the first order, not from the last try.
    expect(settled).toEqual([{ act: 'revoke', seconds: expect.closeTo(90, -1) }])
    expect(await entry()).toMatchObject({ Status: 9, Error: null, Verified: 'verified' })
    expect(await listFoundAlarms(api.db)).toEqual([])
    expect((await countDoors(api.db)).closeFailed).toBe(0)
    const events = await sql<{ kind: string }>`
      select kind from audit_events where fields->>'UserName' = ${person.userName} and kind like 'Revoke%'
      order by id`.execute(api.db)
    expect(events.rows.map(({ kind }) => kind)).toEqual(['RevokeGrant', 'RevokeFailed', 'RevokeVerified'])
  })
})

async function entriesOf({ targetId }: Knoc) {
  const { rows } = await sql<{ attempts: number; seconds: number }>`
    select attempts, extract(epoch from retry_at - clock_timestamp())::float8 as seconds
    from entries where target_id = ${targetId}`.execute(api.db)
  return rows
}

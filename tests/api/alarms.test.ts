import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAlarms } from '#server/alarms/alarm.service.ts'
import { readLongestTruthGap } from '#server/alarms/truth-gap.query.ts'
import { createTruthWatch } from '#server/alarms/truth-watch.ts'
import type { QueueHealth } from '#server/platform/queue.ts'
import { aDoor, aList, anAgentRow, closing, inSeconds } from '#tests/support/door-builders.ts'
import { type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { anAdmin, aUser, rightPassword, signedIn, signedInAdmin } from '#tests/support/people-builders.ts'

let api: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
})
afterAll(() => api.stop())
beforeEach(async () => {
  await sql`truncate entries, target_reports, acl_targets, targets, backends, agents, truth_gaps, replicas cascade`.execute(
    api.db,
  )
})

const list = (degraded: QueueHealth['degraded'] = null) =>
  createAlarms({ db: api.db, queueHealth: async () => ({ degraded }) }).list()

describe('an alarm', () => {
  it('is not raised while all is well: open doors, doors just closing, agents moving to another replica', async () => {
    const here = await anAgentRow(api.db, { online: true })
    const set = await aList(api.db, here.id)
    await aDoor(api.db, set)
    await aDoor(api.db, set, closing(-120))
    const moving = await anAgentRow(api.db, { seen: -3 })
    await aDoor(api.db, await aList(api.db, moving.id))
    const idle = await anAgentRow(api.db)
    await aDoor(api.db, await aList(api.db, idle.id), {
      ...closing(),
      appliedGeneration: 11,
      appliedDesired: 'closed',
    })
    expect(await list()).toEqual([])
  })

  it('of a failed close is red, stays while it is tried again, and goes when it is seen closed', async () => {
    const agent = await anAgentRow(api.db, { online: true })
    const door = await aDoor(api.db, await aList(api.db, agent.id), {
      ...closing(-5),
      outcome: 'failed',
      failedGeneration: 11,
      attempts: 1,
    })
    const alarm = {
      Kind: 'closeFailed',
      IsUrgent: true,
      Count: 1,
      Agents: [{ ID: agent.id, Name: agent.name }],
      AgentCount: 1,
    }
    expect(await list()).toMatchObject([alarm])
    const update = (columns: object) =>
      api.db.updateTable('entries').set(columns).where('id', '=', door.id).execute()
    await update({ generation: 12 })
    expect(await list()).toMatchObject([alarm])
    await update({ appliedGeneration: 12, appliedDesired: 'closed', outcome: 'verified', attempts: 0 })
    expect(await list()).toEqual([])
  })

  it('of doors past their end with the agent away is red, unless the kernel has ended every one of them', async () => {
    const away = await anAgentRow(api.db)
    const native = await aList(api.db, away.id)
    await aDoor(api.db, native, { ...closing(-60), heldUntil: inSeconds(-60) })
    expect(await list()).toMatchObject([{ Kind: 'overdue', IsUrgent: false, Count: 1, Ended: 1 }])
    // Revoked: the kernel keeps it to the end that it knows.
    await aDoor(api.db, native, { ...closing(-60), heldUntil: inSeconds(600) })
    expect(await list()).toMatchObject([{ Kind: 'overdue', IsUrgent: true, Count: 2, Ended: 1 }])
    const script = await aList(api.db, away.id, { type: 'script', expiry: 'agent' })
    await aDoor(api.db, script, { ...closing(-60), heldUntil: inSeconds(-60) })
    expect(await list()).toMatchObject([{ Kind: 'overdue', Count: 3, Ended: 1, AgentCount: 1 }])
    await api.db.updateTable('targets').set({ state: 'forgotten' }).execute()
    expect(await list()).toEqual([])
  })

  it('counts what nobody has ended yet, and not what never stood', async () => {
    const away = await anAgentRow(api.db, { seen: -600 })
    const set = await aList(api.db, away.id)
    await aDoor(api.db, set, { until: inSeconds(-7) })
    await aDoor(api.db, set, { ...closing(-60), appliedDesired: null, heldSince: inSeconds(-120) })
    await aDoor(api.db, set, { ...closing(-2) })
    expect(await list()).toMatchObject([{ Kind: 'overdue', Count: 1 }])
    // It may have got the order just before its link broke.
    await aDoor(api.db, set, { ...closing(-60), appliedDesired: null, heldSince: inSeconds(-595) })
    expect(await list()).toMatchObject([{ Kind: 'overdue', Count: 2 }])
  })

  it('names a deleted agent whose doors nobody has seen closed', async () => {
    const gone = await anAgentRow(api.db, { deletedAt: inSeconds(-60) })
    await aDoor(api.db, await aList(api.db, gone.id, { state: 'draining' }), closing())
    expect(await list()).toMatchObject([{ Kind: 'overdue', Agents: [{ ID: gone.id, Name: gone.name }] }])
  })

  it('is raised for conflicts, lost credentials, agents away with open doors and foreign entries, in that order', async () => {
    const clone = await anAgentRow(api.db, { online: true, conflictAt: inSeconds(-60) })
    await anAgentRow(api.db, { online: true, conflictAt: inSeconds(-3_700) })
    const away = await anAgentRow(api.db)
    const set = await aList(api.db, away.id)
    for (let index = 0; index < 3; index += 1) await aDoor(api.db, set)
    await api.db
      .insertInto('backends')
      .values({ name: 'b', agentId: clone.id, type: 'ipset', needsCredentials: true })
      .execute()
    const report = { checkedAt: inSeconds(-5), desired: 1, actual: 3, foreign: 2 }
    const shared = await aList(api.db, clone.id)
    await api.db
      .insertInto('targetReports')
      .values({ targetId: shared, ...report })
      .execute()
    expect(
      (await list('evicting')).map(({ Kind, IsUrgent, Count, Agents, Cause }) => [
        Kind,
        IsUrgent,
        Count,
        Agents.map(({ Name }) => Name).join(),
        Cause,
      ]),
    ).toEqual([
      ['agentConflict', true, 1, clone.name, undefined],
      ['needsCredentials', true, 1, clone.name, undefined],
      ['agentAway', false, 3, away.name, undefined],
      ['foreignEntries', false, 2, clone.name, undefined],
      ['queueDegraded', false, 0, '', 'evicting'],
    ])
    await sql`update agents set conflict_at = null`.execute(api.db)
    await sql`update backends set needs_credentials = false`.execute(api.db)
    await sql`update entries set desired = 'closed', applied_generation = generation`.execute(api.db)
    await sql`update target_reports set "foreign" = 0`.execute(api.db)
    expect(await list()).toEqual([])
  })

  it('names three agents at most, those with the most doors first', async () => {
    for (const [name, doors] of [
      ['one', 1],
      ['four', 4],
      ['two', 2],
      ['three', 3],
    ] as const) {
      const { id } = await anAgentRow(api.db, { name })
      const set = await aList(api.db, id)
      for (let index = 0; index < doors; index += 1)
        await aDoor(api.db, set, { address: `198.51.100.${index}` })
    }
    const [alarm] = await list()
    expect(alarm).toMatchObject({ Kind: 'agentAway', Count: 10, AgentCount: 4 })
    expect(alarm?.Agents.map(({ Name }) => Name)).toEqual(['four', 'three', 'two'])
  })

  it('is asked of the database once for all who look within half a second, and again after a failure', async () => {
    let now = 0
    let isDown = false
    let asked = 0
    const alarms = createAlarms({
      db: api.db,
      now: () => now,
      queueHealth: async () => {
        asked += 1
        if (isDown) throw new Error('away')
        return { degraded: null }
      },
    })
    const agent = await anAgentRow(api.db, { conflictAt: inSeconds(0) })
    expect(await Promise.all([alarms.list(), alarms.list()])).toMatchObject([[{ Count: 1 }], [{ Count: 1 }]])
    await api.db.updateTable('agents').set({ conflictAt: null }).where('id', '=', agent.id).execute()
    now = 499
    expect(await alarms.list()).toHaveLength(1)
    now = 500
    expect(await alarms.list()).toEqual([])
    expect(asked).toBe(1)
    now = 20_000
    isDown = true
    await expect(alarms.list()).rejects.toThrow('away')
    isDown = false
    expect(await alarms.list()).toEqual([])
  })

  it('is told to administrators who are signed in, and to nobody else', async () => {
    const agent = await anAgentRow(api.db, { conflictAt: inSeconds(0) })
    const boss = await signedInAdmin(api)
    await expect
      .poll(async () => (await boss.get('/admin/status')).body.data.Alarms, { timeout: 5_000 })
      .toEqual([
        expect.objectContaining({ Kind: 'agentConflict', Agents: [{ ID: agent.id, Name: agent.name }] }),
      ])
    const half = api.browser()
    const { userName } = await anAdmin(api, { totpEnabled: true })
    await half.post('/admin/login', { UserName: userName, Password: rightPassword })
    expect((await half.get('/admin/status')).body.data).not.toHaveProperty('Alarms')
    const user = await signedIn(api, await aUser(api))
    expect((await user.get('/admin/status')).status).toBe(401)
    expect((await user.get('/status')).body.data ?? {}).not.toHaveProperty('Alarms')
  })
})

describe('the longest silence of the server', () => {
  const watch = (now: () => number) => createTruthWatch({ db: api.db, replica: 'r1' }, now)
  const longest = () => readLongestTruthGap(api.db)

  it('is the longest time between two good looks at the database', async () => {
    let now = 0
    const truth = watch(() => now)
    await truth.begin()
    for (const at of [1_000, 2_100, 4_900]) {
      now = at
      await truth.saw()
    }
    expect(await longest()).toBeUndefined()
    for (const at of [44_900, 50_000]) {
      now = at
      await truth.saw()
    }
    expect(await longest()).toMatchObject({ seconds: 40 })
    const boss = await signedInAdmin(api)
    expect((await boss.get('/admin/status')).body.data.LongestSilence).toBe(40)
  })

  it('counts the time in which no replica was there, but not a server that was switched off', async () => {
    await sql`insert into replicas (id, host_name, version, seen_at)
      values ('old', 'h', '2.0.0', now() - interval '90 seconds')`.execute(api.db)
    await watch(() => 0).begin()
    const found = (await longest())?.seconds
    expect(found).toBeGreaterThanOrEqual(90)
    expect(found).toBeLessThan(120)
    await sql`truncate truth_gaps`.execute(api.db)
    await sql`update replicas set seen_at = now() - interval '2 hours'`.execute(api.db)
    await watch(() => 0).begin()
    await sql`update replicas set seen_at = now()`.execute(api.db)
    await watch(() => 0).begin()
    expect(await longest()).toBeUndefined()
  })

  it('is forgotten after a year', async () => {
    await sql`insert into truth_gaps (day, seconds, ended_at, replica)
      values (current_date - 366, 900, now() - interval '366 days', 'r1')`.execute(api.db)
    let now = 0
    const truth = watch(() => now)
    await truth.begin()
    now = 30_000
    await truth.saw()
    expect(await longest()).toMatchObject({ seconds: 30 })
  })
})

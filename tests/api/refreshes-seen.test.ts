import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAlarms } from '#server/alarms/alarm.service.ts'
import { listAclStatuses } from '#server/grants/acl-status.query.ts'
import { toAclStatus } from '#server/grants/acl-status.ts'
import { createMetrics } from '#server/metrics/metrics.ts'
import { aLicence, anAgent } from '#tests/support/builders.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'
import { fetchFrom } from '#tests/support/list-api.ts'
import { type PassivePlusApi, startPassivePlusApi } from '#tests/support/passive-plus.ts'
import { anAgentOn, aReplicaOf, aToldList, findRefresh } from '#tests/support/told-lists.ts'
import { until } from '#tests/support/until.ts'

/** What people see of firewalls that are told, or can't be, that their list changed. */

describe('a firewall that can’t be told', () => {
  let database: TestDatabase
  let db: TestDatabase['db']
  let agentId: string
  let error: { code: string; text: string } | undefined
  beforeAll(async () => {
    database = await testDatabase()
    db = database.db
    await aLicence(db)
  })
  beforeEach(async () => {
    agentId = await anAgent(db)
    error = { code: 'auth', text: 'Invalid Credential' }
  })
  afterAll(() => database.drop())

  /** A list with somebody on it, an agent that answers by `error`, and whom a change was told. */
  async function aFailingList() {
    const list = await aToldList(db, { agentId })
    const told: string[] = []
    const gateway = aReplicaOf(db, { events: { publish: (ids) => void told.push(...ids) } })
    const door = await list.opened()
    const agent = await anAgentOn(gateway, agentId, {
      onRefresh: (_, answer) => setImmediate(() => answer(error)),
    })
    await expect.poll(async () => (await list.row())?.errorCode).toBe('auth')
    const status = async () => {
      const [row] = await listAclStatuses(db, door.session.id, list.aclId)
      if (row === undefined) throw new Error('the knoc is not in the status')
      const { Status, Error: text } = toAclStatus(row)
      return [Status, text]
    }
    const mayTryAgain = () =>
      sql`update list_refreshes set retry_at = now() where target_id = ${list.targetId}`.execute(db)
    return { list, gateway, agent, door, told, status, mayTryAgain }
  }

  it('is the text of an entry at 6, which goes when it is told at last; sessions hear of both', async () => {
    const { list, gateway, door, told, status, mayTryAgain } = await aFailingList()
    expect(await status()).toEqual([6, 'err.listRefreshFailed'])
    await expect.poll(() => told).toEqual([door.session.id])
    error = undefined
    await mayTryAgain()
    await gateway.run('table')
    await expect.poll(async () => (await list.row())?.errorCode).toBeNull()
    expect(await status()).toEqual([6, null])
    await expect.poll(() => told).toEqual([door.session.id, door.session.id])
  })

  it('is no text once the list is read all the same: 5; and is one again at 8, until it is read without: 9', async () => {
    const { list, gateway, door, status } = await aFailingList()
    expect(await list.read()).toEqual([door.address])
    expect(await status()).toEqual([5, null])
    gateway.nudge(await door.close())
    expect(await status()).toEqual([8, 'err.listRefreshFailed'])
    expect(await list.read()).toEqual([])
    expect(await status()).toEqual([9, null])
  })

  it('is no text of another list', async () => {
    await aFailingList()
    const other = await aToldList(db, { agentId: await anAgent(db) })
    const { session } = await other.opened()
    const [row] = await listAclStatuses(db, session.id, other.aclId)
    expect(row && toAclStatus(row)).toMatchObject({ Status: 6, Error: null })
  })

  it('is an alarm after three minutes, red while something that was taken off may stand there, and is counted at once', async () => {
    await sql`truncate list_refreshes`.execute(db)
    const { list, door, mayTryAgain, gateway } = await aFailingList()
    const alarms = async () => {
      const found = await createAlarms({ db, queueHealth: async () => ({ degraded: null }) }).list()
      return found
        .filter(({ Kind }) => Kind === 'refreshFailed')
        .map(({ IsUrgent, Count, Agents }) => [IsUrgent, Count, Agents.map(({ ID }) => ID)])
    }
    const metric = async () =>
      /^knoc_list_refresh_failed (\d+)$/m.exec(
        await createMetrics({ db, sources: { repairs: () => 0, failedNudges: () => 0 } }).text(),
      )?.[1]
    const failSince = (seconds: number) =>
      sql`update list_refreshes set failing_since = now() - make_interval(secs => ${seconds})`.execute(db)
    await list.read()
    expect([await alarms(), await metric()]).toEqual([[], '1'])
    await failSince(179)
    expect(await alarms()).toEqual([])
    await failSince(181)
    expect(await alarms()).toEqual([[false, 1, [agentId]]])
    await door.close()
    expect(await alarms()).toEqual([[true, 1, [agentId]]])
    await list.read()
    expect(await alarms()).toEqual([[false, 1, [agentId]]])
    error = undefined
    await mayTryAgain()
    await gateway.run('table')
    await expect.poll(async () => (await list.row())?.errorCode).toBeNull()
    expect([await alarms(), await metric()]).toEqual([[], '0'])
    // Nobody to tell it is the same as telling it in vain.
    await list.opened()
    expect(await alarms()).toEqual([])
    await sql`update entries set ordered_at = now() - interval '181 seconds' where target_id = ${list.listId}`.execute(
      db,
    )
    expect(await alarms()).toEqual([[false, 1, [agentId]]])
    await db.updateTable('agents').set({ deletedAt: new Date() }).where('id', '=', agentId).execute()
    expect(await alarms()).toEqual([])
  })
})

describe('a Passive+ knoc that is deleted', () => {
  let api: PassivePlusApi
  beforeAll(async () => {
    api = await startPassivePlusApi()
  })
  afterAll(() => api.stop())

  it('is gone when its firewall was told that the list is empty, and read it so', async () => {
    const user = await api.aPerson(api.anAddress())
    const made = await api.console.post('/admin/knocs', api.aBody({ UserIDs: [user.id] }))
    const { ID: aclId, ChildID: childId, URL: url, PlaintextKey: key } = made.body.data
    const path = new URL(url).pathname
    const [child] = await api.targetsOf(childId)
    const targetId = child?.id ?? ''
    const fetchList = fetchFrom(api)
    const gateway = aReplicaOf(api.db)
    let mayAnswer = true
    const agent = await anAgentOn(gateway, api.agent.id, {
      onRefresh: (_, answer) => mayAnswer && setImmediate(answer),
    })
    await until('told at first', async () => (await findRefresh(api.db, targetId))?.refreshedAt != null)
    await user.post('/grant', { ACLID: aclId, IPs: [] })
    await until('told of the grant', async () => {
      await gateway.run('table')
      return agent.refreshes().length === 2
    })
    expect((await fetchList(path, { key })).text).not.toBe('')
    mayAnswer = false
    expect((await api.console.delete(`/admin/knocs/${aclId}`)).status).toBe(200)
    const stateOf = async () =>
      api.db
        .selectFrom('targets')
        .select(['state', 'drainedAt'])
        .where('id', '=', targetId)
        .executeTakeFirst()
    await until('told of the end', async () => {
      await gateway.run('table')
      return agent.refreshes().length === 3
    })
    await gateway.run('digests')
    expect(await stateOf()).toEqual({ state: 'draining', drainedAt: null })
    const [last] = agent.refreshes().slice(-1)
    if (last === undefined) throw new Error('nothing was told')
    agent.answer(last)
    await until('answered', async () => (await findRefresh(api.db, targetId))?.generation === last.generation)
    expect((await fetchList(path, { key })).text).toBe('')
    await gateway.run('digests')
    expect((await stateOf())?.drainedAt).not.toBeNull()
    const { rows } = await sql<{ debts: number }>`
      select count(*) as debts from entries e join targets t on t.id = e.target_id
      where t.key = ${`allowlist:${aclId}`} and e.applied_generation < e.generation`.execute(api.db)
    expect(rows).toEqual([{ debts: 0 }])
    await gateway.run('table')
    expect(agent.refreshes()).toHaveLength(3)
  })
})

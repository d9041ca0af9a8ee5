import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DriftReport } from '#machines/protocol.ts'
import { saveDrift, saveTargetReports } from '#server/gateway/report.store.ts'
import { aKnoc } from '#tests/support/builders.ts'
import { able, anEnrolledAgent, type ConsoleApi, startConsoleApi } from '#tests/support/console-api.ts'
import { type DiscoveryApi, startDiscoveryApi } from '#tests/support/discovery-api.ts'
import { aDoor, aList, anAgentRow, closing, inSeconds } from '#tests/support/door-builders.ts'
import { anAdmin, rightPassword } from '#tests/support/people-builders.ts'

let api: ConsoleApi
beforeAll(async () => {
  api = await startConsoleApi()
})
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
const listsOf = async (id: string) => (await api.get(`/admin/agents/${id}/lists`)).body.data
const debtsOf = async (id: string, query = '') => (await api.get(`/admin/agents/${id}/debts${query}`)).body

describe('the lists of an agent', () => {
  it('say who uses them, what should stand there, what does, and whether a revoke cuts', async () => {
    const set = { address_family: 'inet' as const, timeouts: true, references: 1 }
    const agent = await anEnrolledAgent(api, {
      capabilities: {
        ...able,
        ipset: {
          ...able.ipset,
          ipsets: [{ name: 'ssh', ...set, cut: 'rules' } as never, { name: 'db', ...set }],
        },
      },
    })
    const knoc = await aKnoc(api.db, { agentId: agent.id, set4: 'ssh', description: 'Server room' })
    await aKnoc(api.db, { agentId: agent.id, set4: 'ssh', description: 'archive' })
    await aDoor(api.db, knoc.targetId)
    await aDoor(api.db, knoc.targetId, closing())
    const untouched = await aList(api.db, agent.id, {
      key: `ipset:${agent.id}:db`,
      family: 4,
      listConfig: JSON.stringify({ SetName: 'db' }),
    })
    await saveTargetReports(api.db, agent.id, [
      {
        targetId: knoc.targetId,
        checkedAtMs: Date.now() - 5_000,
        desired: 1,
        actual: 3,
        foreign: 2,
        error: null,
      },
    ])
    const { Agent, Lists } = await listsOf(agent.id)
    expect(Agent).toMatchObject({
      ID: agent.id,
      Online: false,
      Deleted: false,
      Conflict: false,
      Version: '2.0.0',
    })
    expect(Lists).toMatchObject([
      { ID: untouched, Name: 'db', Knocs: [], Open: 0, Look: null, Debts: 0, Cut: null, Draining: false },
      {
        ID: knoc.targetId,
        Type: 'ipset',
        Name: 'ssh',
        Family: 4,
        EndsByItself: true,
        Knocs: [{ Name: 'archive' }, { ID: knoc.aclId, Name: 'Server room' }],
        Open: 1,
        Look: { Desired: 1, Actual: 3, Foreign: 2, Error: null },
        Debts: 1,
        Cut: 'rules',
      },
    ])
    expect(Date.now() - Date.parse(Lists[1].Look.CheckedAt)).toBeGreaterThan(4_000)
  })

  it('leave out what is done with, and keep what a deleted agent owes', async () => {
    const agent = await anAgentRow(api.db, { deletedAt: inSeconds(-60) })
    await aList(api.db, agent.id, { state: 'forgotten' })
    await aList(api.db, agent.id, { state: 'draining', drainedAt: inSeconds(-60) })
    const draining = await aList(api.db, agent.id, { state: 'draining' })
    await aDoor(api.db, draining, closing())
    const { Agent, Lists } = await listsOf(agent.id)
    expect(Agent).toMatchObject({ Deleted: true, Online: false })
    expect(Lists).toMatchObject([{ ID: draining, Draining: true, Debts: 1 }])
    expect((await debtsOf(agent.id)).data).toHaveLength(1)
  })

  it('tell the newest 20 findings of this agent', async () => {
    const [agent, other] = [await anAgentRow(api.db), await anAgentRow(api.db)]
    const set = await aList(api.db, agent.id, { key: `ipset:${agent.id}:web` })
    const drift = {
      targetId: set,
      kind: 'missing' as const,
      sample: ['203.0.113.1'],
      repaired: true,
    } satisfies Omit<DriftReport, 'count'>
    for (let count = 1; count <= 22; count += 1) await saveDrift(api.db, agent.id, [{ ...drift, count }])
    await saveDrift(api.db, other.id, [{ ...drift, targetId: await aList(api.db, other.id), count: 99 }])
    const { Drift } = await listsOf(agent.id)
    expect(Drift).toHaveLength(20)
    expect(Drift[0]).toMatchObject({
      ListName: 'web',
      Kind: 'missing',
      Count: 22,
      Sample: ['203.0.113.1'],
      Repaired: true,
    })
    expect(Drift[19]).toMatchObject({ Count: 3 })
  })

  it('are not found without such an agent', async () => {
    for (const path of ['lists', 'debts']) {
      expect((await api.get(`/admin/agents/${unknownId}/${path}`)).status).toBe(404)
      expect((await api.get(`/admin/agents/x/${path}`)).status).toBe(422)
    }
  })
})

describe('the debts of an agent', () => {
  it('are the doors ordered closed and not seen closed, the oldest first, by page', async () => {
    const agent = await anAgentRow(api.db)
    const set = await aList(api.db, agent.id, { key: `ipset:${agent.id}:ssh` })
    const script = await aList(api.db, agent.id, {
      key: `script:${agent.id}:door:lab`,
      type: 'script',
      expiry: 'agent',
    })
    await aDoor(api.db, set)
    await aDoor(api.db, set, { ...closing(), appliedGeneration: 11, appliedDesired: 'closed' })
    await aDoor(api.db, set, {
      ...closing(-30),
      address: '198.51.100.1',
      userName: 'ada',
      heldUntil: inSeconds(60),
    })
    await aDoor(api.db, script, {
      ...closing(-90),
      address: '198.51.100.2',
      attempts: 3,
      errorText: 'exit code 3',
      retryAt: inSeconds(8),
    })
    const { data, total } = await debtsOf(agent.id, '?limit=10')
    expect(total).toBe(2)
    expect(data).toMatchObject([
      {
        Address: '198.51.100.2',
        ListName: 'door:lab',
        Attempts: 3,
        LastError: 'exit code 3',
        EndsByItselfAt: null,
      },
      {
        Address: '198.51.100.1',
        ListName: 'ssh',
        UserName: 'ada',
        Attempts: 0,
        LastError: null,
        NextTry: null,
      },
    ])
    expect(Date.now() - Date.parse(data[0].Since)).toBeGreaterThan(85_000)
    expect(Date.parse(data[0].NextTry) - Date.now()).toBeGreaterThan(4_000)
    expect(Date.parse(data[1].EndsByItselfAt) - Date.now()).toBeGreaterThan(60_000)
    const addresses = async (query: string) =>
      (await debtsOf(agent.id, query)).data.map(({ Address }: { Address: string }) => Address)
    expect(await addresses('?limit=1&offset=1')).toEqual(['198.51.100.1'])
    expect(await addresses('?search=ADA')).toEqual(['198.51.100.1'])
    expect(await addresses('?search=door')).toEqual(['198.51.100.2'])
    expect(await addresses('?sort=-Attempts')).toEqual(['198.51.100.2', '198.51.100.1'])
    expect((await api.get(`/admin/agents/${agent.id}/debts?sort=Error`)).status).toBe(422)
  })
})

describe('forgetting a list', () => {
  const forget = (id: string, list: string, body: unknown) =>
    api.post(`/admin/agents/${id}/lists/${list}/forget`, body)

  it('gives its doors up with a reason that is written down, once', async () => {
    const agent = await anAgentRow(api.db)
    const list = await aList(api.db, agent.id, { state: 'draining' })
    await aDoor(api.db, list, closing())
    await aDoor(api.db, list, { ...closing(), attempts: 2, failedGeneration: 11 })
    expect(await forget(agent.id, list, { Reason: ' the host was scrapped ' })).toMatchObject({
      status: 200,
      body: { data: null },
    })
    expect((await listsOf(agent.id)).Lists).toEqual([])
    expect((await debtsOf(agent.id)).data).toEqual([])
    const { rows } = await sql`select kind, fields, detail->'doors' as doors from audit_events
      where kind = 'TargetForgotten'`.execute(api.db)
    expect(rows).toEqual([
      {
        kind: 'TargetForgotten',
        fields: { AdminName: 'root', AgentName: agent.name, Description: 'the host was scrapped' },
        doors: 2,
      },
    ])
    expect((await forget(agent.id, list, { Reason: 'again' })).status).toBe(404)
  })

  it('is refused for a list in use or of another agent, and without a reason', async () => {
    const [agent, other] = [await anAgentRow(api.db), await anAgentRow(api.db)]
    const [used, draining] = [
      await aList(api.db, agent.id),
      await aList(api.db, agent.id, { state: 'draining' }),
    ]
    const door = await aDoor(api.db, draining, closing())
    expect(await forget(agent.id, used, { Reason: 'x' })).toMatchObject({
      status: 409,
      body: { Err: 'err.listInUse' },
    })
    expect((await forget(other.id, draining, { Reason: 'x' })).status).toBe(404)
    expect(await forget(agent.id, draining, { Reason: '  ' })).toMatchObject({
      status: 422,
      body: { Extra: 'Reason' },
    })
    expect((await forget(agent.id, draining, { Reason: 'x'.repeat(501) })).status).toBe(422)
    expect((await forget(agent.id, draining, {})).status).toBe(400)
    expect((await debtsOf(agent.id)).data).toMatchObject([{ ID: door.id }])
  })
})

describe('who may see an agent’s lists', () => {
  let whole: DiscoveryApi
  beforeAll(async () => {
    whole = await startDiscoveryApi()
  })
  afterAll(() => whole.stop())

  it('is an administrator with a whole session', async () => {
    const agent = await anAgentRow(whole.db)
    const list = await aList(whole.db, agent.id, { state: 'draining' })
    const [user, half, boss] = [await whole.aPerson('203.0.113.7'), whole.browser('x'), whole.browser('y')]
    for (const [browser, columns] of [
      [half, { totpEnabled: true }],
      [boss, {}],
    ] as const) {
      const { userName } = await anAdmin(whole.people, columns)
      await browser.post('/admin/login', { UserName: userName, Password: rightPassword })
    }
    const path = `/admin/agents/${agent.id}`
    const ask = async (browser: Pick<typeof boss, 'get' | 'post'>) => [
      (await browser.get(`${path}/lists`)).status,
      (await browser.get(`${path}/debts`)).status,
      (await browser.post(`${path}/lists/${list}/forget`, { Reason: 'gone' })).status,
    ]
    expect(await ask(whole.browser('z'))).toEqual([401, 401, 401])
    expect(await ask(user)).toEqual([401, 401, 401])
    expect(await ask(half)).toEqual([403, 403, 403])
    expect(await ask(boss)).toEqual([200, 200, 200])
  })
})

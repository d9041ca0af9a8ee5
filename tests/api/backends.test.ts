import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aSession, aUser, entitle } from '#tests/support/builders.ts'
import {
  able,
  anEnrolledAgent,
  aRegisteredAgent,
  type ConsoleApi,
  startConsoleApi,
} from '#tests/support/console-api.ts'

let api: ConsoleApi
beforeAll(async () => {
  api = await startConsoleApi()
  await api.license()
})
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
const none = '00000000-0000-0000-0000-000000000000'
const find = async (id: string) =>
  (await api.get('/admin/backends')).body.data.find((backend: { ID: string }) => backend.ID === id)

/** A backend and one ACL on it for each of the settings. */
async function aBackend(
  config: Record<string, unknown>,
  agentId: string,
  lists: Record<string, unknown>[] = [],
) {
  const [type = ''] = Object.keys(config)
  const made = await api.post('/admin/backends', { Name: `b-${type}`, AgentID: agentId, Config: config })
  expect(made.status).toBe(201)
  const aclIds: string[] = []
  for (const list of lists) {
    const acl = await api.post('/admin/acls', {
      Description: `acl ${JSON.stringify(list)}`,
      BackendID: made.body.data.ID,
      Config: { [type]: list },
    })
    expect(acl.status).toBe(201)
    aclIds.push(acl.body.data.ID)
  }
  return { id: made.body.data.ID as string, aclIds }
}

async function targetsOf(aclId: string) {
  const { rows } = await sql<{
    family: number
    id: string
    key: string
    state: string
    sealed: Record<string, string>
  }>`
    select a.family, t.id, t.key, t.state, t.sealed from acl_targets a join targets t on t.id = a.target_id
    where a.acl_id = ${aclId} order by a.family`.execute(api.db)
  return rows
}

const stateOf = async (targetId: string) =>
  (await api.db.selectFrom('targets').select('state').where('id', '=', targetId).executeTakeFirst())?.state

/** Somebody who goes through an ACL's door from an address now. */
async function anOpenDoor(aclId: string, address: string) {
  const userId = await aUser(api.db)
  await entitle(api.db, userId, aclId)
  const session = await aSession(api.db, { userId, address })
  await sql`
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    values (${session.id}, ${userId}, ${aclId}, ${address}::inet, ${address}::inet, 'own', 'click', now() + interval '1 hour')`.execute(
    api.db,
  )
  await api.deps.rights.change({ acls: [aclId] }, 'knocChanged', async () => undefined)
}

const entriesOf = async (targetId: string) => {
  const { rows } = await sql<{ address: string; desired: string }>`
    select host(address) as address, desired from entries where target_id = ${targetId} order by address`.execute(
    api.db,
  )
  return rows
}

describe('making a backend', () => {
  it('needs a licence, then an agent', async () => {
    const body = { Name: 'b', AgentID: unknownId, Config: { ipset: {} } }
    const empty = await startConsoleApi()
    expect(await empty.post('/admin/backends', body)).toMatchObject({
      status: 403,
      body: { Err: 'err.unlicensed' },
    })
    await empty.license()
    expect(await empty.post('/admin/backends', body)).toMatchObject({
      status: 409,
      body: { Err: 'err.createAgentBeforeBackend' },
    })
    await empty.stop()
  })

  it.each<[string, unknown, number, string]>([
    ['no type', { Config: {} }, 422, 'err.noBackendSelected'],
    ['two types', { Config: { ipset: {}, script: {} } }, 422, 'err.noBackendSelected'],
    ['an unknown type', { Config: { toaster: {} } }, 422, 'err.noBackendSelected'],
    ['a type that is only inherited', { Config: { constructor: {} } }, 422, 'err.noBackendSelected'],
    ['no agent', { AgentID: null, Config: { ipset: {} } }, 422, 'err.agentIdInvalid'],
    ['the agent that means none', { AgentID: none, Config: { ipset: {} } }, 422, 'err.agentIdInvalid'],
    ['an unknown agent', { AgentID: unknownId, Config: { ipset: {} } }, 422, 'err.agentIdInvalid'],
    ['settings its type doesn’t have', { Config: { ipset: { Set: 'x' } } }, 400, 'err.badRequest'],
    ['settings that are none', { Config: { ipset: 7 } }, 400, 'err.badRequest'],
    ['an empty command', { Config: { script: { Command: '' } } }, 422, 'err.invalidField'],
    [
      'a variable twice',
      { Config: { script: { Command: 'c', EnvVars: [{ Name: 'A' }, { Name: 'A' }] } } },
      422,
      'err.repeatedEnvVarNames',
    ],
    [
      'a reserved variable',
      { Config: { script: { Command: 'c', EnvVars: [{ Name: 'LD_PRELOAD' }] } } },
      422,
      'err.invalidEnvVarName',
    ],
  ])('refuses %s', async (_, facts, status, Err) => {
    const agent = await anEnrolledAgent(api)
    const body = { Name: 'refused', AgentID: agent.id, ...(facts as object) }
    expect(await api.post('/admin/backends', body)).toMatchObject({ status, body: { Err } })
    expect((await api.get('/admin/backends?search=refused')).body.data).toEqual([])
  })

  it.each([
    ['no ipset command', { ...able.ipset, command_available: false }, 'err.ipsetNoCommand'],
    ['no means to change sets', { ...able.ipset, sudo_enabled: false }, 'err.ipsetNoSudo'],
  ])('refuses an agent with %s', async (_, ipset, Err) => {
    const agent = await anEnrolledAgent(api, { capabilities: { ...able, ipset } })
    const body = { Name: 'b', AgentID: agent.id, Config: { ipset: {} } }
    expect(await api.post('/admin/backends', body)).toMatchObject({ status: 422, body: { Err } })
  })

  it('refuses scripts where the host allows none, and takes an agent that was never connected', async () => {
    const agent = await anEnrolledAgent(api, {
      capabilities: { ...able, script: { enabled: false, commands: [] } },
    })
    const script = { Name: 'b', Config: { script: { Command: 'c' } } }
    expect(await api.post('/admin/backends', { ...script, AgentID: agent.id })).toMatchObject({
      status: 422,
      body: { Err: 'err.agentIncapable' },
    })
    const { id } = await aRegisteredAgent(api)
    expect((await api.post('/admin/backends', { ...script, AgentID: id })).status).toBe(201)
  })
})

describe('changing a backend', () => {
  it('can’t change its type, and is told apart by id', async () => {
    const agent = await anEnrolledAgent(api)
    const { id } = await aBackend({ ipset: {} }, agent.id)
    expect(await api.put(`/admin/backends/${id}`, { Config: { script: { Command: 'c' } } })).toMatchObject({
      status: 409,
      body: { Err: 'err.backendTypeFixed' },
    })
    expect(await api.put(`/admin/backends/${id}`, { ID: unknownId, Name: 'x' })).toMatchObject({
      status: 400,
    })
    expect((await api.put(`/admin/backends/${unknownId}`, { Name: 'x' })).status).toBe(404)
    expect((await api.put(`/admin/backends/${id}`, { Name: 'New name' })).status).toBe(200)
    expect(await find(id)).toMatchObject({ Name: 'New name', Type: 'ipset', AgentID: agent.id })
  })

  it('moves open doors to the new agent: opened there, closed on the old one', async () => {
    const [from, to] = [await anEnrolledAgent(api), await anEnrolledAgent(api)]
    const { id, aclIds } = await aBackend({ ipset: {} }, from.id, [
      { V4SetName: 'moved' },
      { V4SetName: 'moved' },
    ])
    const [aclId = '', sibling = ''] = aclIds
    const [before] = await targetsOf(aclId)
    expect(await targetsOf(sibling)).toEqual([before])
    await anOpenDoor(aclId, '203.0.113.5')
    expect(await entriesOf(before?.id ?? '')).toEqual([{ address: '203.0.113.5', desired: 'open' }])
    expect((await api.put(`/admin/backends/${id}`, { AgentID: to.id })).status).toBe(200)
    const [after] = await targetsOf(aclId)
    expect(after).toMatchObject({ key: `ipset:${to.id}:moved`, state: 'active' })
    expect(await targetsOf(sibling)).toEqual([after])
    expect(await stateOf(before?.id ?? '')).toBe('draining')
    expect(await entriesOf(before?.id ?? '')).toEqual([{ address: '203.0.113.5', desired: 'closed' }])
    expect(await entriesOf(after?.id ?? '')).toEqual([{ address: '203.0.113.5', desired: 'open' }])
    const [owing] = (await api.get('/admin/agents')).body.data.filter(
      (agent: { ID: string }) => agent.ID === from.id,
    )
    expect(owing).toMatchObject({ Debts: 1, Backends: [] })
    expect(api.orders.map(({ agentId, desired }) => [agentId, desired])).toEqual(
      expect.arrayContaining([
        [from.id, 'closed'],
        [to.id, 'open'],
      ]),
    )
  })

  it('changes nothing when the move is refused', async () => {
    const [from, to] = [
      await anEnrolledAgent(api),
      await anEnrolledAgent(api, {
        capabilities: { ...able, ipset: { ...able.ipset, command_available: false } },
      }),
    ]
    const { id, aclIds } = await aBackend({ ipset: {} }, from.id, [{ V4SetName: 'stays' }])
    const before = await targetsOf(aclIds[0] ?? '')
    expect(await api.put(`/admin/backends/${id}`, { AgentID: to.id })).toMatchObject({ status: 422 })
    expect(await targetsOf(aclIds[0] ?? '')).toEqual(before)
    expect(await find(id)).toMatchObject({ AgentID: from.id })
  })

  it('seals what becomes sensitive, and asks anew for what no longer is', async () => {
    const agent = await anEnrolledAgent(api)
    const script = (Sensitive: boolean) => ({
      script: { Command: 'c', EnvVars: [{ Name: 'KEY', Sensitive }] },
    })
    const { id, aclIds } = await aBackend(script(false), agent.id, [
      { Name: 'flip', EnvVars: { KEY: { Value: 'plain' } } },
    ])
    const [aclId = ''] = aclIds
    const acl = async () =>
      (await api.get('/admin/acls')).body.data.find((row: { ID: string }) => row.ID === aclId).Config.script
        .EnvVars
    expect(await acl()).toEqual({ KEY: { Value: 'plain', Encrypted: false } })
    expect((await api.put(`/admin/backends/${id}`, { Config: script(true) })).status).toBe(200)
    expect(await acl()).toEqual({ KEY: { Value: '', Encrypted: true } })
    expect((await targetsOf(aclId))[0]?.sealed).toHaveProperty(['list.EnvVars.KEY'])
    expect(await api.put(`/admin/backends/${id}`, { Config: script(false) })).toMatchObject({
      status: 409,
      body: { Err: 'err.credentialsRequired' },
    })
  })
})

describe('deleting a backend', () => {
  it('is refused while ACLs hang on it', async () => {
    const agent = await anEnrolledAgent(api)
    const { id, aclIds } = await aBackend({ ipset: {} }, agent.id, [{ V4SetName: 'held' }])
    expect(await find(id)).toMatchObject({ ACLCount: 1 })
    expect(await api.delete(`/admin/backends/${id}`)).toMatchObject({
      status: 409,
      body: { Err: 'err.detachAcls' },
    })
    await api.delete(`/admin/acls/${aclIds[0]}`)
    expect((await api.delete(`/admin/backends/${id}`)).status).toBe(200)
    expect(await find(id)).toBeUndefined()
    expect((await api.delete(`/admin/backends/${id}`)).status).toBe(404)
  })

  it('works without a licence', async () => {
    const agent = await anEnrolledAgent(api)
    const { id } = await aBackend({ ipset: {} }, agent.id)
    await api.delete('/admin/settings/license')
    expect((await api.delete(`/admin/backends/${id}`)).status).toBe(200)
    await api.license()
  })
})

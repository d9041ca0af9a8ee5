import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCreation } from '#server/knocs/run-creation.ts'
import { aSession, aUser, entitle } from '#tests/support/builders.ts'
import {
  anEnrolledAgent,
  type ConsoleApi,
  startConsoleApi,
  type TestAgent,
} from '#tests/support/console-api.ts'
import { asSuperuser } from '#tests/support/database.ts'
import { until } from '#tests/support/until.ts'

let api: ConsoleApi
let agent: TestAgent
beforeAll(async () => {
  api = await startConsoleApi()
  await api.license()
  agent = await anEnrolledAgent(api, { name: 'edge' })
})
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
let sets = 0
const newSet = () => `set${(sets += 1)}`
const aBody = (set: string, facts: Record<string, unknown> = {}) => ({
  Backend: { AgentID: agent.id, Config: { ipset: {} } },
  ACL: { Description: `Knoc ${set}`, ClickToGrant: true, Config: { ipset: { V4SetName: set } } },
  ...facts,
})
async function madeId(set: string, facts: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await api.post('/admin/knocs', aBody(set, facts))
  expect([status, body]).toEqual([201, { data: { ID: expect.any(String) } }])
  return body.data.ID
}
const read = async (id: string) => (await api.get(`/admin/knocs/${id}`)).body.data
const find = async (id: string) =>
  (await api.get('/admin/knocs')).body.data.find((knoc: { ID: string }) => knoc.ID === id)

async function aGroup(name: string): Promise<string> {
  const row = await api.db
    .insertInto('groups')
    .values({ name, type: 'local' })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Everything that a creation writes, to see that nothing of it is left. */
async function countAll() {
  const { rows } = await sql<Record<string, number>>`
    select (select count(*) from acls) as acls, (select count(*) from backends) as backends,
      (select count(*) from targets) as targets, (select count(*) from acl_targets) as acl_targets,
      (select count(*) from acl_ranges) as ranges, (select count(*) from user_acls) as users,
      (select count(*) from group_acls) as groups, (select count(*) from audit_events) as events`.execute(
    api.db,
  )
  return rows[0]
}

/** Somebody who goes through a knoc's door from an address now. */
async function anOpenDoor(aclId: string, address: string): Promise<string> {
  const userId = await aUser(api.db)
  await entitle(api.db, userId, aclId)
  const session = await aSession(api.db, { userId, address })
  await sql`
    insert into grants (session_id, user_id, acl_id, address, client_address, source, reason, ends_at)
    values (${session.id}, ${userId}, ${aclId}, ${address}::inet, ${address}::inet, 'own', 'click', now() + interval '1 hour')`.execute(
    api.db,
  )
  await api.deps.rights.change({ acls: [aclId] }, 'knocChanged', async () => undefined)
  return userId
}

async function entriesOf(set: string) {
  const { rows } = await sql<{ address: string; desired: string }>`
    select host(e.address) as address, e.desired from entries e join targets t on t.id = e.target_id
    where t.key = ${`ipset:${agent.id}:${set}`} order by e.address`.execute(api.db)
  return rows.map(({ address, desired }) => `${address} ${desired}`)
}

describe('making a knoc', () => {
  it('makes backend, ACL, list and members, and shows them whole', async () => {
    const set = newSet()
    const [user, group] = [await aUser(api.db), await aGroup('Ops')]
    const id = await madeId(set, { UserIDs: [user], GroupIDs: [group] })
    expect(await find(id)).toMatchObject({
      ID: id,
      Name: `Knoc ${set}`,
      BackendName: `Knoc ${set} (ipset)`,
      BackendType: 'ipset',
      AgentID: agent.id,
      AgentName: 'edge',
      AgentOnline: false,
      BackendConfig: { ipset: {} },
      AclConfig: { ipset: { V4SetName: set } },
      UserCount: 1,
      GroupCount: 1,
      OpenCount: 0,
      UnsettledCount: 0,
      LastModifiedBy: 'root',
    })
    expect(await read(id)).toMatchObject({
      Backend: { AgentID: agent.id, Config: { ipset: {} } },
      ACL: { ID: id, Description: `Knoc ${set}`, ClickToGrant: true, Config: { ipset: { V4SetName: set } } },
      UserIDs: [user],
      GroupIDs: [group],
    })
    expect((await api.audit()).at(-1)).toEqual({
      kind: 'CreateKnoc',
      fields: { AdminName: 'root', AclDescription: `Knoc ${set}` },
    })
  })

  it.each<[string, () => Promise<unknown>, number, string]>([
    [
      'backend: an unknown agent',
      async () => ({ Backend: { AgentID: unknownId, Config: { ipset: {} } } }),
      422,
      'err.agentIdInvalid',
    ],
    [
      'backend: settings of another kind',
      async () => ({ Backend: { AgentID: agent.id, Config: { ipset: { X: 1 } } } }),
      400,
      'err.badRequest',
    ],
    [
      'ACL: a list of another kind',
      async () => ({ ACL: { Description: 'x', Config: { script: { Name: 'x' } } } }),
      422,
      'err.invalidField',
    ],
    [
      'ACL: a range the wrong way round',
      async () => ({
        ACL: {
          Description: 'x',
          Config: { ipset: { V4SetName: newSet() } },
          IpExclusions: { Ranges: [{ Start: '10.0.0.2', End: '10.0.0.1' }] },
        },
      }),
      422,
      'err.invalidIpAddress',
    ],
    ['members: an unknown user', async () => ({ UserIDs: [unknownId] }), 422, 'err.invalidField'],
    ['members: a SAML user', async () => ({ UserIDs: [await aSamlUser()] }), 422, 'err.invalidField'],
    ['members: an unknown group', async () => ({ GroupIDs: [unknownId] }), 422, 'err.invalidField'],
  ])('leaves nothing when a step fails: %s', async (_, facts, status, Err) => {
    const body = aBody(newSet(), (await facts()) as Record<string, unknown>)
    const before = await countAll()
    expect(await api.post('/admin/knocs', body)).toMatchObject({ status, body: { Err } })
    expect(await countAll()).toEqual(before)
  })

  it.each([
    ['backend', () => sql`select id from agents where id = ${agent.id} for update`],
    [
      'acl',
      (set: string) => sql`
        insert into targets (key, agent_id, type, expiry)
        values (${`ipset:${agent.id}:${set}`}, ${agent.id}, 'ipset', 'native') returning id`,
    ],
    ['members', (_: string, user: string) => sql`select id from users where id = ${user} for update`],
  ])('leaves nothing when its connection is killed in the %s step', async (_, hold) => {
    const [set, user] = [newSet(), await aUser(api.db)]
    const before = await countAll()
    await api.db
      .transaction()
      .execute(async (tx) => {
        await hold(set, user).execute(tx)
        const answer = api.post('/admin/knocs', aBody(set, { UserIDs: [user] }))
        await killWaiting()
        expect(await answer).toMatchObject({ status: 503, body: { Err: 'err.serviceUnavailable' } })
        throw new Error('let go')
      })
      .catch((error: unknown) => expect(error).toMatchObject({ message: 'let go' }))
    expect(await countAll()).toEqual(before)
    await madeId(set, { UserIDs: [user] })
  })

  it('walks the steps in the machine’s order and misses none', async () => {
    const done: string[] = []
    const act = (step: string) => async () => void done.push(step)
    const acts = { backend: act('backend'), acl: act('acl'), members: act('members') }
    await runCreation({ apiKey: 'none', child: false }, acts)
    expect(done).toEqual(['backend', 'acl', 'members'])
    await expect(runCreation({ apiKey: 'new', child: false }, acts)).rejects.toThrow('no act for apiKey')
    done.length = 0
    const childBackend = act('childBackend')
    const whole = { ...acts, apiKey: act('apiKey'), childBackend }
    await expect(runCreation({ apiKey: 'new', child: true }, whole)).rejects.toThrow('no act for childAcl')
    expect(done).toEqual(['backend', 'apiKey', 'acl', 'childBackend'])
  })

  it('is refused without a licence, as changing is; deleting works', async () => {
    const id = await madeId(newSet())
    await api.delete('/admin/settings/license')
    const unlicensed = { status: 403, body: { Err: 'err.unlicensed' } }
    expect(await api.post('/admin/knocs', aBody(newSet()))).toMatchObject(unlicensed)
    expect(await api.put(`/admin/knocs/${id}`, { UserIDs: [] })).toMatchObject(unlicensed)
    expect((await api.delete(`/admin/knocs/${id}`)).status).toBe(200)
    await api.license()
  })
})

async function aSamlUser(): Promise<string> {
  const id = await aUser(api.db)
  await api.db.updateTable('users').set({ authType: 'SAML' }).where('id', '=', id).execute()
  return id
}

/** Ends the connection of this database that waits for a lock. */
async function killWaiting(): Promise<void> {
  const name = api.database.connection.database
  await until('somebody waits', async () => {
    const killed = await asSuperuser(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
      [name],
    )
    return killed.length > 0
  })
}

describe('the list of knocs', () => {
  it('hides those hidden from admins, counts what is open, sorts and pages', async () => {
    const hidden = await madeId(newSet(), {
      ACL: { Description: 'Hidden', HideFromAdmins: true, Config: { ipset: { V4SetName: newSet() } } },
    })
    expect(await find(hidden)).toBeUndefined()
    expect((await read(hidden)).Name).toBe('Hidden')
    const set = newSet()
    const id = await madeId(set)
    await anOpenDoor(id, '203.0.113.1')
    await anOpenDoor(id, '203.0.113.2')
    expect(await find(id)).toMatchObject({ OpenCount: 2, UnsettledCount: 2, UserCount: 2 })
    const { body } = await api.get('/admin/knocs?sort=-UserCount&limit=1')
    expect(body.data.map((knoc: { ID: string }) => knoc.ID)).toEqual([id])
    expect(body.total).toBe((await api.get('/admin/knocs')).body.data.length)
    expect((await api.get(`/admin/knocs?search=${set}&limit=5`)).body).toMatchObject({
      data: [{ ID: id }],
      total: 1,
    })
  })
})

describe('changing a knoc', () => {
  it('writes whole lists as differences, and nothing that was not named', async () => {
    const [one, two, three] = [await aUser(api.db), await aUser(api.db), await aUser(api.db)]
    const group = await aGroup('Crew')
    const id = await madeId(newSet(), { UserIDs: [one, two], GroupIDs: [group] })
    expect((await api.put(`/admin/knocs/${id}`, { UserIDs: [two, three] })).status).toBe(200)
    const after = await read(id)
    expect(after.UserIDs).toEqual([two, three].toSorted())
    expect(after).toMatchObject({ GroupIDs: [group], ACL: { ClickToGrant: true } })
    expect(
      (await api.put(`/admin/knocs/${id}`, { ID: id, GroupIDs: [], ACL: { URL: 'https://x' } })).status,
    ).toBe(200)
    expect(await read(id)).toMatchObject({ GroupIDs: [], URL: 'https://x', ACL: { ClickToGrant: true } })
    expect(await api.put(`/admin/knocs/${id}`, { ID: unknownId })).toMatchObject({
      body: { Err: 'err.mismatchingIDs' },
    })
    expect((await api.put(`/admin/knocs/${unknownId}`, {})).status).toBe(404)
    expect(
      await api.put(`/admin/knocs/${id}`, { Backend: { Config: { script: { Command: 'c' } } } }),
    ).toMatchObject({
      body: { Err: 'err.backendTypeFixed' },
    })
  })

  it('refuses a stale form, also when only a member changed elsewhere', async () => {
    const id = await madeId(newSet())
    const { etag } = await api.get(`/admin/knocs/${id}`)
    const headers = { 'If-Match': etag ?? '' }
    await anOpenDoor(id, '203.0.113.9')
    expect(await api.put(`/admin/knocs/${id}`, { ACL: { Category: 'Stale' } }, headers)).toMatchObject({
      status: 409,
      body: { Err: 'err.changedMeanwhile' },
    })
    const fresh = await api.get(`/admin/knocs/${id}`)
    expect(fresh.body.data.Category).toBe('Default')
    const written = await api.put(
      `/admin/knocs/${id}`,
      { ACL: { Category: 'New' } },
      { 'If-Match': fresh.etag ?? '' },
    )
    expect(written.status).toBe(200)
    expect(written.etag).toBe((await api.get(`/admin/knocs/${id}`)).etag)
  })

  it('lets one of two forms that were read together through', async () => {
    const id = await madeId(newSet())
    const { etag } = await api.get(`/admin/knocs/${id}`)
    const answers = await Promise.all(
      ['A', 'B', 'C'].map((Category) =>
        api.put(`/admin/knocs/${id}`, { ACL: { Category } }, { 'If-Match': etag ?? '' }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409])
  })

  it('takes the right from whoever is left out, and moves the others’ doors to the new list', async () => {
    const [set, next] = [newSet(), newSet()]
    const id = await madeId(set)
    const [stays, goes] = [await anOpenDoor(id, '203.0.113.20'), await anOpenDoor(id, '203.0.113.21')]
    expect(await entriesOf(set)).toEqual(['203.0.113.20 open', '203.0.113.21 open'])
    await api.put(`/admin/knocs/${id}`, { UserIDs: [stays] })
    expect(await entriesOf(set)).toEqual(['203.0.113.20 open', '203.0.113.21 closed'])
    await api.put(`/admin/knocs/${id}`, { ACL: { Config: { ipset: { V4SetName: next } } } })
    expect(await entriesOf(set)).toEqual(['203.0.113.20 closed', '203.0.113.21 closed'])
    expect(await entriesOf(next)).toEqual(['203.0.113.20 open'])
    const restricted = {
      RestrictionType: 'denyList',
      Ranges: [{ Start: '203.0.113.0', End: '203.0.113.255' }],
    }
    await api.put(`/admin/knocs/${id}`, { ACL: { IpExclusions: restricted } })
    expect(await entriesOf(next)).toEqual(['203.0.113.20 closed'])
    const reasons = await api.db
      .selectFrom('grants')
      .select(['userId', 'endedReason'])
      .where('aclId', '=', id)
      .execute()
    expect(reasons).toEqual(
      expect.arrayContaining([
        { userId: goes, endedReason: 'knocChanged' },
        { userId: stays, endedReason: 'knocChanged' },
      ]),
    )
  })

  it('moves with its agent and asks for the secrets again', async () => {
    const other = await anEnrolledAgent(api)
    const script = (Value: string) => ({ script: { Name: 'moving', EnvVars: { KEY: { Value } } } })
    const Config = { script: { Command: 'c', EnvVars: [{ Name: 'KEY', Sensitive: true }] } }
    const id = await madeId(newSet(), {
      Backend: { AgentID: agent.id, Config },
      ACL: { Description: 'Moving', Config: script('s') },
    })
    const move = { Backend: { AgentID: other.id, Config } }
    expect(await api.put(`/admin/knocs/${id}`, { ...move, ACL: { Config: script('') } })).toMatchObject({
      status: 409,
      body: { Err: 'err.credentialsRequired', Extra: 'EnvVars.KEY' },
    })
    expect((await read(id)).AgentID).toBe(agent.id)
    expect((await api.put(`/admin/knocs/${id}`, { ...move, ACL: { Config: script('again') } })).status).toBe(
      200,
    )
    expect((await read(id)).AgentID).toBe(other.id)
  })
})

describe('deleting a knoc', () => {
  it('closes its doors, keeps their entries as debts, and frees everything else', async () => {
    const set = newSet()
    const id = await madeId(set)
    const { BackendID } = await find(id)
    await anOpenDoor(id, '203.0.113.30')
    expect((await api.delete(`/admin/knocs/${id}`)).status).toBe(200)
    expect(await find(id)).toBeUndefined()
    expect((await api.get(`/admin/knocs/${id}`)).status).toBe(404)
    expect((await api.delete(`/admin/knocs/${id}`)).status).toBe(404)
    expect(await entriesOf(set)).toEqual(['203.0.113.30 closed'])
    const [{ Debts } = { Debts: 0 }] = (await api.get('/admin/agents?search=edge')).body.data
    expect(Debts).toBeGreaterThanOrEqual(1)
    const backends = (await api.get('/admin/backends')).body.data
    expect(backends.map((backend: { ID: string }) => backend.ID)).not.toContain(BackendID)
    expect(await api.db.selectFrom('userAcls').select('userId').where('aclId', '=', id).execute()).toEqual([])
    const { endedReason } = await api.db
      .selectFrom('grants')
      .select('endedReason')
      .where('aclId', '=', id)
      .executeTakeFirstOrThrow()
    expect(endedReason).toBe('knocDeleted')
  })

  it('leaves a shared list open for the other knoc', async () => {
    const set = newSet()
    const [one, two] = [await madeId(set), await madeId(set)]
    await anOpenDoor(one, '203.0.113.40')
    await anOpenDoor(two, '203.0.113.40')
    await api.delete(`/admin/knocs/${one}`)
    expect(await entriesOf(set)).toEqual(['203.0.113.40 open'])
    await api.delete(`/admin/knocs/${two}`)
    expect(await entriesOf(set)).toEqual(['203.0.113.40 closed'])
  })

  it('leaves a backend that another ACL uses', async () => {
    const id = await madeId(newSet())
    const { BackendID } = await find(id)
    await api.post('/admin/acls', {
      Description: 'Second',
      BackendID,
      Config: { ipset: { V4SetName: newSet() } },
    })
    await api.delete(`/admin/knocs/${id}`)
    const backends = (await api.get('/admin/backends')).body.data
    expect(backends.map((backend: { ID: string }) => backend.ID)).toContain(BackendID)
  })
})

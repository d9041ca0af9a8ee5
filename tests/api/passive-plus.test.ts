import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asSuperuser } from '#tests/support/database.ts'
import { statusOf } from '#tests/support/discovery-api.ts'
import { errorOf, firewall, type PassivePlusApi, startPassivePlusApi } from '#tests/support/passive-plus.ts'
import { aLicence, noLicence } from '#tests/support/people-builders.ts'
import { until } from '#tests/support/until.ts'

let api: PassivePlusApi
beforeAll(async () => {
  api = await startPassivePlusApi()
})
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'

describe('making a Passive+ knoc', () => {
  it('makes both halves; the child opens nothing, and is hidden from everybody', async () => {
    const user = await api.aPerson(api.anAddress())
    const Child = api.aChild({ acl: { Description: 'A name of its own', HideFromUsers: false } })
    const body = api.aBody({
      ACL: { Description: 'Data centre', URL: 'https://dc.example' },
      Child,
      UserIDs: [user.id],
    })
    const answer = await api.console.post('/admin/knocs', body)
    const { ID: id, ChildID: childId } = answer.body.data
    expect([answer.status, answer.body.data]).toEqual([
      201,
      {
        ID: expect.any(String),
        ChildID: expect.any(String),
        URL: expect.stringContaining(`https://knoc.example/api/v1/allowlists/${id}/`),
        PlaintextKey: expect.any(String),
      },
    ])
    const { panos } = Child.ACL.Config
    expect(await api.findIn('/admin/acls', childId)).toMatchObject({
      ParentID: id,
      Description: 'Data centre',
      URL: 'https://dc.example',
      ClickToGrant: true,
      HideFromUsers: true,
      HideFromAdmins: true,
      Config: { panos },
    })
    expect(await api.findIn('/admin/acls', id)).toMatchObject({ ParentID: null, HideFromUsers: false })
    const key = `panos:${api.agent.id}:fw.example.com::vsys1:${panos.EDLName}`
    expect(await api.targetsOf(childId)).toMatchObject([
      {
        family: 4,
        key,
        state: 'active',
        agentId: api.agent.id,
        sealed: { 'backend.ApiKey': expect.any(String) },
      },
      { family: 6, key },
    ])
    expect(await api.targetsOf(id)).toMatchObject([{ key: `allowlist:${id}`, agentId: null }, { family: 6 }])
    const members = await api.db
      .selectFrom('userAcls')
      .select('aclId')
      .where('userId', '=', user.id)
      .execute()
    expect(members).toEqual([{ aclId: id }])
    const events = await api.db.selectFrom('auditEvents').selectAll().orderBy('id', 'desc').limit(1).execute()
    expect(events).toMatchObject([{ kind: 'CreateKnoc', detail: { aclId: id, childId } }])
    expect(
      JSON.stringify([await api.read(id), await api.read(childId), await api.rowsOf('/admin/backends')]),
    ).not.toContain('LUFRPT1')
  })

  it.each<[string, () => unknown, number, string, string | undefined]>([
    [
      'a child below anything but a passive list',
      () => ({
        Backend: { AgentID: api.agent.id, Config: { ipset: {} } },
        ACL: { Config: { ipset: { V4SetName: 'below' } } },
        ApiKey: undefined,
      }),
      422,
      'err.invalidField',
      'Child',
    ],
    [
      'a child of another type',
      () => ({ Child: api.aChild({ backend: { Config: { ipset: {} } } }) }),
      422,
      'err.invalidField',
      'Child.Backend.Config',
    ],
    [
      'a child whose list is of another type',
      () => ({ Child: api.aChild({ acl: { Config: { ipset: { V4SetName: 'x' } } } }) }),
      422,
      'err.invalidField',
      'Child.ACL.Config',
    ],
    [
      'a child without a list’s name',
      () => ({ Child: api.aChild({ acl: { Config: { panos: {} } } }) }),
      400,
      'err.badRequest',
      'Child.ACL.Config.panos.EDLName',
    ],
    [
      'a child without a key to the firewall',
      () => ({ Child: api.aChild({ backend: { Config: { panos: { Hostname: 'fw.example.com' } } } }) }),
      400,
      'err.badRequest',
      'Child.Backend.Config.panos.ApiKey',
    ],
    [
      'a firewall’s address that is none',
      () => ({ Child: api.aChild({ backend: { Config: firewall({ Hostname: 'https://fw' }) } }) }),
      422,
      'err.invalidField',
      'Child.Backend.Config.panos.Hostname',
    ],
    [
      'members of a child',
      () => ({ Child: { ...api.aChild(), UserIDs: [] } }),
      400,
      'err.badRequest',
      'Child.UserIDs',
    ],
    [
      'a child that names its parent',
      () => ({ Child: api.aChild({ acl: { Config: {}, ParentID: unknownId } }) }),
      400,
      'err.badRequest',
      'Child.ACL.ParentID',
    ],
    [
      'a firewall to refresh without a list above it',
      () => ({
        ...api.aChild({ acl: { Description: 'x', Config: { panos: { EDLName: 'x' } } } }),
        Child: undefined,
        ApiKey: undefined,
      }),
      422,
      'err.invalidField',
      'Backend.Config',
    ],
    [
      'an agent that isn’t there',
      () => ({ Child: api.aChild({ backend: { AgentID: unknownId } }) }),
      422,
      'err.agentIdInvalid',
      undefined,
    ],
    [
      'no agent',
      () => ({ Child: api.aChild({ backend: { AgentID: null } }) }),
      422,
      'err.agentIdInvalid',
      undefined,
    ],
    [
      'an agent that was never connected',
      async () => ({
        Child: api.aChild({
          backend: { AgentID: (await api.aTeller({ sealingKey: null, version: null })).id },
        }),
      }),
      409,
      'err.agentNeverConnected',
      undefined,
    ],
    [
      'an agent that may no longer open',
      async () => ({
        Child: api.aChild({ backend: { AgentID: (await api.aTeller({ version: '1.9.9' })).id } }),
      }),
      422,
      'err.agentIncapable',
      '2.0.0',
    ],
    [
      'an agent that is too old for the type',
      async () => ({
        Child: api.aChild({ backend: { AgentID: (await api.aTeller({ version: '1.8.0' })).id } }),
      }),
      422,
      'err.agentBackendTypeNotSupported',
      '1.9.0',
    ],
    [
      'settings that a list doesn’t have',
      () => ({ Backend: { AgentID: null, Config: { allowlist: { Hostname: 'x' } } } }),
      400,
      'err.badRequest',
      'Backend.Config.allowlist.Hostname',
    ],
    [
      'a range the wrong way round',
      () => ({ ACL: { IpExclusions: { Ranges: [{ Start: '10.0.0.2', End: '10.0.0.1' }] } } }),
      422,
      'err.invalidIpAddress',
      'ACL.IpExclusions.Ranges.0.End',
    ],
    [
      'a list’s key that is taken',
      async () => ({ ApiKey: { Option: 'new', Name: await aTakenName() } }),
      409,
      'err.apiKeyNameTaken',
      undefined,
    ],
    ['an unknown member', () => ({ UserIDs: [unknownId] }), 422, 'err.invalidField', 'UserIDs.0'],
  ])('refuses %s and leaves nothing behind', async (_, facts, status, Err, Extra) => {
    const body = api.aBody((await facts()) as Record<string, unknown>)
    const before = await api.countAll()
    expect(errorOf(await api.console.post('/admin/knocs', body))).toEqual([status, Err, Extra])
    expect(await api.countAll()).toEqual(before)
  })

  it.each([
    ['childBackend', () => api.aChild({ backend: { AgentID: unknownId } })],
    ['childAcl', () => api.aChild({ acl: { Config: { panos: { EDLName: '<edl>' } } } })],
  ])('leaves the chosen key as it was when %s fails', async (_, child) => {
    const { id } = await api.aPlus()
    const { ApiKeyId } = (await api.read(id)).AclConfig.allowlist
    const before = await api.countAll()
    const ApiKey = { Option: 'existing', ID: ApiKeyId }
    expect((await api.console.post('/admin/knocs', api.aBody({ ApiKey, Child: child() }))).status).toBe(422)
    expect(await api.countAll()).toEqual(before)
    expect((await api.console.post('/admin/knocs', api.aBody({ ApiKey }))).status).toBe(201)
  })

  it.each([
    ['childBackend', () => sql`select id from agents where id = ${api.agent.id} for update`],
    [
      'childAcl',
      (edl: string) => sql`
        insert into targets (key, agent_id, type, expiry)
        values (${`panos:${api.agent.id}:fw.example.com::vsys1:${edl}`}, ${api.agent.id}, 'panos', 'agent')`,
    ],
  ])('leaves nothing when its connection is killed in the %s step', async (step, hold) => {
    const edl = `killed-in-${step}`
    const body = api.aBody({ Child: api.aChild({ acl: { Config: { panos: { EDLName: edl } } } }) })
    const before = await api.countAll()
    await api.db
      .transaction()
      .execute(async (tx) => {
        await hold(edl).execute(tx)
        const answer = api.console.post('/admin/knocs', body)
        await killWaiting()
        expect(await answer).toMatchObject({ status: 503, body: { Err: 'err.serviceUnavailable' } })
        throw new Error('let go')
      })
      .catch((error: unknown) => expect(error).toMatchObject({ message: 'let go' }))
    expect(await api.countAll()).toEqual(before)
    expect((await api.console.post('/admin/knocs', body)).status).toBe(201)
  })

  it('needs a licence, and an administrator', async () => {
    const user = await api.aPerson(api.anAddress())
    expect(errorOf(await user.post('/admin/knocs', api.aBody()))).toEqual([
      401,
      'err.invalidSession',
      undefined,
    ])
    expect((await api.browser(api.anAddress()).post('/admin/knocs', api.aBody())).status).toBe(401)
    const before = await api.countAll()
    await noLicence(api.people)
    expect(errorOf(await api.console.post('/admin/knocs', api.aBody()))).toEqual([
      403,
      'err.unlicensed',
      undefined,
    ])
    await aLicence(api.people)
    expect(await api.countAll()).toEqual(before)
  })

  it('without a key shows the list to nobody but the addresses it names', async () => {
    const AllowedIpAddresses = [{ prefix: '0.0.0.0/0', note: 'all' }]
    const open = { ApiKey: { Option: 'none' }, ACL: { Config: { allowlist: { AllowedIpAddresses } } } }
    expect(errorOf(await api.console.post('/admin/knocs', api.aBody(open)))).toEqual([
      409,
      'err.confirmWholeInternet',
      'ACL.Config.allowlist.AllowedIpAddresses',
    ])
    const confirmed = await api.console.post(
      '/admin/knocs',
      api.aBody({ ...open, ConfirmWholeInternet: true }),
    )
    expect(confirmed.status).toBe(201)
  })
})

async function aTakenName(): Promise<string> {
  const ApiKey = { Option: 'new', Name: 'Taken by another list' }
  await api.aPlus({ ApiKey })
  return ApiKey.Name
}

/** Ends the connection of this database that waits for a lock. */
async function killWaiting(): Promise<void> {
  const name = api.people.database.connection.database
  await until('a connection that waits is killed', async () => {
    const killed = await asSuperuser(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
      [name],
    )
    return killed.length > 0
  })
}

describe('a Passive+ knoc', () => {
  it('is one row in the list, found by its firewall’s agent, and counts as one', async () => {
    const telling = await api.aTeller({ name: 'teller' })
    const count = async () => (await api.console.get('/admin/status')).body.data.ACLCount
    const before = await count()
    const { id, childId } = await api.aPlus({ Child: api.aChild({ backend: { AgentID: telling.id } }) })
    const rows = await api.rowsOf('/admin/knocs?search=teller')
    expect(rows).toMatchObject([
      {
        ID: id,
        ParentID: null,
        Children: [childId],
        BackendType: 'allowlist',
        Firewalls: [
          {
            ACLID: childId,
            Type: 'panos',
            Hostname: 'fw.example.com',
            EDLName: expect.any(String),
            AgentID: telling.id,
            AgentName: 'teller',
            AgentOnline: false,
          },
        ],
      },
    ])
    expect((await api.rowsOf('/admin/knocs')).map(({ ID }) => ID)).not.toContain(childId)
    expect(await count()).toBe(before + 1)
    const sorted = (await api.rowsOf('/admin/knocs?sort=-AgentName')).filter(({ Firewalls }) => Firewalls[0])
    expect(sorted[0]).toMatchObject({ ID: id })
    const { aclId } = await api.aList()
    expect(await api.read(aclId)).toMatchObject({ Firewalls: [], Children: [] })
    expect(await api.read(aclId)).not.toHaveProperty('Child')
  })

  it('reads as it was made by either id', async () => {
    const user = await api.aPerson(api.anAddress())
    const Child = api.aChild()
    const { id, childId } = await api.aPlus({ ACL: { Description: 'Both ways' }, Child, UserIDs: [user.id] })
    const recorded = { panos: { ...firewall().panos, ApiKey: 'RECORDED', VSys: 'vsys1', Insecure: false } }
    const childParts = {
      Backend: { AgentID: api.agent.id, Config: recorded },
      ACL: {
        ID: childId,
        Description: 'Both ways',
        HideFromUsers: false,
        HideFromAdmins: false,
        Config: Child.ACL.Config,
      },
    }
    expect(await api.read(id)).toMatchObject({
      Backend: { AgentID: null, Config: { allowlist: {} } },
      ACL: { ID: id, Config: { allowlist: { AllowAccessByIp: false } } },
      Child: childParts,
      Children: [childId],
      UserIDs: [user.id],
      UserCount: 1,
    })
    expect(await api.read(childId)).toMatchObject({
      ...childParts,
      ParentID: id,
      HideFromAdmins: true,
      HideFromUsers: true,
      AgentName: api.agent.name,
      Firewalls: [{ ACLID: childId }],
      UserIDs: [user.id],
      UserCount: 1,
    })
  })

  it('is four rows of ACLs and backends, marked, none of which is deleted alone', async () => {
    const { id, childId } = await api.aPlus({ ACL: { Description: 'Four rows' } })
    const [parent, child] = [await api.read(id), await api.read(childId)]
    expect(await api.findIn('/admin/acls', id)).toMatchObject({ PassivePlus: 'parent' })
    expect(await api.findIn('/admin/acls', childId)).toMatchObject({ PassivePlus: 'child', ParentID: id })
    expect(await api.findIn('/admin/backends', parent.BackendID)).toMatchObject({
      PassivePlus: 'parent',
      Type: 'allowlist',
    })
    expect(await api.findIn('/admin/backends', child.BackendID)).toMatchObject({
      PassivePlus: 'child',
      Name: 'Four rows (panos)',
      AgentID: api.agent.id,
    })
    const before = await api.countAll()
    for (const path of [
      `/admin/acls/${id}`,
      `/admin/acls/${childId}`,
      `/admin/backends/${parent.BackendID}`,
      `/admin/backends/${child.BackendID}`,
      `/admin/knocs/${childId}`,
    ])
      expect([path, ...errorOf(await api.console.delete(path))]).toEqual([
        path,
        409,
        'err.partOfKnoc',
        'Four rows',
      ])
    expect(await api.countAll()).toEqual(before)
    const { aclId } = await api.aList()
    expect(await api.findIn('/admin/acls', aclId)).toMatchObject({ PassivePlus: null })
    expect(await api.findIn('/admin/backends', (await api.read(aclId)).BackendID)).toMatchObject({
      PassivePlus: null,
    })
  })

  it('shows with the firewall how telling it went, and on its agent’s page', async () => {
    const teller = await api.aTeller()
    const backend = { AgentID: teller.id, Config: firewall({ Hostname: 'told.example.com' }) }
    const { id, childId } = await api.aPlus({
      ACL: { Description: 'Told' },
      Child: api.aChild({ backend, acl: { Config: { panos: { EDLName: 'told' } } } }),
    })
    const targetId = (await api.targetsOf(childId))[0]?.id ?? ''
    const shown = async () => {
      const [{ Firewalls }] = await api.rowsOf(`/admin/knocs?search=${teller.name}`)
      const { Lists } = (await api.console.get(`/admin/agents/${teller.id}/lists`)).body.data
      expect(Lists).toMatchObject([
        {
          ID: targetId,
          Type: 'panos',
          Name: 'told · told.example.com',
          Open: 0,
          Debts: 0,
          Look: null,
          Knocs: [{ ID: id, Name: 'Told' }],
          Refresh: Firewalls[0].Refresh,
        },
      ])
      return Firewalls[0].Refresh
    }
    expect(await shown()).toEqual({ RefreshedAt: null, Error: null })
    const refreshedAt = new Date('2026-11-22T06:00:00Z')
    const note = (columns: object) =>
      api.db.updateTable('listRefreshes').set(columns).where('targetId', '=', targetId).execute()
    await note({
      refreshedAt,
      errorCode: 'denied',
      errorText: 'Invalid credentials.',
      failingSince: refreshedAt,
    })
    const told = await shown()
    expect(told).toEqual({ RefreshedAt: expect.any(String), Error: 'Invalid credentials.' })
    expect(Date.parse(told.RefreshedAt)).toBe(refreshedAt.getTime())
  })

  it('holds on to its agent until the whole of it is gone', async () => {
    const teller = await api.aTeller()
    const { id } = await api.aPlus({ Child: api.aChild({ backend: { AgentID: teller.id } }) })
    const remove = () => api.console.delete(`/admin/agents/${teller.id}`)
    expect(errorOf(await remove())).toEqual([409, 'err.detachBackends', undefined])
    expect((await api.console.delete(`/admin/knocs/${id}`)).status).toBe(200)
    expect((await remove()).status).toBe(200)
  })
})

describe('whoever has a Passive+ knoc', () => {
  it('sees the parent alone, and clicks on it by either id', async () => {
    const { id, childId } = await api.aPlus({ ACL: { Description: 'One entry' } })
    const address = api.anAddress()
    const person = await api.aPerson(address, [{ aclId: id }])
    expect((await statusOf(person)).ACLs).toMatchObject([
      { ID: id, ACLID: id, ParentID: null, Passive: true },
    ])
    expect(await person.post('/grant', { ACLID: childId })).toMatchObject({
      body: { data: { ACLID: id, Status: 6 } },
    })
    expect((await statusOf(person)).ACLs).toMatchObject([{ ID: id, Status: 6, Error: null }])
    const { rows } = await sql<{ key: string }>`
      select t.key from entries e join targets t on t.id = e.target_id
      where e.address = ${address}::inet and e.desired = 'open'`.execute(api.db)
    expect(rows).toEqual([{ key: `allowlist:${id}` }])
  })

  it('has the parent, whichever id a user, a group or a knoc was given', async () => {
    const { id, childId } = await api.aPlus()
    const made = await api.console.post('/admin/users', {
      Name: 'Eve',
      UserName: 'eve.plus',
      PlainPassword: 'correct horse 2',
      AclIds: [childId],
    })
    const userId = made.body.data.ID
    const group = await api.console.post('/admin/groups', {
      Name: 'Plus group',
      Type: 'local',
      ACLIDs: [childId, id],
    })
    const groupId = group.body.data.ID
    expect(await api.findIn('/admin/users', userId)).toMatchObject({ AclIds: [id] })
    expect(await api.findIn('/admin/groups', groupId)).toMatchObject({ ACLIDs: [id] })
    expect((await api.console.get(`/admin/users/${userId}/acls`)).body.data).toMatchObject([{ ID: id }])
    expect(await api.read(childId)).toMatchObject({ UserIDs: [userId], GroupIDs: [groupId] })
    const put = await api.console.put(`/admin/groups/${groupId}`, { Name: 'Plus group', ACLIDs: [] })
    expect(put.status).toBe(200)
    await api.console.put(`/admin/groups/${groupId}`, { Name: 'Plus group', ACLIDs: [childId] })
    expect(await api.read(id)).toMatchObject({ GroupIDs: [groupId] })
    expect((await api.console.put(`/admin/knocs/${childId}`, { UserIDs: [], GroupIDs: [] })).status).toBe(200)
    expect(await api.read(id)).toMatchObject({ UserIDs: [], GroupIDs: [] })
    const stored = await sql`
      select from user_acls where acl_id = ${childId} union all select from group_acls where acl_id = ${childId}`.execute(
      api.db,
    )
    expect(stored.rows).toEqual([])
  })
})

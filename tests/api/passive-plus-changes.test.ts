import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorOf, firewall, type PassivePlusApi, startPassivePlusApi } from '#tests/support/passive-plus.ts'

let api: PassivePlusApi
beforeAll(async () => {
  api = await startPassivePlusApi()
})
afterAll(() => api.stop())

const put = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  api.console.put(`/admin/knocs/${id}`, body, headers)
const aclOf = (id: string) => api.findIn('/admin/acls', id)
const keyOf = async (aclId: string) => (await api.targetsOf(aclId))[0]?.key
const statesOf = async (key: string) => {
  const rows = await api.db
    .selectFrom('targets')
    .select('state')
    .where('key', '=', key)
    .orderBy('createdAt')
    .execute()
  return rows.map(({ state }) => state)
}
/** Somebody whose click put his address on the list. */
async function aHolder(id: string) {
  const address = api.anAddress()
  const person = await api.aPerson(address, [{ aclId: id }])
  expect((await person.post('/grant', { ACLID: id })).status).toBe(200)
  return { ...person, address }
}
const entriesOf = async (key: string) => {
  const { rows } = await sql<{ address: string; desired: string }>`
    select host(e.address) as address, e.desired from entries e join targets t on t.id = e.target_id
    where t.key = ${key}`.execute(api.db)
  return rows.map(({ address, desired }) => `${address} ${desired}`)
}

describe('changing a Passive+ knoc by its child’s id', () => {
  it('writes the fields to the parent first, whose own list stays; the child mirrors them', async () => {
    const { id, childId } = await api.aPlus()
    const before = await api.read(id)
    const read = await api.read(childId)
    const ACL = {
      ...read.ACL,
      Description: 'Renamed',
      URL: 'https://renamed.example',
      HideFromUsers: true,
      MaximumGrantDuration: 600,
      IpExclusions: {
        RestrictionType: 'denyList',
        RfcType: 'allow',
        Ranges: [{ Start: '10.0.0.1', End: '10.0.0.9' }],
      },
      Config: { panos: { EDLName: 'renamed-edl', SerialNumber: '0123456789' } },
    }
    expect((await put(childId, { ID: childId, Backend: read.Backend, ACL })).status).toBe(200)
    const { Config, ID: _, ...fields } = ACL
    expect(await aclOf(id)).toMatchObject({ ...fields, Config: before.ACL.Config })
    expect(await aclOf(childId)).toMatchObject({ ...fields, HideFromAdmins: true, Config })
    expect((await api.read(childId)).ACL).toEqual({ ...ACL, ID: childId })
    expect((await put(childId, { ACL: { HideFromUsers: false } })).status).toBe(200)
    expect(await aclOf(id)).toMatchObject({ HideFromUsers: false, Description: 'Renamed' })
    expect(await aclOf(childId)).toMatchObject({ HideFromUsers: true, Config })
  })

  it('shortens what stands on the parent’s list', async () => {
    const { id, childId } = await api.aPlus()
    const holder = await aHolder(id)
    expect((await put(childId, { ACL: { MaximumGrantDuration: 300 } })).status).toBe(200)
    const { rows } = await sql<{ isShort: boolean }>`
      select ends_at <= now() + interval '300 seconds' as is_short from grants where acl_id = ${id}`.execute(
      api.db,
    )
    expect(rows).toEqual([{ isShort: true }])
    expect(await entriesOf(`allowlist:${id}`)).toEqual([`${holder.address} open`])
  })

  it('takes whom it leaves out off the parent’s list at once', async () => {
    const { id, childId } = await api.aPlus()
    const [stays, goes] = [await aHolder(id), await aHolder(id)]
    expect((await put(childId, { UserIDs: [stays.id] })).status).toBe(200)
    expect((await entriesOf(`allowlist:${id}`)).toSorted()).toEqual(
      [`${stays.address} open`, `${goes.address} closed`].toSorted(),
    )
    expect(
      (await put(childId, { ACL: { GrantType: { Type: 'specifiedIps', Ips: [{ Ip: '192.0.2.200' }] } } }))
        .status,
    ).toBe(200)
    expect(await entriesOf(`allowlist:${id}`)).toContain('192.0.2.200 open')
  })

  it('moves the order to another firewall’s list, agent and key; the old target drains at once', async () => {
    const { id, childId } = await api.aPlus()
    await aHolder(id)
    const [old, other] = [(await keyOf(childId)) ?? '', await api.aTeller()]
    const sealed = (await api.targetsOf(childId))[0]?.sealed
    for (const Backend of [
      { Config: { panos: { Hostname: 'fw2.example.com' } } },
      { Config: { panos: { Hostname: 'fw.example.com', ApiKey: 'RECORDED', Insecure: true } } },
      { AgentID: other.id },
      { AgentID: other.id, Config: { panos: { Hostname: 'fw.example.com', ApiKey: '' } } },
    ])
      expect(errorOf(await put(childId, { Backend }))).toEqual([409, 'err.credentialsRequired', 'ApiKey'])
    expect(await keyOf(childId)).toBe(old)
    const moved = {
      AgentID: other.id,
      Config: firewall({ Hostname: 'fw2.example.com', ApiKey: 'LUFRPT1-next' }),
    }
    expect((await put(childId, { Backend: moved })).status).toBe(200)
    const edl = (await api.read(childId)).ACL.Config.panos.EDLName
    const key = `panos:${other.id}:fw2.example.com::vsys1:${edl}`
    expect(await api.targetsOf(childId)).toMatchObject([{ key, state: 'active', agentId: other.id }, { key }])
    expect((await api.targetsOf(childId))[0]?.sealed).not.toEqual(sealed)
    expect(await statesOf(old)).toEqual(['draining'])
    expect(await entriesOf(key)).toEqual([])
    expect(await entriesOf(old)).toEqual([])
    const kept = { Config: { panos: { Hostname: 'fw2.example.com', ApiKey: 'RECORDED', VSys: 'vsys2' } } }
    expect((await put(childId, { Backend: kept })).status).toBe(200)
    expect(await keyOf(childId)).toBe(`panos:${other.id}:fw2.example.com::vsys2:${edl}`)
    expect(errorOf(await put(childId, { Backend: { AgentID: null } }))).toEqual([
      422,
      'err.agentIdInvalid',
      undefined,
    ])
  })

  it('is refused to a stale form, whichever half was changed meanwhile', async () => {
    const { id, childId } = await api.aPlus()
    const etagOf = async (of: string) =>
      (await api.console.get(`/admin/knocs/${of}`)).headers.get('ETag') ?? ''
    for (const [changed, stale] of [
      [id, childId],
      [childId, id],
    ] as const) {
      const headers = { 'If-Match': await etagOf(stale) }
      const own =
        changed === id ? { ACL: { Category: 'New' } } : { ACL: { Config: { panos: { EDLName: 'new-edl' } } } }
      const written = await put(changed, own, { 'If-Match': await etagOf(changed) })
      expect([written.status, written.headers.get('ETag')]).toEqual([200, await etagOf(changed)])
      expect(errorOf(await put(stale, { ACL: { Category: 'Stale' } }, headers))).toEqual([
        409,
        'err.changedMeanwhile',
        undefined,
      ])
    }
  })

  it('waits for what changes the other half at the same moment, and loses nothing', async () => {
    const { id, childId } = await api.aPlus()
    const { BackendID } = await api.read(childId)
    const answers = await Promise.all([
      ...[1, 2, 3].flatMap((round) => [
        put(id, { ACL: { Category: `parent ${round}` } }),
        put(childId, { ACL: { URL: `https://child.example/${round}` } }),
        api.console.put(`/admin/acls/${id}`, { Icon: `icon-${round}` }),
        api.console.put(`/admin/acls/${childId}`, {
          Config: { panos: { EDLName: `round-${childId}-${round}` } },
        }),
      ]),
      api.console.put(`/admin/backends/${BackendID}`, { Name: 'Renamed firewall' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const [parent, child] = [await aclOf(id), await aclOf(childId)]
    const { Category, URL, Icon } = parent
    expect(child).toMatchObject({ Category, URL, Icon })
    expect([Category, URL, Icon]).toEqual([
      expect.stringMatching(/^parent \d$/),
      expect.stringMatching(/^https:\/\/child/),
      expect.stringMatching(/^icon-\d$/),
    ])
    expect(await keyOf(childId)).toContain(child.Config.panos.EDLName)
  })

  it('rolls both halves back when the second is refused', async () => {
    const { id, childId } = await api.aPlus()
    const [parent, child] = [await aclOf(id), await aclOf(childId)]
    const ACL = { Description: 'Half', Config: { panos: { EDLName: '<half>' } } }
    expect(errorOf(await put(childId, { ACL }))).toEqual([
      422,
      'err.invalidField',
      'ACL.Config.panos.EDLName',
    ])
    expect([await aclOf(id), await aclOf(childId)]).toEqual([parent, child])
  })
})

describe('changing a Passive+ knoc by its parent’s id', () => {
  it('changes the list alone; the child follows in name only', async () => {
    const { id, childId } = await api.aPlus()
    const [backend, target] = [(await api.read(childId)).Backend, await api.targetsOf(childId)]
    const { Config } = (await api.read(id)).ACL
    expect((await put(id, { ACL: { Description: 'List', ClickToGrant: false, Config } })).status).toBe(200)
    expect(await aclOf(childId)).toMatchObject({
      Description: 'List',
      ClickToGrant: false,
      HideFromUsers: true,
    })
    expect((await api.read(childId)).Backend).toEqual(backend)
    expect(await api.targetsOf(childId)).toEqual(target)
    const events = await api.db.selectFrom('auditEvents').selectAll().orderBy('id', 'desc').limit(1).execute()
    expect(events).toMatchObject([
      { kind: 'UpdateKnoc', fields: { AclDescription: 'List' }, detail: { aclId: id } },
    ])
  })

  it('changes the child too where Child names it, as it reads', async () => {
    const { id, childId } = await api.aPlus()
    const { Child, ACL } = await api.read(id)
    const Config = { panos: { EDLName: 'by-the-parent' } }
    const body = {
      ID: id,
      ACL: { ...ACL, Description: 'Whole' },
      Child: { ...Child, ACL: { ...Child.ACL, Config } },
    }
    expect((await put(id, body)).status).toBe(200)
    expect(await api.read(id)).toMatchObject({
      ACL: { Description: 'Whole', HideFromAdmins: false },
      Child: { ACL: { ID: childId, Description: 'Whole', Config } },
    })
    const Moved = { Backend: { Config: { panos: { Hostname: 'elsewhere.example.com' } } } }
    expect(errorOf(await put(id, { Child: Moved }))).toEqual([409, 'err.credentialsRequired', 'ApiKey'])
    const Wrong = { ACL: { Config: { panos: { EDLName: '<x>' } } } }
    expect(errorOf(await put(id, { Child: Wrong }))).toEqual([
      422,
      'err.invalidField',
      'Child.ACL.Config.panos.EDLName',
    ])
    expect(errorOf(await put(id, { Child: { ACL: { ID: id } } }))).toEqual([
      400,
      'err.mismatchingIDs',
      undefined,
    ])
  })

  it('refuses a Child where there is none to mean', async () => {
    const { childId } = await api.aPlus()
    const { aclId } = await api.aList()
    for (const id of [childId, aclId])
      expect(errorOf(await put(id, { Child: {} }))).toEqual([422, 'err.invalidField', 'Child'])
  })
})

describe('the child as an ACL by itself', () => {
  const Config = { panos: { EDLName: 'second-firewall' } }
  const aBackend = async () => {
    const body = {
      Name: 'Second firewall',
      AgentID: api.agent.id,
      Config: firewall({ Hostname: 'fw3.example.com' }),
    }
    return (await api.console.post('/admin/backends', body)).body.data.ID as string
  }

  it('may be hung below any passive list, once more too, and mirrors it', async () => {
    const { aclId } = await api.aList({ ACL: { Description: 'Plain list' } })
    const BackendID = await aBackend()
    const body = { Description: 'Ignored', BackendID, ParentID: aclId, Config }
    const { ID } = (await api.console.post('/admin/acls', body)).body.data
    expect(await aclOf(ID)).toMatchObject({
      Description: 'Plain list',
      ParentID: aclId,
      PassivePlus: 'child',
      HideFromUsers: true,
      HideFromAdmins: true,
    })
    const second = { ...body, Config: { panos: { EDLName: 'third' } } }
    expect((await api.console.post('/admin/acls', second)).status).toBe(201)
    expect((await api.read(aclId)).Firewalls).toMatchObject([
      { Hostname: 'fw3.example.com', EDLName: 'second-firewall' },
      { EDLName: 'third' },
    ])
    // Which of the two a Child means nobody could say.
    expect(errorOf(await put(aclId, { Child: {} }))).toEqual([422, 'err.invalidField', 'Child'])
    expect((await api.console.delete(`/admin/knocs/${aclId}`)).status).toBe(200)
    expect([await aclOf(ID), await api.findIn('/admin/backends', BackendID)]).toEqual([undefined, undefined])
  })

  it('never stands without a passive list above it, nor anything else below one', async () => {
    const { id, childId } = await api.aPlus()
    const BackendID = await aBackend()
    const ipset = (
      await api.console.post('/admin/backends', {
        Name: 'Sets',
        AgentID: api.agent.id,
        Config: { ipset: {} },
      })
    ).body.data.ID
    const sets = { BackendID: ipset, Config: { ipset: { V4SetName: 'below' } } }
    const { ID: setId } = (await api.console.post('/admin/acls', { Description: 'Set', ...sets })).body.data
    for (const body of [
      { BackendID, Config },
      { BackendID, Config, ParentID: childId },
      { BackendID, Config, ParentID: setId },
      { ...sets, ParentID: id },
    ])
      expect(errorOf(await api.console.post('/admin/acls', { Description: 'x', ...body }))).toEqual([
        422,
        'err.invalidField',
        'ParentID',
      ])
    for (const [of, ParentID] of [
      [childId, null],
      [setId, id],
    ] as const)
      expect(errorOf(await api.console.put(`/admin/acls/${of}`, { ParentID }))).toEqual([
        422,
        'err.invalidField',
        'ParentID',
      ])
  })

  it('takes its own settings, and leaves the rest to its parent', async () => {
    const { id, childId } = await api.aPlus()
    const { Config: own, Description, HideFromUsers } = await aclOf(childId)
    const change = (body: unknown) => api.console.put(`/admin/acls/${childId}`, body)
    expect(errorOf(await change({ Description: 'Own name' }))).toEqual([
      422,
      'err.invalidField',
      'Description',
    ])
    expect(errorOf(await change({ HideFromUsers: false }))).toEqual([
      422,
      'err.invalidField',
      'HideFromUsers',
    ])
    expect((await change({ ParentID: id, Description, HideFromUsers, Config: own })).status).toBe(200)
    expect((await change({ Config: { panos: { EDLName: 'by-itself' } } })).status).toBe(200)
    expect(await keyOf(childId)).toMatch(/:by-itself$/)
    expect((await api.console.put(`/admin/acls/${id}`, { Description: 'Told to both' })).status).toBe(200)
    expect(await aclOf(childId)).toMatchObject({ Description: 'Told to both', HideFromAdmins: true })
  })

  it('is refused where the firewall’s list fetches another passive list: it has one source', async () => {
    const one = await api.aPlus({ ACL: { Description: 'The source' } })
    const { Config } = (await api.read(one.childId)).ACL
    const taken = [409, 'err.targetTaken', 'The source']
    const before = await api.countAll()
    const Child = api.aChild({ acl: { Config } })
    expect(errorOf(await api.console.post('/admin/knocs', api.aBody({ Child })))).toEqual(taken)
    expect(await api.countAll()).toEqual(before)
    const two = await api.aPlus({
      Child: api.aChild({ backend: { Config: firewall({ Hostname: 'fw4.example.com' }) } }),
    })
    expect((await put(two.childId, { ACL: { Config } })).status).toBe(200)
    const { BackendID } = await api.read(two.childId)
    expect(errorOf(await put(two.childId, { Backend: { Config: firewall() } }))).toEqual(taken)
    const body = { Config: firewall() }
    expect(errorOf(await api.console.put(`/admin/backends/${BackendID}`, body))).toEqual(taken)
    expect(await keyOf(two.childId)).toContain('fw4.example.com')
    // The same list twice below one parent is one and the same.
    const again = { Description: 'x', BackendID, ParentID: two.id, Config }
    expect((await api.console.post('/admin/acls', again)).status).toBe(201)
  })

  it('follows its backend to another agent', async () => {
    const { childId } = await api.aPlus()
    const { BackendID } = await api.read(childId)
    const other = await api.aTeller()
    const move = (Config: unknown) =>
      api.console.put(`/admin/backends/${BackendID}`, { AgentID: other.id, Config })
    expect(errorOf(await move({ panos: { Hostname: 'fw.example.com' } }))).toEqual([
      409,
      'err.credentialsRequired',
      'ApiKey',
    ])
    expect((await move(firewall())).status).toBe(200)
    expect(await api.targetsOf(childId)).toMatchObject([{ agentId: other.id, state: 'active' }, {}])
  })
})

describe('deleting a Passive+ knoc', () => {
  it('takes all four rows, empties the list, and drains the firewall’s target at once', async () => {
    const { id, childId } = await api.aPlus()
    const holder = await aHolder(id)
    const key = (await keyOf(childId)) ?? ''
    const [parent, child] = [await api.read(id), await api.read(childId)]
    expect((await api.console.delete(`/admin/knocs/${id}`)).status).toBe(200)
    for (const aclId of [id, childId]) {
      expect((await api.console.get(`/admin/knocs/${aclId}`)).status).toBe(404)
      expect((await api.console.delete(`/admin/knocs/${aclId}`)).status).toBe(404)
      expect(await aclOf(aclId)).toBeUndefined()
    }
    for (const { BackendID } of [parent, child])
      expect(await api.findIn('/admin/backends', BackendID)).toBeUndefined()
    expect(await statesOf(key)).toEqual(['draining'])
    expect(await entriesOf(key)).toEqual([])
    expect(await entriesOf(`allowlist:${id}`)).toEqual([`${holder.address} closed`])
    const { ApiKeyId } = parent.AclConfig.allowlist
    expect(await api.db.selectFrom('apiKeys').select('scopes').where('id', '=', ApiKeyId).execute()).toEqual([
      { scopes: [] },
    ])
  })

  it('leaves a firewall’s backend that another knoc uses', async () => {
    const one = await api.aPlus()
    const { BackendID } = await api.read(one.childId)
    const { aclId } = await api.aList()
    const body = {
      Description: 'x',
      BackendID,
      ParentID: aclId,
      Config: { panos: { EDLName: 'of-another' } },
    }
    const second = (await api.console.post('/admin/acls', body)).body.data.ID
    await api.console.delete(`/admin/knocs/${one.id}`)
    expect(await api.findIn('/admin/backends', BackendID)).toMatchObject({
      ACLCount: 1,
      PassivePlus: 'child',
    })
    expect(await api.targetsOf(second)).toMatchObject([{ state: 'active' }, { state: 'active' }])
  })

  it('never leaves a child that was hung below it at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id, childId } = await api.aPlus()
      const { BackendID } = await api.read(childId)
      const body = {
        Description: 'x',
        BackendID,
        ParentID: id,
        Config: { panos: { EDLName: `race-${round}` } },
      }
      const [made, deleted] = await Promise.all([
        api.console.post('/admin/acls', body),
        api.console.delete(`/admin/knocs/${id}`),
      ])
      const left = (await api.rowsOf('/admin/acls')).filter(({ ParentID }) => ParentID === id)
      expect([made.status, deleted.status, left.length]).toSatisfy(
        ([create, remove, children]) =>
          (create === 422 && remove === 200 && children === 0) ||
          (create === 404 && remove === 200 && children === 0) ||
          (create === 201 && remove === 409 && children === 2) ||
          (create === 201 && remove === 200 && children === 0),
      )
    }
  })
})

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hpkeOpen } from '#server/backends/hpke.ts'
import { sealBindingText } from '#server/backends/sealing.schema.ts'
import { aUser, entitle } from '#tests/support/builders.ts'
import {
  anEnrolledAgent,
  aRegisteredAgent,
  type ConsoleApi,
  startConsoleApi,
  type TestAgent,
} from '#tests/support/console-api.ts'

let api: ConsoleApi
let agent: TestAgent
let ipsetId: string
let scriptId: string

beforeAll(async () => {
  api = await startConsoleApi()
  await api.license()
  agent = await anEnrolledAgent(api)
  const backend = async (Config: unknown) =>
    (await api.post('/admin/backends', { Name: 'b', AgentID: agent.id, Config })).body.data.ID
  ipsetId = await backend({ ipset: {} })
  scriptId = await backend({
    script: { Command: 'c', EnvVars: [{ Name: 'ZONE' }, { Name: 'KEY', Sensitive: true }] },
  })
})
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
const find = async (id: string) =>
  (await api.get('/admin/acls')).body.data.find((acl: { ID: string }) => acl.ID === id)
const make = (facts: Record<string, unknown>) =>
  api.post('/admin/acls', { Description: 'Door', BackendID: ipsetId, ...facts })
const madeId = async (facts: Record<string, unknown>): Promise<string> => {
  const { status, body } = await make(facts)
  expect([status, body]).toEqual([201, { data: { ID: expect.any(String) } }])
  return body.data.ID
}
const targetsOf = async (aclId: string) => {
  const { rows } = await sql<{ family: number; id: string; key: string; sealed: Record<string, string> }>`
    select a.family, t.id, t.key, t.sealed from acl_targets a join targets t on t.id = a.target_id
    where a.acl_id = ${aclId} order by a.family`.execute(api.db)
  return rows
}
const statesOf = async (key: string) => {
  const rows = await api.db
    .selectFrom('targets')
    .select('state')
    .where('key', '=', key)
    .orderBy('createdAt')
    .execute()
  return rows.map(({ state }) => state)
}

describe('making an ACL', () => {
  it('needs a licence, then a backend, then the right one', async () => {
    const body = { Description: 'x', BackendID: unknownId, Config: { ipset: { V4SetName: 's' } } }
    const empty = await startConsoleApi()
    expect(await empty.post('/admin/acls', body)).toMatchObject({ body: { Err: 'err.unlicensed' } })
    await empty.license()
    expect(await empty.post('/admin/acls', body)).toMatchObject({
      status: 409,
      body: { Err: 'err.createBackendBeforeACL' },
    })
    await empty.stop()
    expect(await api.post('/admin/acls', body)).toMatchObject({
      status: 422,
      body: { Err: 'err.noBackendSelected' },
    })
  })

  it('keeps every field as it was given', async () => {
    const fields = {
      Description: 'SSH to the lab',
      URL: 'ssh://lab',
      Category: 'Lab',
      Icon: 'terminal',
      ClickToGrant: true,
      CGNATOpen: true,
      HideFromUsers: true,
      HideFromAdmins: false,
      AutoBrowseUsers: true,
      MaximumGrantDuration: 28_800,
      IpExclusions: {
        RestrictionType: 'allowList',
        RfcType: 'deny',
        Ranges: [
          { Start: '203.0.113.0', End: '203.0.113.255' },
          { Start: '2001:db8::', End: '2001:db8::ff' },
        ],
      },
      GrantType: { Type: 'specifiedIps', Ips: [{ Ip: '198.51.100.1' }, { Ip: '2001:db8::1' }] },
      WhenServerSilent: 60,
      CutConnections: false,
      ForeignEntries: 'remove',
      Config: { ipset: { V4SetName: 'lab4', V6SetName: 'lab6' } },
    }
    const id = await madeId(fields)
    expect(await find(id)).toMatchObject({ ID: id, BackendID: ipsetId, ...fields })
    expect((await targetsOf(id)).map(({ family, key }) => [family, key])).toEqual([
      [4, `ipset:${agent.id}:lab4`],
      [6, `ipset:${agent.id}:lab6`],
    ])
    expect((await api.put(`/admin/acls/${id}`, { Description: 'Renamed' })).status).toBe(200)
    expect(await find(id)).toMatchObject({ ...fields, Description: 'Renamed' })
    expect((await api.put(`/admin/acls/${id}`, { IpExclusions: {}, GrantType: {}, URL: '' })).status).toBe(
      200,
    )
    expect(await find(id)).toMatchObject({
      URL: '',
      IpExclusions: { RestrictionType: 'none', Ranges: [] },
      GrantType: { Type: 'userIp', Ips: [] },
      MaximumGrantDuration: 28_800,
    })
  })

  it.each<[string, Record<string, unknown>, number, string, string]>([
    [
      'another type than its backend’s',
      { Config: { script: { Name: 'x' } } },
      422,
      'err.invalidField',
      'Config',
    ],
    ['no set', { Config: { ipset: {} } }, 422, 'err.ipsetNameRequired', 'Config.ipset.V4SetName'],
    [
      'a set’s name with a blank',
      { Config: { ipset: { V4SetName: 'a b' } } },
      422,
      'err.ipsetNameInvalid',
      'Config.ipset.V4SetName',
    ],
    [
      'a name of a wrong type',
      { Config: { ipset: { V4SetName: 1 } } },
      400,
      'err.badRequest',
      'Config.ipset.V4SetName',
    ],
    [
      'four minutes',
      { MaximumGrantDuration: 240 },
      422,
      'err.maximumGrantDurationInvalid',
      'MaximumGrantDuration',
    ],
    [
      'an allow list without ranges',
      { IpExclusions: { RestrictionType: 'allowList', Ranges: [{ Start: '', End: '' }] } },
      422,
      'err.invalidField',
      'IpExclusions.Ranges',
    ],
    [
      'a range of two families',
      { IpExclusions: { Ranges: [{ Start: '10.0.0.1', End: '::1' }] } },
      422,
      'err.invalidIpAddress',
      'IpExclusions.Ranges.0.End',
    ],
    [
      'a range the wrong way round',
      { IpExclusions: { Ranges: [{ Start: '10.0.0.10', End: '10.0.0.9' }] } },
      422,
      'err.invalidIpAddress',
      'IpExclusions.Ranges.0.End',
    ],
    [
      'half a range',
      { IpExclusions: { Ranges: [{ Start: '10.0.0.10', End: '' }] } },
      422,
      'err.invalidIpAddress',
      'IpExclusions.Ranges.0.End',
    ],
    [
      'no fixed address',
      { GrantType: { Type: 'specifiedIps' } },
      422,
      'err.invalidIpAddress',
      'GrantType.Ips',
    ],
    [
      'loopback as a fixed address',
      { GrantType: { Type: 'specifiedIps', Ips: [{ Ip: '127.0.0.1' }] } },
      422,
      'err.invalidIpAddress',
      'GrantType.Ips.0.Ip',
    ],
    [
      'a proxy’s address as a fixed one',
      { GrantType: { Type: 'specifiedIps', Ips: [{ Ip: '198.51.100.1' }, { Ip: '::ffff:192.0.2.99' }] } },
      422,
      'err.invalidIpAddress',
      'GrantType.Ips.1.Ip',
    ],
    ['a parent that isn’t there', { ParentID: unknownId }, 422, 'err.invalidField', 'ParentID'],
  ])('refuses %s', async (_, facts, status, Err, Extra) => {
    const answer = await make({
      Description: 'refused',
      Config: { ipset: { V4SetName: 'refused' } },
      ...facts,
    })
    expect(answer).toMatchObject({ status, body: { Err, Extra } })
    expect((await api.get('/admin/acls?search=refused')).body.data).toEqual([])
  })
})

describe('a list', () => {
  it('is one target, whatever ACLs name it, and drains with the last of them', async () => {
    const key = `ipset:${agent.id}:shared`
    const [one, two] = [
      await madeId({ Config: { ipset: { V4SetName: 'shared' } } }),
      await madeId({ Config: { ipset: { V4SetName: 'shared' } } }),
    ]
    expect(await targetsOf(one)).toEqual(await targetsOf(two))
    await api.put(`/admin/acls/${one}`, { Config: { ipset: { V4SetName: 'other' } } })
    expect(await statesOf(key)).toEqual(['active'])
    await api.delete(`/admin/acls/${two}`)
    expect(await statesOf(key)).toEqual(['draining'])
    await api.put(`/admin/acls/${one}`, { Config: { ipset: { V4SetName: 'shared' } } })
    expect(await statesOf(key)).toEqual(['draining', 'active'])
  })

  it('is made once by ACLs that are saved at the same moment', async () => {
    const ids = await Promise.all(
      Array.from({ length: 6 }, () =>
        madeId({ Config: { ipset: { V4SetName: 'rush', V6SetName: 'rush6' } } }),
      ),
    )
    expect(await statesOf(`ipset:${agent.id}:rush`)).toEqual(['active'])
    const targets = await Promise.all(ids.map(targetsOf))
    expect(new Set(targets.map((list) => JSON.stringify(list))).size).toBe(1)
    await Promise.all(ids.map((id) => api.delete(`/admin/acls/${id}`)))
    expect(await statesOf(`ipset:${agent.id}:rush`)).toEqual(['draining'])
  })

  it('is never left without an owner when one ACL leaves as another comes', async () => {
    for (let round = 0; round < 5; round += 1) {
      const leaving = await madeId({ Config: { ipset: { V4SetName: 'swap' } } })
      const [, coming] = await Promise.all([
        api.delete(`/admin/acls/${leaving}`),
        madeId({ Config: { ipset: { V4SetName: 'swap' } } }),
      ])
      const [target] = await targetsOf(coming)
      const row = await api.db
        .selectFrom('targets')
        .select('state')
        .where('id', '=', target?.id ?? '')
        .executeTakeFirst()
      expect(row?.state).toBe('active')
      await api.delete(`/admin/acls/${coming}`)
    }
  })

  it('is refused with other settings than the knoc that has it', async () => {
    const script = (KEY: string, ZONE: string) => ({
      BackendID: scriptId,
      Config: { script: { Name: 'gate', EnvVars: { KEY: { Value: KEY }, ZONE: { Value: ZONE } } } },
    })
    await madeId({ Description: 'First gate', ...script('a', 'east') })
    expect(await make(script('a', 'west'))).toMatchObject({
      status: 409,
      body: { Err: 'err.targetTaken', Extra: 'First gate' },
    })
  })
})

describe('a sensitive variable', () => {
  const config = (EnvVars: Record<string, unknown>) => ({
    BackendID: scriptId,
    Config: { script: { Name: 'sealed', EnvVars } },
  })

  it('is sealed to its agent, bound to what it is for, and never read again', async () => {
    const id = await madeId(config({ KEY: { Value: 's3cret-värde' }, ZONE: { Value: 'north' } }))
    expect((await find(id)).Config.script.EnvVars).toEqual({
      KEY: { Value: '', Encrypted: true },
      ZONE: { Value: 'north', Encrypted: false },
    })
    const [target] = await targetsOf(id)
    const field = 'list.EnvVars.KEY'
    const binding = {
      agentId: agent.id,
      backendId: scriptId,
      type: 'script',
      device: '',
      insecure: false,
      field,
    }
    const open = (changed: Partial<typeof binding>) =>
      hpkeOpen(Buffer.from(target?.sealed[field] ?? '', 'base64'), {
        recipient: agent.sealing,
        info: Buffer.from(sealBindingText({ ...binding, ...changed })),
        aad: Buffer.alloc(0),
      }).toString('utf8')
    expect(open({})).toBe('s3cret-värde')
    for (const changed of [
      { backendId: unknownId },
      { device: 'https://evil' },
      { insecure: true },
      { field: 'list.EnvVars.ZONE' },
    ])
      expect(() => open(changed)).toThrow()
    const { rows } = await sql<{ text: string }>`
      select (select string_agg(a::text, '') from acls a) || (select string_agg(t::text, '') from targets t)
        || (select string_agg(e::text, '') from audit_events e) as text`.execute(api.db)
    expect(rows[0]?.text).not.toContain('s3cret')

    const before = await targetsOf(id)
    await api.put(
      `/admin/acls/${id}`,
      config({ KEY: { Value: '', Encrypted: true }, ZONE: { Value: 'north' } }),
    )
    expect(await targetsOf(id)).toEqual(before)
    await api.put(`/admin/acls/${id}`, config({ KEY: { Value: 'n3w' }, ZONE: { Value: 'north' } }))
    const [after] = await targetsOf(id)
    expect(after?.id).not.toBe(before[0]?.id)
    expect(await statesOf(after?.key ?? '')).toEqual(['draining', 'active'])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['without a value', { KEY: { Value: '' } }, 'err.invalidField'],
    ['with the word for a recorded one', { KEY: { Value: 'RECORDED' } }, 'err.invalidField'],
    ['that the backend doesn’t declare', { OTHER: { Value: 'x' } }, 'err.invalidEnvVarName'],
    ['by a reserved name', { knoc_x: { Value: 'x' } }, 'err.invalidEnvVarName'],
    ['without a name', { '': { Value: 'x' } }, 'err.emptyEnvVarName'],
  ])('is refused %s', async (_, EnvVars, Err) => {
    expect(await make(config(EnvVars))).toMatchObject({ status: 422, body: { Err } })
  })

  it('can’t be sealed before the agent’s first connection', async () => {
    const waiting = await aRegisteredAgent(api)
    const backend = await api.post('/admin/backends', {
      Name: 'waiting',
      AgentID: waiting.id,
      Config: { script: { Command: 'c', EnvVars: [{ Name: 'KEY', Sensitive: true }] } },
    })
    const acl = { ...config({ KEY: { Value: 'x' } }), BackendID: backend.body.data.ID }
    expect(await make(acl)).toMatchObject({ status: 409, body: { Err: 'err.agentNeverConnected' } })
  })
})

describe('deleting an ACL', () => {
  it('takes its memberships and key scopes along', async () => {
    const id = await madeId({ Config: { ipset: { V4SetName: 'gone' } } })
    const userId = await aUser(api.db)
    await entitle(api.db, userId, id)
    await api.db
      .insertInto('apiKeys')
      .values({
        name: 'k',
        purpose: 'allowlists',
        keyHash: 'h',
        scopes: [`allowlists.read:${id}`, 'allowlists.read:x'],
      })
      .execute()
    expect((await api.delete(`/admin/acls/${id}`)).status).toBe(200)
    expect(await find(id)).toBeUndefined()
    expect(await api.db.selectFrom('userAcls').select('userId').where('aclId', '=', id).execute()).toEqual([])
    expect(await api.db.selectFrom('apiKeys').select('scopes').execute()).toEqual([
      { scopes: ['allowlists.read:x'] },
    ])
    expect((await api.delete(`/admin/acls/${id}`)).status).toBe(404)
    expect((await api.put(`/admin/acls/${id}`, { Description: 'x' })).status).toBe(404)
  })

  it('is refused for a parent and a child alone', async () => {
    const parent = await madeId({ Config: { ipset: { V4SetName: 'parent' } } })
    const child = await madeId({ Config: { ipset: { V4SetName: 'child' } }, ParentID: parent })
    for (const id of [parent, child])
      expect(await api.delete(`/admin/acls/${id}`)).toMatchObject({ body: { Err: 'err.detachAcls' } })
  })
})

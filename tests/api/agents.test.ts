import { generateKeyPairSync } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authenticateLink, type LinkVerdict } from '#server/agents/link-authentication.ts'
import {
  able,
  anEnrolledAgent,
  aRegisteredAgent,
  type ConsoleApi,
  linkRequest,
  startConsoleApi,
  toSpki,
} from '#tests/support/console-api.ts'

let api: ConsoleApi
beforeAll(async () => {
  api = await startConsoleApi()
  await api.license()
})
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
const columns = (id: string) =>
  api.db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const find = async (id: string) =>
  (await api.get('/admin/agents')).body.data.find((agent: { ID: string }) => agent.ID === id)

describe('registering an agent', () => {
  it('gives a token that only the agent’s own page shows, with the command that uses it', async () => {
    const { status, body } = await api.post('/admin/agents', { Name: ' edge-1 ' })
    expect(status).toBe(201)
    const { ID, Token } = body.data
    expect(Token).toMatch(/^[\w-]{43}$/)
    expect(await find(ID)).toMatchObject({
      Name: 'edge-1',
      Token: '',
      LastSeen: null,
      Online: false,
      EnrolledAt: null,
      Capabilities: null,
      Backends: [],
      Debts: 0,
      Conflict: false,
    })
    const detail = (await api.get(`/admin/agents/${ID}`)).body.data
    expect(detail.Token).toBe(Token)
    expect(detail.InstallCommand).toContain(`--server https://knoc.example --token ${Token} `)
    const days = (Date.parse(detail.TokenExpires) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(6.99)
    expect(days).toBeLessThan(7.01)
    const stored = JSON.stringify(await columns(ID))
    expect(stored).not.toContain(Token)
  })

  it('refuses a name that is taken, whatever its case, and what is no name', async () => {
    await api.post('/admin/agents', { Name: 'Taken' })
    expect(await api.post('/admin/agents', { Name: 'tAKEN' })).toMatchObject({
      status: 409,
      body: { Err: 'err.agentNameTaken' },
    })
    expect(await api.post('/admin/agents', { Name: '  ' })).toMatchObject({
      status: 422,
      body: { Extra: 'Name' },
    })
    expect(await api.post('/admin/agents', { Name: 7 })).toMatchObject({ status: 400 })
    expect(await api.post('/admin/agents', { Name: 'x', Token: 'mine' })).toMatchObject({ status: 400 })
  })

  it('lists by page, sorted by version as numbers, and finds by name and address', async () => {
    for (const [name, version, address] of [
      ['sorted-a', '2.10.0', '203.0.113.1'],
      ['sorted-b', '2.9.0', '203.0.113.2'],
      ['sorted-c%', null, null],
    ] as const)
      await api.db.insertInto('agents').values({ name, version, externalIp: address }).execute()
    const names = async (query: string) => {
      const { body } = await api.get(`/admin/agents?${query}`)
      return [body.data.map((agent: { Name: string }) => agent.Name), body.total]
    }
    expect(await names('search=sorted&sort=-Version&limit=2')).toEqual([['sorted-a', 'sorted-b'], 3])
    expect(await names('search=sorted&sort=Version&limit=2&offset=2')).toEqual([['sorted-a'], 3])
    expect(await names('search=113.2')).toEqual([['sorted-b'], undefined])
    expect(await names(`search=${encodeURIComponent('c%')}`)).toEqual([['sorted-c%'], undefined])
    expect(await api.get('/admin/agents?sort=Token')).toMatchObject({ status: 422, body: { Extra: 'sort' } })
  })
})

describe('changing and deleting an agent', () => {
  it('renames it', async () => {
    const { id } = await aRegisteredAgent(api)
    expect((await api.put(`/admin/agents/${id}`, { ID: id, Name: 'renamed' })).status).toBe(200)
    expect(await find(id)).toMatchObject({ Name: 'renamed' })
    expect(await api.put(`/admin/agents/${id}`, { ID: unknownId, Name: 'x' })).toMatchObject({
      body: { Err: 'err.mismatchingIDs' },
    })
    expect(await api.put(`/admin/agents/${id}`, { Name: 'Taken' })).toMatchObject({
      body: { Err: 'err.agentNameTaken' },
    })
    expect((await api.put(`/admin/agents/${unknownId}`, { Name: 'x' })).status).toBe(404)
  })

  it('is refused with backends, and ends the link without', async () => {
    const { id } = await anEnrolledAgent(api)
    const backend = await api.post('/admin/backends', { Name: 'b', AgentID: id, Config: { ipset: {} } })
    expect(await api.delete(`/admin/agents/${id}`)).toMatchObject({
      status: 409,
      body: { Err: 'err.detachBackends' },
    })
    await api.delete(`/admin/backends/${backend.body.data.ID}`)
    expect((await api.delete(`/admin/agents/${id}`)).status).toBe(200)
    expect(api.dropped).toContain(id)
    expect(await find(id)).toBeUndefined()
    expect((await api.get(`/admin/agents/${id}`)).status).toBe(404)
    expect((await api.delete(`/admin/agents/${id}`)).status).toBe(404)
  })

  it('shows whether its link is held by a replica that lives', async () => {
    const { id } = await anEnrolledAgent(api)
    await sql`insert into replicas (id, host_name, version) values ('r1', 'h', '2.0.0')`.execute(api.db)
    await api.db.updateTable('agents').set({ linkReplica: 'r1' }).where('id', '=', id).execute()
    expect(await find(id)).toMatchObject({ Online: true })
    await sql`update replicas set seen_at = now() - interval '7 seconds' where id = 'r1'`.execute(api.db)
    expect(await find(id)).toMatchObject({ Online: false })
  })
})

describe('enrolling', () => {
  it('binds the agent to the first key pair, answers it again, and refuses another', async () => {
    const agent = await aRegisteredAgent(api)
    expect(await api.post('/agent/enrol', agent.enrolment)).toMatchObject({
      status: 200,
      body: { data: { AgentID: agent.id } },
    })
    expect(await api.post('/agent/enrol', agent.enrolment)).toMatchObject({ status: 200 })
    const other = toSpki(generateKeyPairSync('ed25519').publicKey)
    expect(await api.post('/agent/enrol', { ...agent.enrolment, PublicKey: other })).toMatchObject({
      status: 409,
      body: { Err: 'err.agentKeyMismatch' },
    })
    expect(await api.post('/agent/enrol', { ...agent.enrolment, MachineID: 'copy' })).toMatchObject({
      status: 409,
      body: { Err: 'err.agentConflict' },
    })
    expect(await columns(agent.id)).toMatchObject({ publicKey: agent.enrolment.PublicKey, tokenSealed: null })
    const detail = (await api.get(`/admin/agents/${agent.id}`)).body.data
    expect(detail).toMatchObject({ Token: '', InstallCommand: '', TokenExpires: null })
    expect(detail.EnrolledAt).not.toBeNull()
  })

  it('lets one of two machines with one token in', async () => {
    const agent = await aRegisteredAgent(api)
    const twin = { ...agent.enrolment, PublicKey: toSpki(generateKeyPairSync('ed25519').publicKey) }
    const answers = await Promise.all([
      api.post('/agent/enrol', agent.enrolment),
      api.post('/agent/enrol', twin),
    ])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  })

  it('refuses tokens that are wrong, expired, replaced or of a deleted agent', async () => {
    const wrong = { status: 401, body: { Err: 'err.invalidToken' } }
    const agent = await aRegisteredAgent(api)
    expect(await api.post('/agent/enrol', { ...agent.enrolment, Token: 'x'.repeat(43) })).toMatchObject(wrong)
    await sql`update agents set token_expires_at = now() - interval '1 s' where id = ${agent.id}`.execute(
      api.db,
    )
    expect(await api.post('/agent/enrol', agent.enrolment)).toMatchObject(wrong)
    expect((await api.get(`/admin/agents/${agent.id}`)).body.data).toMatchObject({ Token: '' })
    const renewed = (await api.post(`/admin/agents/${agent.id}/token`, {})).body.data.Token
    expect(await api.post('/agent/enrol', agent.enrolment)).toMatchObject(wrong)
    expect((await api.post('/agent/enrol', { ...agent.enrolment, Token: renewed })).status).toBe(200)
    const gone = await aRegisteredAgent(api)
    await api.delete(`/admin/agents/${gone.id}`)
    expect(await api.post('/agent/enrol', gone.enrolment)).toMatchObject(wrong)
  })

  it.each([
    ['PublicKey', () => toSpki(generateKeyPairSync('x25519').publicKey)],
    ['SealingKey', () => toSpki(generateKeyPairSync('ed25519').publicKey)],
    ['PublicKey', () => 'AAAA'],
    [
      'SealingKey',
      () =>
        Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.alloc(32)]).toString('base64'),
    ],
  ])('refuses a %s that is none', async (field, make) => {
    const agent = await aRegisteredAgent(api)
    expect(await api.post('/agent/enrol', { ...agent.enrolment, [field]: make() })).toMatchObject({
      status: 422,
      body: { Extra: field },
    })
    expect(await columns(agent.id)).toMatchObject({ publicKey: null })
  })

  it('counts wrong tokens by address and lets nobody else wait for them', async () => {
    const agent = await aRegisteredAgent(api)
    const wrong = { ...agent.enrolment, Token: 'y'.repeat(43) }
    const from = { peer: '203.0.113.77' }
    for (let i = 0; i < 20; i += 1) expect((await api.post('/agent/enrol', wrong, from)).status).toBe(401)
    expect(await api.post('/agent/enrol', agent.enrolment, from)).toMatchObject({
      status: 429,
      body: { Err: 'err.tooManyRequests' },
    })
    expect((await api.post('/agent/enrol', agent.enrolment)).status).toBe(200)
  })
})

describe('a new token for an enrolled agent', () => {
  it('has to be confirmed, voids its keys and asks for the secrets again', async () => {
    const agent = await anEnrolledAgent(api)
    const knoc = await api.post('/admin/knocs', {
      Backend: {
        AgentID: agent.id,
        Config: { script: { Command: 'open-door', EnvVars: [{ Name: 'TOKEN', Sensitive: true }] } },
      },
      ACL: {
        Description: 'Door',
        Config: { script: { Name: 'door', EnvVars: { TOKEN: { Value: 's3cret' } } } },
      },
    })
    expect(knoc.status).toBe(201)
    expect(await api.post(`/admin/agents/${agent.id}/token`, {})).toMatchObject({
      status: 422,
      body: { Extra: 'Confirm' },
    })
    expect(await columns(agent.id)).toMatchObject({ publicKey: agent.enrolment.PublicKey })
    const { status, body } = await api.post(`/admin/agents/${agent.id}/token`, { Confirm: true })
    expect(status).toBe(200)
    expect(api.dropped).toContain(agent.id)
    const [backend] = (await api.get('/admin/backends?search=Door')).body.data
    expect(backend).toMatchObject({ NeedsCredentials: true })
    expect(await verdictOf(await linkRequest(api, agent))).toEqual({ refused: 'unknownAgent' })

    const fresh = {
      ...agent.enrolment,
      Token: body.data.Token,
      SealingKey: toSpki(generateKeyPairSync('x25519').publicKey),
    }
    expect((await api.post('/agent/enrol', fresh)).status).toBe(200)
    const { ID } = knoc.body.data
    const before = (await api.get(`/admin/knocs/${ID}`)).body.data
    expect(await api.put(`/admin/knocs/${ID}`, { Backend: before.Backend, ACL: before.ACL })).toMatchObject({
      status: 409,
      body: { Err: 'err.credentialsRequired' },
    })
    before.ACL.Config.script.EnvVars.TOKEN.Value = 'n3w'
    expect((await api.put(`/admin/knocs/${ID}`, { Backend: before.Backend, ACL: before.ACL })).status).toBe(
      200,
    )
    expect((await api.get('/admin/backends?search=Door')).body.data[0]).toMatchObject({
      NeedsCredentials: false,
    })
  })
})

const verdictOf = (headers: Headers): Promise<LinkVerdict> =>
  authenticateLink({ db: api.db, sealer: api.deps.sealer, server: api.deps.config.publicUrl }, headers)

describe('an agent’s link', () => {
  it('opens for the enrolled agent, each nonce once', async () => {
    const agent = await anEnrolledAgent(api)
    const headers = await linkRequest(api, agent)
    const answers = await Promise.all([verdictOf(headers), verdictOf(headers), verdictOf(headers)])
    const opened = answers.filter((answer) => 'agentId' in answer)
    expect(opened).toEqual([{ agentId: agent.id, protocol: { min: 1, max: 1 } }])
    expect(await verdictOf(headers)).toEqual({ refused: 'staleNonce' })
    expect(await verdictOf(await linkRequest(api, agent))).toMatchObject({ agentId: agent.id })
  })

  it('refuses a nonce older than the last one used, and one older than 30 s', async () => {
    const agent = await anEnrolledAgent(api)
    const older = await linkRequest(api, agent)
    const newer = await linkRequest(api, agent)
    expect(await verdictOf(newer)).toMatchObject({ agentId: agent.id })
    expect(await verdictOf(older)).toEqual({ refused: 'staleNonce' })
    const { rows } = await sql<{ us: number }>`
      select (extract(epoch from clock_timestamp() - interval '31 s') * 1000000)::bigint as us`.execute(
      api.db,
    )
    const us = rows[0]?.us ?? 0
    const nonce = `${us}.${api.deps.sealer.hmac('agent link nonce', `${agent.id}\n${us}`)}`
    await api.db.updateTable('agents').set({ lastNonceAt: null }).where('id', '=', agent.id).execute()
    expect(await verdictOf(await linkRequest(api, agent, { nonce }))).toEqual({ refused: 'staleNonce' })
  })

  it.each([
    ['another server’s name', { server: 'https://other.example' }, 'badSignature'],
    ['a foreign signature', { signature: Buffer.alloc(64).toString('base64') }, 'badSignature'],
    ['a made-up nonce', { nonce: `1700000000000000.${'0'.repeat(64)}` }, 'staleNonce'],
    ['no nonce at all', { nonce: 'x' }, 'staleNonce'],
    ['a protocol nobody speaks', { protocol: '7-9' }, 'unsupportedProtocol'],
    ['a protocol range the wrong way round', { protocol: '2-1' }, 'badRequest'],
    ['an unknown id', { agent: unknownId }, 'unknownAgent'],
    ['an id that is none', { agent: 'x' }, 'badRequest'],
  ])('refuses %s', async (_, changed, refused) => {
    const agent = await anEnrolledAgent(api)
    const asked = 'agent' in changed && changed.agent === 'x' ? { ...changed, agent: unknownId } : changed
    const headers = await linkRequest(api, agent, asked)
    if (asked !== changed) headers.set('x-knoc-agent', 'x')
    expect(await verdictOf(headers)).toEqual({ refused })
  })

  it('refuses one without headers, and a nonce drawn for another agent', async () => {
    expect(await verdictOf(new Headers())).toEqual({ refused: 'badRequest' })
    const [one, two] = [await anEnrolledAgent(api), await anEnrolledAgent(api)]
    const { body } = await api.post('/agent/challenge', { AgentID: two.id })
    expect(await verdictOf(await linkRequest(api, one, { nonce: body.data.Nonce }))).toEqual({
      refused: 'staleNonce',
    })
  })

  it('refuses a clone, alarms once, and keeps the enrolled machine’s link', async () => {
    const agent = await anEnrolledAgent(api, { name: 'cloned' })
    for (let i = 0; i < 2; i += 1)
      expect(await verdictOf(await linkRequest(api, agent, { machine: 'copy' }))).toEqual({
        refused: 'conflict',
      })
    expect(await find(agent.id)).toMatchObject({ Conflict: true })
    const alarms = (await api.audit()).filter(({ kind }) => kind === 'AgentConflict')
    expect(alarms).toEqual([{ kind: 'AgentConflict', fields: { AgentName: 'cloned' } }])
    expect(await verdictOf(await linkRequest(api, agent))).toMatchObject({ agentId: agent.id })
  })

  it('tells a deleted agent that it is unknown', async () => {
    const agent = await anEnrolledAgent(api, { capabilities: able })
    await api.delete(`/admin/agents/${agent.id}`)
    expect(await verdictOf(await linkRequest(api, agent))).toEqual({ refused: 'unknownAgent' })
  })
})

import { randomUUID } from 'node:crypto'
import type { Insertable } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DB } from '#server/platform/database.types.ts'
import { hashToken, newToken } from '#server/platform/random.ts'
import { aKnoc, anAgent, entitle } from '#tests/support/builders.ts'
import { machineApiOf } from '#tests/support/machine-api.ts'
import { type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { aLicence, aUser, auditOf, signedIn, signedInAdmin } from '#tests/support/people-builders.ts'

const proxy = '203.0.113.80'
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const basic = (user: string, key: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`,
})

let api: PeopleApi
let ask: ReturnType<typeof machineApiOf>
beforeAll(async () => {
  api = await startPeopleApi({ KNOC_TRUSTED_PROXIES: proxy })
  ask = machineApiOf(api)
  await aLicence(api)
})
afterAll(() => api.stop())

/** An apikey user with a key of purpose user_auth, good from anywhere unless the columns say otherwise. */
async function aMachine(
  columns: Partial<Insertable<DB['apiKeys']>> = {},
  user: Partial<Insertable<DB['users']>> = {},
) {
  const { id, userName } = await aUser(api, { authType: 'apikey', passwordHash: null, ...user })
  const key = newToken()
  const name = `Key ${randomUUID()}`
  const { id: keyId } = await api.db
    .insertInto('apiKeys')
    .values({
      name,
      purpose: 'user_auth',
      keyHash: hashToken(key),
      scopes: [`user.auth:${id}`],
      userId: id,
      ...columns,
      allowedFrom: columns.allowedFrom ?? JSON.stringify([{ prefix: '0.0.0.0/0' }, { prefix: '::/0' }]),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, userName, key, keyId, name }
}

const signIn = (
  key: string,
  { peer, headers = {} }: { peer?: string; headers?: Record<string, string> } = {},
) => ask('POST', '/v1/user_auth', { headers: { ...bearer(key), ...headers }, ...(peer && { peer }) })

async function aToken(machine: { key: string }, options: Parameters<typeof signIn>[1] = {}): Promise<string> {
  const { status, body } = await signIn(machine.key, options)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data.Token
}

const sessionsOf = (userId: string) =>
  api.db.selectFrom('sessions').selectAll().where('userId', '=', userId).orderBy('createdAt').execute()
const keyOf = (id: string) =>
  api.db.selectFrom('apiKeys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const failuresOf = async (name: string) => {
  const rows = await api.db.selectFrom('auditEvents').selectAll().where('kind', '=', 'LoginFailed').execute()
  return rows.map(({ detail }) => detail as Record<string, string>).filter((detail) => detail.apiKey === name)
}
const liveGrants = (userId: string) =>
  api.db
    .selectFrom('grants')
    .select(['aclId', 'sessionId', 'endsAt'])
    .where('userId', '=', userId)
    .where('endedAt', 'is', null)
    .execute()

async function anEntry(userId: string, columns: Parameters<typeof aKnoc>[1] | object = {}): Promise<string> {
  const { aclId } = await aKnoc(api.db, { agentId: await anAgent(api.db), clickToGrant: false, ...columns })
  await entitle(api.db, userId, aclId)
  return aclId
}

describe('POST /api/v1/user_auth', () => {
  it('makes a session of kind machine with its grants, and tells its token once', async () => {
    const machine = await aMachine()
    const aclId = await anEntry(machine.id)
    const { status, body, cookies } = await signIn(machine.key)
    expect([status, Object.keys(body), Object.keys(body.data)]).toEqual([200, ['data'], ['Token', 'Ends']])
    expect(body.data.Token).toMatch(/^[\w-]{43}$/)
    expect(cookies).toEqual([])
    const [session] = await sessionsOf(machine.id)
    expect(session).toMatchObject({
      kind: 'machine',
      stage: 'complete',
      tokenHash: hashToken(body.data.Token),
      apiKeyId: machine.keyId,
    })
    expect(session?.endsAt.toISOString()).toBe(body.data.Ends)
    expect(await liveGrants(machine.id)).toMatchObject([{ aclId, sessionId: session?.id }])
    expect((await keyOf(machine.keyId)).lastUsedAt).toBeInstanceOf(Date)
    const events = await auditOf(api, machine.userName)
    expect(events.map(({ kind }) => kind)).toEqual(['LoginUser', 'CreateGrant'])
    expect(JSON.stringify([events, session])).not.toContain(body.data.Token)
    expect(JSON.stringify([events, session])).not.toContain(machine.key)
  })

  it('takes the key as Bearer, or as the password of HTTP basic with any user name', async () => {
    const machine = await aMachine()
    for (const headers of [bearer(machine.key), basic('', machine.key), basic('whoever', machine.key)])
      expect((await ask('POST', '/v1/user_auth', { headers })).status).toBe(200)
    const inverse = { Authorization: `Basic ${Buffer.from(machine.key).toString('base64')}` }
    expect((await ask('POST', '/v1/user_auth', { headers: inverse })).status).toBe(401)
  })

  it('wants a body that is missing or {}', async () => {
    const { key } = await aMachine()
    const headers = bearer(key)
    expect((await ask('POST', '/v1/user_auth', { headers, json: {} })).status).toBe(200)
    const unknown = await ask('POST', '/v1/user_auth', { headers, json: { UserName: 'x' } })
    expect([unknown.status, unknown.body]).toEqual([400, { Err: 'err.badRequest', Extra: 'UserName' }])
    for (const raw of ['{', '[]', 'null', '"x"'])
      expect((await ask('POST', '/v1/user_auth', { headers, raw })).status, raw).toBe(400)
    const foreign = await ask('POST', '/v1/user_auth', {
      headers: { ...headers, Origin: 'https://evil.example' },
    })
    expect([foreign.status, foreign.body.Err]).toEqual([403, 'err.foreignOrigin'])
  })

  it('answers the same 401 to a key that is missing, unknown, deleted or past its end', async () => {
    const past = new Date(Date.now() - 1000)
    const deleted = await aMachine({ deletedAt: past })
    const expired = await aMachine({ expiredAfter: past })
    const answers = [
      await ask('POST', '/v1/user_auth'),
      await ask('POST', '/v1/user_auth', { headers: basic('x', '') }),
      await signIn(newToken()),
      await signIn(deleted.key),
      await signIn(expired.key),
    ]
    for (const { status, body } of answers)
      expect([status, body]).toEqual([401, { Err: 'err.invalidApiKey' }])
    expect(await failuresOf(deleted.name)).toMatchObject([{ reason: 'deleted', apiKeyId: deleted.keyId }])
    expect(await failuresOf(expired.name)).toMatchObject([{ reason: 'expired' }])
    expect(await sessionsOf(expired.id)).toEqual([])
    expect((await keyOf(expired.keyId)).lastUsedAt).toBeNull()
  })

  it('refuses a key of another purpose, without the scope, or for another user', async () => {
    const other = await aMachine()
    for (const columns of [
      { purpose: 'user_sessions' },
      { scopes: [] },
      { scopes: ['user.sessions'] },
      { scopes: [`user.auth:${other.id}`] },
      { userId: null },
    ]) {
      const machine = await aMachine(columns)
      const { status, body } = await signIn(machine.key)
      expect([status, body]).toEqual([403, { Err: 'err.apiKeyNotPermitted' }])
      expect(await failuresOf(machine.name)).toMatchObject([{ reason: 'wrongPurpose' }])
    }
    expect(await sessionsOf(other.id)).toEqual([])
  })

  it('refuses an address outside AllowedFrom, of either family, and says which', async () => {
    const allowedFrom = JSON.stringify([{ prefix: '198.51.100.0/24' }, { prefix: '2001:db8:1::/48' }])
    for (const peer of ['198.51.100.200', '::ffff:198.51.100.9', '2001:db8:1:2::3'])
      expect((await signIn((await aMachine({ allowedFrom })).key, { peer })).status, peer).toBe(200)
    for (const [peer, seen] of [
      ['198.51.101.1', '198.51.101.1'],
      ['::ffff:203.0.113.9', '203.0.113.9'],
      ['2001:db8:2::1', '2001:db8:2::1'],
    ] as const) {
      const machine = await aMachine({ allowedFrom })
      const { status, body } = await signIn(machine.key, { peer })
      expect([status, body]).toEqual([403, { Err: 'err.addressNotAllowed', Extra: seen }])
      expect(await failuresOf(machine.name)).toMatchObject([{ reason: 'foreignAddress' }])
      expect(await sessionsOf(machine.id)).toEqual([])
    }
    const nowhere = await aMachine({ allowedFrom: '[]' })
    expect((await signIn(nowhere.key)).body.Err).toBe('err.addressNotAllowed')
  })

  it('goes by the address that a trusted proxy tells, and refuses a request through any other', async () => {
    const allowedFrom = JSON.stringify([{ prefix: '192.0.2.5/32' }, { prefix: '198.51.100.0/24' }])
    const machine = await aMachine({ allowedFrom })
    const headers = { 'X-Forwarded-For': '192.0.2.5' }
    expect((await signIn(machine.key, { peer: proxy, headers })).status).toBe(200)
    const { status, body } = await signIn(machine.key, { peer: '198.51.100.7', headers })
    expect([status, body]).toEqual([403, { Err: 'err.proxyNotTrusted', Extra: '198.51.100.7' }])
    const forged = { 'X-Forwarded-For': '192.0.2.5, 203.0.113.1' }
    expect((await signIn(machine.key, { peer: proxy, headers: forged })).body.Err).toBe(
      'err.addressNotAllowed',
    )
  })

  it('refuses a user who is disabled, past ValidUntil, deleted, or no apikey user any more', async () => {
    const past = new Date(Date.now() - 1000)
    for (const [columns, status, Err, reason] of [
      [{ loginEnabled: false }, 403, 'err.accountDisabled', 'accountDisabled'],
      [{ validUntil: past }, 403, 'err.accountDisabled', 'accountDisabled'],
      [{ deletedAt: past }, 401, 'err.invalidApiKey', 'userDeleted'],
      [{ authType: 'local' }, 403, 'err.loginNotPermitted', 'notAnApiKeyUser'],
    ] as const) {
      const machine = await aMachine({}, columns)
      const answer = await signIn(machine.key)
      expect([answer.status, answer.body]).toEqual([status, { Err }])
      expect(await failuresOf(machine.name)).toMatchObject([{ reason }])
      expect(await sessionsOf(machine.id)).toEqual([])
    }
  })

  it('ends at the earlier of the session minutes and ValidUntil', async () => {
    const minutes = await aMachine({}, { sessionMinutes: 7 })
    const { body } = await signIn(minutes.key)
    expect(Math.abs(Date.parse(body.data.Ends) - Date.now() - 7 * 60_000)).toBeLessThan(30_000)
    const validUntil = new Date(Date.now() + 60_000)
    const short = await aMachine({}, { validUntil })
    expect((await signIn(short.key)).body.data.Ends).toBe(validUntil.toISOString())
  })

  it('ends the oldest session above the session limit', async () => {
    const machine = await aMachine({}, { sessionLimit: 2 })
    const tokens = [await aToken(machine), await aToken(machine), await aToken(machine)]
    const statuses = []
    for (const token of tokens)
      statuses.push((await ask('GET', '/status', { headers: bearer(token) })).status)
    expect(statuses).toEqual([401, 200, 200])
    expect((await sessionsOf(machine.id)).map(({ endedReason }) => endedReason)).toEqual([
      'sessionLimit',
      null,
      null,
    ])
  })

  it('goes on from the session it replaces: what was open stays, clicks too, and that session ends', async () => {
    const machine = await aMachine({}, { sessionLimit: 1 })
    const aclId = await anEntry(machine.id, { clickToGrant: true, maximumGrantSeconds: 600 })
    const first = await aToken(machine)
    await ask('POST', '/grant', { headers: bearer(first), json: { ACLID: aclId } })
    const second = await aToken(machine, { headers: { 'X-Knoc-Replaces': first } })
    const [old, now] = await sessionsOf(machine.id)
    expect(old?.endedReason).toBe('sessionExtended')
    expect(await liveGrants(machine.id)).toMatchObject([{ aclId, sessionId: now?.id }])
    expect((await ask('GET', '/status', { headers: bearer(first) })).status).toBe(401)
    expect((await ask('GET', '/status', { headers: bearer(second) })).status).toBe(200)
  })

  it('replaces no browser’s session', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const cookie = browser.jar.get('__Host-knoc_user') ?? ''
    await aToken(await aMachine(), { headers: { 'X-Knoc-Replaces': cookie } })
    expect((await browser.get('/whoami')).status).toBe(200)
  })

  it('grants nothing without a licence, or to a user beyond it', async () => {
    const machine = await aMachine({}, { licensed: false })
    await anEntry(machine.id)
    const token = await aToken(machine)
    expect(await liveGrants(machine.id)).toEqual([])
    const { body } = await ask('GET', '/status', { headers: bearer(token) })
    expect(body.data).toMatchObject({ Licensed: true, UserLicensed: false })
  })

  it('makes whoever fails wait, key by key, and counts no success', async () => {
    const peer = '203.0.113.61'
    const allowedFrom = JSON.stringify([{ prefix: '192.0.2.0/24' }])
    const [wrong, right] = [await aMachine({ allowedFrom }), await aMachine()]
    const statuses: number[] = []
    // Waits double: however slow the machine is, one of them is met.
    while (statuses.length < 12 && statuses.at(-1) !== 429)
      statuses.push((await signIn(wrong.key, { peer })).status)
    expect(statuses.slice(0, 4)).toEqual([403, 403, 403, 403])
    expect(statuses.at(-1)).toBe(429)
    for (let tries = 0; tries < 6; tries += 1) expect((await signIn(right.key, { peer })).status).toBe(200)
  })

  it('lets an address sign in so often only', async () => {
    const peer = '203.0.113.62'
    const answers = await Promise.all(
      Array.from({ length: 800 }, () => ask('POST', '/v1/user_auth', { peer })),
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(20)
    expect(refused[0]?.body).toEqual({ Err: 'err.tooManyRequests', Extra: expect.stringMatching(/^\d+$/) })
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(240)
  })
})

describe('a machine’s token', () => {
  it('reads the status, grants, revokes and signs out, as Bearer and without any cookie', async () => {
    const machine = await aMachine()
    const aclId = await anEntry(machine.id, { clickToGrant: true })
    const headers = bearer(await aToken(machine))
    const status = await ask('GET', '/status', { headers })
    expect(status.body.data).toMatchObject({ UserName: machine.userName, AuthType: 'apikey' })
    const granted = await ask('POST', '/grant', { headers, json: { ACLID: aclId, IPs: [] } })
    expect([granted.status, granted.body.data.ACLID]).toEqual([200, aclId])
    expect(await liveGrants(machine.id)).toHaveLength(1)
    const revoked = await ask('DELETE', `/sessions/current/granted-acls/${aclId}`, { headers })
    expect(revoked.status).toBe(200)
    expect(await liveGrants(machine.id)).toEqual([])
    const out = await ask('POST', '/logout', { headers })
    expect([out.status, out.cookies]).toEqual([200, []])
    expect((await ask('GET', '/status', { headers })).status).toBe(401)
  })

  it('follows the machine’s address when it re-validates', async () => {
    const machine = await aMachine()
    await anEntry(machine.id)
    const token = await aToken(machine, { peer: '192.0.2.10' })
    const address = async () =>
      (
        await api.db
          .selectFrom('grants')
          .select('address')
          .where('userId', '=', machine.id)
          .where('endedAt', 'is', null)
          .execute()
      ).map((row) => row.address)
    expect(await address()).toEqual(['192.0.2.10'])
    await ask('GET', '/status', { headers: bearer(token), peer: '192.0.2.11' })
    expect(await address()).toEqual(['192.0.2.10'])
    await ask('GET', '/status', {
      headers: { ...bearer(token), 'X-Knoc-Revalidate': '1' },
      peer: '192.0.2.11',
    })
    expect(await address()).toEqual(['192.0.2.11'])
  })

  it('opens nothing from where its key may not be used, and closes from anywhere', async () => {
    const machine = await aMachine({ allowedFrom: JSON.stringify([{ prefix: '192.0.2.0/24' }]) })
    const aclId = await anEntry(machine.id)
    const headers = bearer(await aToken(machine, { peer: '192.0.2.1' }))
    const elsewhere = { headers, peer: '198.51.100.1' }
    for (const answer of [
      await ask('GET', '/status', { ...elsewhere, headers: { ...headers, 'X-Knoc-Revalidate': '1' } }),
      await ask('POST', '/grant', { ...elsewhere, json: { ACLID: aclId } }),
    ])
      expect([answer.status, answer.body]).toEqual([
        403,
        { Err: 'err.addressNotAllowed', Extra: '198.51.100.1' },
      ])
    expect((await ask('DELETE', `/sessions/current/granted-acls/${aclId}`, elsewhere)).status).toBe(200)
    expect((await ask('POST', '/logout', elsewhere)).status).toBe(200)
    expect(await liveGrants(machine.id)).toEqual([])
  })

  it('dies with its session, its user and its key', async () => {
    const machine = await aMachine()
    const kill: (() => Promise<unknown>)[] = [
      () =>
        api.db.updateTable('sessions').set({ endsAt: new Date() }).where('userId', '=', machine.id).execute(),
      () =>
        api.db
          .updateTable('apiKeys')
          .set({ deletedAt: new Date() })
          .where('id', '=', machine.keyId)
          .execute(),
    ]
    for (const act of kill) {
      const token = await aToken(machine)
      await act()
      expect((await ask('GET', '/status', { headers: bearer(token) })).body).toEqual({
        Err: 'err.invalidSession',
      })
    }
    const disabled = await aMachine()
    const token = await aToken(disabled)
    await api.db.updateTable('users').set({ loginEnabled: false }).where('id', '=', disabled.id).execute()
    expect((await ask('GET', '/status', { headers: bearer(token) })).status).toBe(401)
  })

  it('is worth nothing on any other route, as a cookie, or at the administrators’', async () => {
    const token = await aToken(await aMachine())
    for (const [method, path] of [
      ['GET', '/events'],
      ['PUT', '/password'],
      ['GET', '/otp/methods'],
      ['GET', '/otp/generate'],
      ['GET', '/passkeys'],
      ['GET', '/admin/status'],
      ['GET', '/admin/users'],
      ['DELETE', '/admin/sessions'],
      ['POST', '/admin/logout'],
    ] as const) {
      const answer = await ask(method, path, { headers: bearer(token) })
      expect([path, answer.status, answer.body.Err]).toEqual([path, 401, 'err.invalidSession'])
    }
    for (const cookie of ['__Host-knoc_user', '__Host-knoc_admin', 'knoc_user'])
      for (const path of ['/status', '/admin/status'])
        expect((await ask('GET', path, { headers: { Cookie: `${cookie}=${token}` } })).status).toBe(401)
  })

  it('is no browser’s: a cookie’s token, whole or half, user’s or admin’s, is no Bearer', async () => {
    const cookieOf = async (browser: { jar: Map<string, string> }, name: string) =>
      browser.jar.get(name) ?? ''
    const half = api.browser()
    const user = await aUser(api, { totpEnabled: true })
    await half.post('/login', { UserName: user.userName, Password: 'correct horse 1' })
    for (const token of [
      await cookieOf(await signedIn(api, await aUser(api)), '__Host-knoc_user'),
      await cookieOf(half, '__Host-knoc_user'),
      await cookieOf(await signedInAdmin(api), '__Host-knoc_admin'),
    ]) {
      expect(token).toMatch(/^[\w-]{43}$/)
      const answer = await ask('GET', '/status', { headers: bearer(token) })
      expect([answer.status, answer.body.Err]).toEqual([401, 'err.invalidSession'])
    }
  })

  it('outweighs a cookie that comes with it', async () => {
    const browser = await signedIn(api, await aUser(api))
    const Cookie = `__Host-knoc_user=${browser.jar.get('__Host-knoc_user')}`
    const machine = await aMachine()
    const token = await aToken(machine)
    const both = await ask('GET', '/status', { headers: { Cookie, ...bearer(token) } })
    expect(both.body.data.UserName).toBe(machine.userName)
    expect((await ask('GET', '/status', { headers: { Cookie, ...bearer(newToken()) } })).status).toBe(401)
  })

  it('is no API key, and a key is no token', async () => {
    const machine = await aMachine()
    expect((await signIn(await aToken(machine))).body.Err).toBe('err.invalidApiKey')
    expect((await ask('GET', '/status', { headers: bearer(machine.key) })).status).toBe(401)
  })
})

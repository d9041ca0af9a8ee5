import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Forgery, type HostileProvider, startHostileProvider } from '../support/hostile-provider.ts'
import { configureOidc, oidcClients, sessionOf, signInByOidc } from '../support/oidc-journey.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '../support/people-api.ts'
import { aGrant, aLicence, anAcl, anAdmin, aUser, endOf } from '../support/people-builders.ts'

let api: PeopleApi
let provider: OidcProvider
let hostile: HostileProvider

/** The provider's requests reach the API as from its own address. */
async function deliver(url: string | URL, { body }: RequestInit): Promise<Response> {
  const { status } = await send(
    new URL(url).pathname.replace('/api', ''),
    new URLSearchParams(body as URLSearchParams).toString(),
  )
  return new Response(null, { status })
}

const send = (path: string, form: string, type = 'application/x-www-form-urlencoded') =>
  api.browser('203.0.113.5').raw('POST', path, form, { 'Content-Type': type })

const formOf = (token: string) => new URLSearchParams({ logout_token: token }).toString()

beforeAll(async () => {
  api = await startPeopleApi()
  await aLicence(api)
  provider = await startOidcProvider({ clients: Object.values(oidcClients), deliver })
  hostile = await startHostileProvider()
})
afterAll(async () => {
  await provider.stop()
  await hostile.stop()
  await api.stop()
})

const useProvider = async () => {
  for (const realm of ['user', 'admin'] as const)
    await configureOidc(api, realm, { ...oidcClients[realm], issuer: provider.issuer })
}

/** Somebody whom the provider knows; the account is found by the name at the first sign-in. */
function aPerson(): { subject: string; userName: string } {
  const subject = randomUUID()
  const userName = `person.${subject.slice(0, 8)}`
  provider.people.set(subject, { preferred_username: userName })
  return { subject, userName }
}

/** A grant of somebody's newest session that lives until something ends it. */
async function aLivingGrant(userId: string): Promise<string> {
  const aclId = await anAcl(api)
  await api.db.insertInto('userAcls').values({ userId, aclId }).execute()
  return aGrant(api, userId, aclId)
}

const whoami = async (browser: Browser) => (await browser.get('/whoami')).status

/** What the provider calls the newest session of a realm. */
async function newestSid(table: 'sessions' | 'adminSessions'): Promise<string> {
  const row = await api.db
    .selectFrom(table)
    .select('identitySession')
    .orderBy('createdAt', 'desc')
    .executeTakeFirstOrThrow()
  return row.identitySession?.split(' ')[1] ?? ''
}

describe('a provider that signs somebody out', () => {
  it('ends that session and its grants, and leaves the person’s other one', async () => {
    await useProvider()
    const { subject, userName } = aPerson()
    const user = await aUser(api, { userName, authType: 'OIDC', passwordHash: null })
    const [left, kept] = [api.browser(), api.browser()]
    await signInByOidc(left, 'user', subject)
    const [sid, closed] = [await newestSid('sessions'), await aLivingGrant(user.id)]
    await signInByOidc(kept, 'user', subject)
    const open = await aLivingGrant(user.id)
    const cookie = new Map(left.jar)
    expect([await whoami(left), await whoami(kept)]).toEqual([200, 200])

    const startedAt = performance.now()
    await provider.signOut(oidcClients.user.clientId, subject, sid)
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect((await endOf(api, closed)).endedReason).toBe('sessionEnded')
    expect((await endOf(api, open)).endedReason).toBeNull()
    for (const [name, value] of cookie) left.jar.set(name, value)
    expect([await whoami(left), await whoami(kept)]).toEqual([401, 200])
    const events = await api.db
      .selectFrom('auditEvents')
      .select(['fields', 'detail'])
      .where('kind', '=', 'SessionEnded')
      .execute()
    expect(events).toContainEqual({
      fields: { UserName: userName },
      detail: { sessionId: expect.any(String), reason: 'sessionEnded', by: 'identityProvider' },
    })
  })

  it('ends an administrator’s session, too', async () => {
    await useProvider()
    const { subject, userName } = aPerson()
    await anAdmin(api, { userName, authType: 'OIDC', passwordHash: null })
    const browser = api.browser()
    expect(await signInByOidc(browser, 'admin', subject)).toBe('/admin/login')
    const cookie = new Map(browser.jar)
    expect((await browser.get('/admin/users')).status).toBe(200)
    await provider.signOut(oidcClients.admin.clientId, subject, await newestSid('adminSessions'))
    for (const [name, value] of cookie) browser.jar.set(name, value)
    expect((await browser.get('/admin/users')).status).toBe(401)
  })

  it('is answered as the standard says, also for a session that is over', async () => {
    await configureOidc(api, 'user', { ...hostile, clientSecret: 'secret' })
    const { status, body, headers } = await send(
      '/oidc/backchannel',
      formOf(await hostile.logoutToken({ claims: { sid: 'gone' } })),
    )
    expect([status, body, headers.get('Cache-Control')]).toEqual([200, '', 'no-store'])
  })
})

describe('a logout token', () => {
  const now = () => Math.floor(Date.now() / 1000)

  /** A user with a session of the hostile provider, and a grant. */
  async function signedInThere(sid = randomUUID()) {
    await configureOidc(api, 'user', { ...hostile, clientSecret: 'secret' })
    const sub = randomUUID()
    const user = await aUser(api, {
      authType: 'OIDC',
      thirdPartyAuth: `${hostile.issuer} ${sub}`,
      passwordHash: null,
    })
    const session = (name: string) =>
      sessionOf(hostile, api.browser(), { sub, sid: name, preferred_username: user.userName })
    const browser = await session(sid)
    return { sub, sid, user, browser, session, grant: await aLivingGrant(user.id) }
  }

  it('with a subject alone ends all sessions of that person', async () => {
    const { sub, user, browser, session, grant } = await signedInThere()
    const second = await session('second')
    const later = await aLivingGrant(user.id)
    const other = await signedInThere()
    const { status } = await send('/oidc/backchannel', formOf(await hostile.logoutToken({ claims: { sub } })))
    expect(status).toBe(200)
    expect([await whoami(browser), await whoami(second), await whoami(other.browser)]).toEqual([
      401, 401, 200,
    ])
    const reasons = await Promise.all(
      [grant, later, other.grant].map(async (id) => (await endOf(api, id)).endedReason),
    )
    expect(reasons).toEqual(['sessionEnded', 'sessionEnded', null])
  })

  it('with somebody else’s subject beside the session ends nothing', async () => {
    const { sid, browser, grant } = await signedInThere()
    const token = await hostile.logoutToken({ claims: { sid, sub: 'somebody else' } })
    expect((await send('/oidc/backchannel', formOf(token))).status).toBe(200)
    expect([await whoami(browser), (await endOf(api, grant)).endedReason]).toEqual([200, null])
  })

  it('of one realm’s endpoint ends nothing in the other', async () => {
    await configureOidc(api, 'admin', { ...hostile, clientSecret: 'secret' })
    const { sid, browser } = await signedInThere()
    const form = formOf(await hostile.logoutToken({ claims: { sid } }))
    expect((await send('/admin/oidc/backchannel', form)).status).toBe(200)
    expect(await whoami(browser)).toBe(200)
  })

  it('counts once, over all replicas', async () => {
    const { sub, sid, session } = await signedInThere()
    const form = formOf(await hostile.logoutToken({ claims: { sub } }))
    expect((await send('/oidc/backchannel', form)).status).toBe(200)
    const browser = await session(sid)
    const other = await startPeopleApi({}, api.database)
    const replayed = await other
      .browser()
      .raw('POST', '/oidc/backchannel', form, { 'Content-Type': 'application/x-www-form-urlencoded' })
    expect([replayed.status, replayed.body]).toEqual([400, { error: 'invalid_request' }])
    expect(await whoami(browser)).toBe(200)
  })

  it.each<[string, Forgery | (() => Forgery)]>([
    ['for another audience', { claims: { aud: 'another client' } }],
    ['of another issuer', { claims: { iss: 'https://other.example' } }],
    ['with a nonce', { claims: { nonce: 'x' } }],
    ['with an empty nonce', { claims: { nonce: null } }],
    ['without events', { without: ['events'] }],
    ['with another event', { claims: { events: { 'http://schemas.openid.net/event/other': {} } } }],
    [
      'with an event that is no object',
      { claims: { events: { 'http://schemas.openid.net/event/backchannel-logout': true } } },
    ],
    ['that is six minutes old', () => ({ claims: { iat: now() - 360, exp: now() + 60 } })],
    ['of the future', () => ({ claims: { iat: now() + 120, exp: now() + 180 } })],
    ['without a time of issue', { without: ['iat'] }],
    ['that has ended', () => ({ claims: { iat: now() - 120, exp: now() - 60 } })],
    ['without an end', { without: ['exp'] }],
    ['without an id', { without: ['jti'] }],
    ['that names neither session nor person', { without: ['sid', 'sub'] }],
    ['with a session that is no text', { claims: { sid: 7 } }],
    ['of another type', { header: { typ: 'at+jwt' } }],
    ['signed by a stranger', { key: 'stranger' }],
    ['without a signature (alg none)', { key: 'none' }],
    ['without a signature, said to be RS256', { key: 'none', header: { alg: 'RS256' } }],
    ['signed with the public key as secret (HS256)', { key: 'public' }],
    ['longer than any', { claims: { more: 'x'.repeat(20_000) } }],
  ])('%s is refused and ends nothing', async (_, forged) => {
    const { sub, sid, browser, grant } = await signedInThere()
    const forgery = typeof forged === 'function' ? forged() : forged
    const token = await hostile.logoutToken({ ...forgery, claims: { sub, sid, ...forgery.claims } })
    const { status, body, headers } = await send('/oidc/backchannel', formOf(token))
    expect([status, body, headers.get('Cache-Control')]).toEqual([
      400,
      { error: 'invalid_request' },
      'no-store',
    ])
    expect([await whoami(browser), (await endOf(api, grant)).endedReason]).toEqual([200, null])
  })

  it('is refused that is an ID token', async () => {
    const { sub, sid, browser } = await signedInThere()
    const form = formOf(await hostile.idToken(null, { claims: { sub, sid }, without: ['nonce'] }))
    expect((await send('/oidc/backchannel', form)).status).toBe(400)
    expect(await whoami(browser)).toBe(200)
  })

  it.each([
    ['missing', () => 'other=1', undefined],
    ['given twice', (form: string) => `${form}&${form}`, undefined],
    ['no token at all', () => 'logout_token=hello', undefined],
    ['sent as JSON', (form: string) => form, 'application/json'],
  ])('is refused when it is %s', async (_, toBody, type) => {
    const { sub, browser } = await signedInThere()
    const body = toBody(formOf(await hostile.logoutToken({ claims: { sub } })))
    const answer = await send('/oidc/backchannel', body, type)
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_request' }])
    expect(await whoami(browser)).toBe(200)
  })

  it('is refused where no provider is configured', async () => {
    const { sub } = await signedInThere()
    const form = formOf(await hostile.logoutToken({ claims: { sub } }))
    await configureOidc(api, 'user', { issuer: '', clientId: '', clientSecret: '' })
    expect((await send('/oidc/backchannel', form)).status).toBe(400)
  })
})

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { oidcRoutes } from '#server/auth/oidc/oidc.routes.ts'
import type { DB } from '#server/platform/database.types.ts'
import {
  beginOidc,
  configureOidc,
  finishOidc,
  oidcClients,
  signInByOidc,
  visitProvider,
} from '../support/oidc-journey.ts'
import { type OidcPerson, type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '../support/people-api.ts'
import {
  aGrant,
  aLicence,
  anAdmin,
  aUser,
  endOf,
  groupsOf,
  noLicence,
  providerGroups,
} from '../support/people-builders.ts'

let api: PeopleApi
let provider: OidcProvider
/** The same, with the claims in the ID token. */
let telling: OidcProvider

const realms = ['user', 'admin'] as const
type Realm = (typeof realms)[number]

beforeAll(async () => {
  api = await startPeopleApi()
  provider = await startOidcProvider({ clients: Object.values(oidcClients) })
  telling = await startOidcProvider({ clients: Object.values(oidcClients), claimsIn: 'idToken' })
})
afterAll(async () => {
  await provider.stop()
  await telling.stop()
  await api.stop()
})
beforeEach(() => use(provider))

async function use({ issuer }: { issuer: string }): Promise<void> {
  for (const realm of realms) await configureOidc(api, realm, { ...oidcClients[realm], issuer })
}

/** Somebody at the provider. */
function aPerson(claims: OidcPerson = {}, at = provider): { subject: string; userName: string } {
  const subject = randomUUID()
  const userName = `grace.${subject.slice(0, 8)}`
  at.people.set(subject, { preferred_username: userName, name: 'Grace', ...claims })
  return { subject, userName }
}

/** Changes what the provider says of somebody. */
const change = (subject: string, claims: OidcPerson) =>
  provider.people.set(subject, { ...provider.people.get(subject), ...claims })

const findUser = (userName: string) =>
  api.db.selectFrom('users').selectAll().where('userName', '=', userName).executeTakeFirst()

const nameOf = async (browser: Browser) => (await browser.get('/whoami')).body.data?.UserName

/** The newest refusal in the audit log. */
async function lastRefusal() {
  const { fields, detail } = await api.db
    .selectFrom('auditEvents')
    .select(['fields', 'detail'])
    .where('kind', '=', 'LoginFailed')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  return {
    ...(fields as Record<string, string>),
    ...(detail as { realm: string; by: string; reason: string }),
  }
}

describe('a sign-in by OIDC', () => {
  it('asks for a code with PKCE, state and nonce, and for the scopes that the provider has', async () => {
    const { searchParams, origin } = await beginOidc(api.browser(), 'user')
    const { state, nonce, code_challenge, ...others } = Object.fromEntries(searchParams)
    expect(origin).toBe(provider.issuer)
    expect(others).toEqual({
      client_id: 'portal',
      response_type: 'code',
      redirect_uri: 'https://knoc.example/api/oidc/callback',
      scope: 'openid profile email groups',
      code_challenge_method: 'S256',
    })
    for (const random of [state, nonce, code_challenge]) expect(random).toMatch(/^[\w-]{43}$/)
    expect(new Set([state, nonce, code_challenge]).size).toBe(3)
    const stored = await api.db
      .selectFrom('identityRequests')
      .select('facts')
      .where('requestId', '=', state ?? '')
      .executeTakeFirstOrThrow()
    const verifier = (stored.facts as { codeVerifier: string }).codeVerifier
    expect(verifier).not.toMatch(/^[\w-]{43}$/)
  })

  it('keeps the browser’s cookie from other sites’ scripts and from plain http', async () => {
    const { headers } = await api.browser().get('/login/oidc')
    expect(headers.get('Set-Cookie')).toMatch(
      /^__Host-knoc_prelogin=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=None$/,
    )
  })

  it.each(realms)('leads back to the login page where no provider is configured: %s', async (realm) => {
    await configureOidc(api, realm, { issuer: '', clientId: '', clientSecret: '' })
    const { status, headers } = await api.browser().get(`${realm === 'user' ? '' : '/admin'}/login/oidc`)
    const page = realm === 'user' ? '/' : '/admin/login'
    expect([status, headers.get('Location')]).toEqual([303, `${page}?error=err.oidcNotConfigured`])
  })

  it('leads back to the login page while the provider is away, and works as soon as it is back', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    await use({ issuer: `http://127.0.0.1:${port}` })
    const { headers } = await api.browser().get('/login/oidc')
    expect(headers.get('Location')).toBe('/?error=err.identityProviderUnavailable')
    const back = await startOidcProvider({ clients: Object.values(oidcClients), port })
    const { subject, userName } = aPerson({}, back)
    const browser = api.browser()
    expect(await signInByOidc(browser, 'user', subject)).toBe('/')
    expect(await nameOf(browser)).toBe(userName)
    await back.stop()
  })

  it('costs an error within some seconds where the provider hangs', async () => {
    const hanging = createServer(() => undefined)
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
    await use({ issuer: `http://127.0.0.1:${(hanging.address() as AddressInfo).port}` })
    const startedAt = performance.now()
    const { headers } = await api.browser().get('/login/oidc')
    expect(headers.get('Location')).toBe('/?error=err.identityProviderUnavailable')
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    hanging.closeAllConnections()
    hanging.close()
  })

  it('shows a person no JSON while the database is away', async () => {
    const away = new Kysely<DB>({
      dialect: new PostgresDialect({ pool: new Pool({ host: '127.0.0.1', port: 9 }) }),
    })
    const app = oidcRoutes({ ...api.deps, db: { grants: away, lists: away, background: away } })
    const { status, headers } = await app.request('/admin/login/oidc')
    expect([status, headers.get('Location')]).toEqual([303, '/admin/login?error=err.serviceUnavailable'])
    await away.destroy()
  })

  it.each([
    ['token endpoint', '/token'],
    ['userinfo endpoint', '/me'],
  ])('is refused, and open for another try, while the %s fails', async (_, path) => {
    const { subject, userName } = aPerson()
    const browser = api.browser()
    const answer = await visitProvider().answer(await beginOidc(browser, 'user'), subject)
    provider.failing.add(path)
    const end = await finishOidc(browser, 'user', answer.search)
    provider.failing.clear()
    expect(end).toBe('/?error=err.identityProviderUnavailable')
    expect(await lastRefusal()).toMatchObject({ reason: `${provider.issuer}${path} answered 503` })
    expect(await findUser(userName)).toBeUndefined()
    if (path === '/token') expect(await finishOidc(browser, 'user', answer.search)).toBe('/')
  })

  it('that the person refuses at the provider says so in the audit log only', async () => {
    const browser = api.browser()
    const answer = await visitProvider().answer(await beginOidc(browser, 'user'), 'anybody', 'refuse')
    expect(answer.searchParams.get('error')).toBe('access_denied')
    expect(await finishOidc(browser, 'user', answer.search)).toBe('/?error=err.authenticationFailed')
    expect(await lastRefusal()).toEqual({
      IpAddress: '198.51.100.7',
      ErrorMessage: 'err.authenticationFailed',
      realm: 'user',
      by: 'OIDC',
      reason: 'the provider said access_denied: the person said no',
    })
  })
})

describe('a user who comes by OIDC', () => {
  it('is made at the first sign-in, with what the provider says', async () => {
    const { subject, userName } = aPerson({ realName: 'Grace Hopper', sessionDuration: 60 })
    const browser = api.browser()
    expect(await signInByOidc(browser, 'user', subject)).toBe('/')
    expect(await nameOf(browser)).toBe(userName)
    expect(await findUser(userName)).toMatchObject({
      name: 'Grace Hopper',
      authType: 'OIDC',
      thirdPartyAuth: `${provider.issuer} ${subject}`,
      sessionMinutes: 60,
      passwordHash: null,
      loginEnabled: true,
    })
    const events = await api.db
      .selectFrom('auditEvents')
      .select(['kind', 'fields'])
      .where('kind', 'in', ['CreateUser', 'LoginUser'])
      .orderBy('id', 'desc')
      .limit(2)
      .execute()
    expect(events).toEqual([
      { kind: 'LoginUser', fields: { UserName: userName, IpAddress: '198.51.100.7' } },
      { kind: 'CreateUser', fields: { UserName: userName } },
    ])
  })

  it('is the same by claims in the ID token alone', async () => {
    await use(telling)
    const { subject, userName } = aPerson(
      { realName: 'Grace Hopper', sessionDuration: 90, groups: 'Ops' },
      telling,
    )
    expect(await signInByOidc(api.browser(), 'user', subject)).toBe('/')
    expect(await findUser(userName)).toMatchObject({ name: 'Grace Hopper', sessionMinutes: 90 })
  })

  it('has a session of the claimed length, and the cookie ends with it', async () => {
    const { subject } = aPerson({ sessionDuration: 7 })
    const browser = api.browser()
    const answer = await visitProvider().answer(await beginOidc(browser, 'user'), subject)
    const { headers } = await browser.get(`/oidc/callback${answer.search}`)
    const cookie = headers.getSetCookie().find((line) => line.startsWith('__Host-knoc_user='))
    expect(cookie).toMatch(/; Max-Age=4(1\d|20); Path=\/; HttpOnly; Secure; SameSite=Lax$/)
  })

  it.each([
    [undefined, 480],
    [0, 480],
    [525_601, 480],
    [12.5, 480],
    ['soon', 480],
    [525_600, 525_600],
    ['45', 45],
  ])('with sessionDuration %s has sessions of %i minutes', async (sessionDuration, minutes) => {
    const { subject, userName } = aPerson({ sessionDuration: 33 })
    await signInByOidc(api.browser(), 'user', subject)
    change(subject, { sessionDuration })
    await signInByOidc(api.browser(), 'user', subject)
    expect((await findUser(userName))?.sessionMinutes).toBe(minutes)
  })

  it('keeps the account when the provider changes the name', async () => {
    const { subject, userName } = aPerson()
    await signInByOidc(api.browser(), 'user', subject)
    change(subject, { preferred_username: 'another name', realName: 'Grace B. Hopper' })
    const browser = api.browser()
    expect(await signInByOidc(browser, 'user', subject)).toBe('/')
    expect(await nameOf(browser)).toBe(userName)
    expect((await findUser(userName))?.name).toBe('Grace B. Hopper')
    expect(await findUser('another name')).toBeUndefined()
  })

  it.each([
    ['the e-mail address', { email: 'grace@example.com' }, () => 'grace@example.com'],
    [
      'the subject, when the address is not verified',
      { email: 'boss@example.com', email_verified: false },
      (sub: string) => sub,
    ],
    ['the subject, when there is nothing else', {}, (sub: string) => sub],
  ])('without a preferred name is called by %s', async (_, claims, toName) => {
    const { subject } = aPerson({ preferred_username: undefined, ...claims })
    const browser = api.browser()
    expect(await signInByOidc(browser, 'user', subject)).toBe('/')
    expect(await nameOf(browser)).toBe(toName(subject))
  })

  it('is in the groups that the provider names, while it names them', async () => {
    const { saml, dynamic, local, aclId } = await providerGroups(api)
    const { subject, userName } = aPerson({ groups: [saml.toUpperCase(), dynamic, local, 'unknown', 7] })
    const groupsNow = () => groupsOf(api, userName)
    await signInByOidc(api.browser(), 'user', subject)
    expect(await groupsNow()).toEqual([saml, dynamic])
    await aLicence(api)
    const grant = await aGrant(api, (await findUser(userName))?.id ?? '', aclId)
    change(subject, { groups: dynamic })
    await signInByOidc(api.browser(), 'user', subject)
    expect(await groupsNow()).toEqual([dynamic])
    expect((await endOf(api, grant)).endedReason).not.toBeNull()
    change(subject, { groups: undefined })
    await signInByOidc(api.browser(), 'user', subject)
    expect(await groupsNow()).toEqual([])
  })

  it('needs no second step here, whatever the account says', async () => {
    const { subject, userName } = aPerson()
    await aUser(api, { userName, authType: 'OIDC', passwordHash: null, totpEnabled: true })
    const browser = api.browser()
    expect(await signInByOidc(browser, 'user', subject)).toBe('/')
    expect(await nameOf(browser)).toBe(userName)
  })

  it('gives up the session that the browser had', async () => {
    const [one, two] = [aPerson(), aPerson()]
    const browser = api.browser()
    await signInByOidc(browser, 'user', one.subject)
    const old = api.browser()
    for (const [name, value] of browser.jar) old.jar.set(name, value)
    await signInByOidc(browser, 'user', two.subject)
    expect([await nameOf(browser), (await old.get('/whoami')).status]).toEqual([two.userName, 401])
  })

  it('is told when the licence has no room, and is not made', async () => {
    const { total } = await api.db
      .selectFrom('users')
      .select(({ fn }) => fn.countAll<string>().as('total'))
      .where('deletedAt', 'is', null)
      .executeTakeFirstOrThrow()
    await aLicence(api, { userLimit: Number(total), overagePercentage: 0 })
    const { subject, userName } = aPerson()
    const end = await signInByOidc(api.browser(), 'user', subject)
    await noLicence(api)
    expect(end).toBe('/?error=err.userLimitReached')
    expect(await findUser(userName)).toBeUndefined()
    expect(await lastRefusal()).toMatchObject({ UserName: userName, ErrorMessage: 'err.userLimitReached' })
  })
})

describe('on a public computer', () => {
  it('the provider asks anew, the session is short, and the browser forgets it', async () => {
    const { subject } = aPerson({ sessionDuration: 600 })
    const visit = visitProvider()
    await signInByOidc(api.browser(), 'user', subject, { visit })
    await signInByOidc(api.browser(), 'user', subject, { visit })
    expect(visit.asked()).toBe(1)
    const browser = api.browser()
    const request = await beginOidc(browser, 'user', '?kioskMode=true')
    expect(request.searchParams.get('prompt')).toBe('login')
    const answer = await visit.answer(request, subject)
    expect(visit.asked()).toBe(2)
    const { headers } = await browser.get(`/oidc/callback${answer.search}`)
    const cookie = headers.getSetCookie().find((line) => line.startsWith('__Host-knoc_user='))
    expect(cookie).not.toMatch(/max-age|expires/i)
    const session = await api.db
      .selectFrom('sessions')
      .select(['kiosk', 'endsAt', 'createdAt'])
      .orderBy('createdAt', 'desc')
      .executeTakeFirstOrThrow()
    expect(session.kiosk).toBe(true)
    expect((session.endsAt.getTime() - session.createdAt.getTime()) / 60_000).toBeCloseTo(30, 0)
  })

  it.each(['', '?kioskMode=false', '?kioskMode=1'])('is nothing else: %s', async (query) => {
    expect((await beginOidc(api.browser(), 'user', query)).searchParams.has('prompt')).toBe(false)
  })

  it('is nothing for administrators', async () => {
    expect((await beginOidc(api.browser(), 'admin', '?kioskMode=true')).searchParams.has('prompt')).toBe(
      false,
    )
  })
})

describe('an administrator who comes by OIDC', () => {
  const anOidcAdmin = (userName: string, columns = {}) =>
    anAdmin(api, { userName, authType: 'OIDC', passwordHash: null, ...columns })

  it('is known by name first, then by the provider’s subject', async () => {
    const { subject, userName } = aPerson({ realName: 'Grace Hopper' })
    await anOidcAdmin(userName, { totpEnabled: true })
    const browser = api.browser()
    expect(await signInByOidc(browser, 'admin', subject)).toBe('/admin/login')
    expect((await browser.get('/admin/users')).status).toBe(200)
    expect((await browser.get('/whoami')).status).toBe(401)
    change(subject, { preferred_username: 'another name' })
    expect(await signInByOidc(api.browser(), 'admin', subject)).toBe('/admin/login')
    const row = await api.db
      .selectFrom('admins')
      .selectAll()
      .where('userName', '=', userName)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ name: 'Grace Hopper', thirdPartyAuth: `${provider.issuer} ${subject}` })
  })

  it('is never made by a sign-in', async () => {
    const { subject, userName } = aPerson()
    expect(await signInByOidc(api.browser(), 'admin', subject)).toBe(
      '/admin/login?error=err.loginNotPermitted',
    )
    expect(await api.db.selectFrom('admins').select('id').where('userName', '=', userName).execute()).toEqual(
      [],
    )
    expect(await lastRefusal()).toMatchObject({
      AdminName: userName,
      realm: 'admin',
      reason: 'no such administrator',
    })
  })

  it('is not let in as a user of the same name, nor the other way round', async () => {
    const { subject, userName } = aPerson()
    await signInByOidc(api.browser(), 'user', subject)
    const browser = api.browser()
    expect(await signInByOidc(browser, 'admin', subject)).toBe('/admin/login?error=err.loginNotPermitted')
    expect((await browser.get('/admin/users')).status).toBe(401)
    expect(userName).not.toBe('')
  })
})

describe.each<[Realm, string, typeof aUser]>([
  ['user', '/', aUser],
  ['admin', '/admin/login', anAdmin],
])('one name, one person: %s', (realm, page, anAccount) => {
  const refused = `${page}?error=err.loginNotPermitted`

  it('refuses the name under another subject of the provider', async () => {
    const { subject, userName } = aPerson()
    await anAccount(api, { userName, authType: 'OIDC', passwordHash: null })
    await signInByOidc(api.browser(), realm, subject)
    const other = aPerson({ preferred_username: userName })
    const browser = api.browser()
    expect(await signInByOidc(browser, realm, other.subject)).toBe(refused)
    expect((await lastRefusal()).reason).toMatch(/another subject/)
    expect([...browser.jar.keys()]).toEqual(['__Host-knoc_prelogin'])
  })

  it.each(['local', 'SAML', 'LDAP'])('refuses the name of an account of AuthType %s', async (authType) => {
    const { subject, userName } = aPerson()
    await anAccount(api, { userName: userName.toUpperCase(), authType })
    const browser = api.browser()
    expect(await signInByOidc(browser, realm, subject)).toBe(refused)
    expect((await lastRefusal()).reason).toBe(`the name is an account of AuthType ${authType}`)
    expect([...browser.jar.keys()]).toEqual(['__Host-knoc_prelogin'])
  })

  it('refuses a disabled account', async () => {
    const { subject, userName } = aPerson()
    await anAccount(api, { userName, authType: 'OIDC', passwordHash: null, loginEnabled: false })
    const browser = api.browser()
    expect(await signInByOidc(browser, realm, subject)).toBe(`${page}?error=err.accountDisabled`)
    expect(await lastRefusal()).toMatchObject({ ErrorMessage: 'err.accountDisabled' })
    expect([...browser.jar.keys()]).toEqual(['__Host-knoc_prelogin'])
  })
})

describe('an account that has run out', () => {
  it('is refused', async () => {
    const { subject, userName } = aPerson()
    const validUntil = new Date(Date.now() - 1000)
    await aUser(api, { userName, authType: 'OIDC', passwordHash: null, validUntil })
    expect(await signInByOidc(api.browser(), 'user', subject)).toBe('/?error=err.accountDisabled')
  })
})

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKeyPair, type KeyPair } from '#server/auth/saml/key-pair.ts'
import type { Realm } from '#server/sessions/session-cookie.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  aGrant,
  aLicence,
  anAdmin,
  aUser,
  auditOf,
  endOf,
  groupsOf,
  noLicence,
  providerGroups,
} from '#tests/support/people-builders.ts'
import { askIdp, bare, ours, type SamlIdp, sendForm, setSaml, startSamlIdp } from '#tests/support/saml-idp.ts'

let api: PeopleApi
let idp: SamlIdp
let keyPair: KeyPair

beforeAll(async () => {
  api = await startPeopleApi()
  idp = await startSamlIdp()
  keyPair = await createKeyPair('knoc.example')
})
afterAll(() => Promise.all([api.stop(), idp.stop()]))

beforeEach(async () => {
  await setSaml(api, 'user', { metadataUrl: idp.metadataUrl })
  await setSaml(api, 'admin', { metadataUrl: idp.metadataUrl })
})

const homes = { user: '/', admin: '/admin/login' }
const prefixes = { user: '', admin: '/admin' }
const realms: Realm[] = ['user', 'admin']

describe.each(realms)('SAML of the %s realm', (realm) => {
  const prefix = prefixes[realm]

  it('is off until there is metadata: no metadata of ours, no way out, no way in', async () => {
    await setSaml(api, realm, {})
    const browser = api.browser()
    expect(await browser.get(`${prefix}/saml/metadata`)).toMatchObject({
      status: 404,
      body: { Err: 'err.samlNotConfigured' },
    })
    const { status, headers } = await browser.get(`${prefix}/login/saml`)
    expect([status, headers.get('Location')]).toEqual([303, `${homes[realm]}?error=err.samlNotConfigured`])
    browser.jar.set('__Host-knoc_prelogin', 'a'.repeat(43))
    expect(await sendForm(browser, { SAMLResponse: 'AAAA' }, realm)).toMatchObject({
      location: `${homes[realm]}?error=err.samlNotConfigured`,
    })
    expect((await browser.get('/system_status')).body.data).toMatchObject({
      SAML: realm === 'admin',
      AdminSAML: realm === 'user',
    })
  })

  it('tells identity providers who we are and where to answer', async () => {
    const { status, body, headers } = await api.browser().get(`${prefix}/saml/metadata`)
    expect([status, headers.get('Content-Type')]).toEqual([
      200,
      'application/samlmetadata+xml; charset=utf-8',
    ])
    expect(body).toContain(`entityID="${ours(realm).entityId}"`)
    expect(body).toContain(`Location="${ours(realm).acs}"`)
    expect(body).toContain('AuthnRequestsSigned="false"')
    expect(body).toContain('WantAssertionsSigned="true"')
    expect(body).not.toContain('KeyDescriptor')

    await setSaml(api, realm, { metadataUrl: idp.metadataUrl, keyPair })
    const signed = (await api.browser().get(`${prefix}/saml/metadata`)).body as string
    expect(signed).toContain('AuthnRequestsSigned="true"')
    expect(signed.split(bare(keyPair.certificate))).toHaveLength(3)
    expect(signed).toMatch(/use="signing".*use="encryption"/s)
    expect(signed).not.toContain('PRIVATE')
  })

  it('signs in: metadata, redirect, identity provider, assertion, session', async () => {
    const name = await aPersonOf(realm)
    const browser = api.browser()
    const form = await askIdp(browser, realm)
    expect(form.action).toBe(ours(realm).acs)
    expect(idp.state.seen.at(-1)).toMatchObject({
      issuer: ours(realm).entityId,
      relayState: 'kioskMode=false',
    })
    expect(await sendForm(browser, form, realm)).toEqual({ status: 303, location: homes[realm] })
    expect(await nameIn(browser, realm)).toBe(name)
    const kinds = (await auditOf(api, name)).map(({ kind }) => kind)
    expect(kinds).toEqual(realm === 'user' ? ['CreateUser', 'LoginUser'] : ['LoginAdmin'])
  })

  it('reads metadata from a file, too', async () => {
    await setSaml(api, realm, { metadataFile: await idp.metadata() })
    idp.state.isDown = true
    const browser = api.browser()
    const { status } = await browser.get(`${prefix}/login/saml`)
    idp.state.isDown = false
    expect(status).toBe(302)
    const name = await aPersonOf(realm)
    await signIn(browser, realm)
    expect(await nameIn(browser, realm)).toBe(name)
  })

  it('says that the identity provider can’t be reached', async () => {
    await setSaml(api, realm, { metadataUrl: 'http://127.0.0.1:1/metadata' })
    const { headers } = await api.browser().get(`${prefix}/login/saml`)
    expect(headers.get('Location')).toBe(`${homes[realm]}?error=err.identityProviderUnavailable`)
  })

  it('asks for no second factor: that is the identity provider’s business', async () => {
    const name = await aPersonOf(realm, { totpEnabled: true })
    const browser = api.browser()
    await signIn(browser, realm)
    expect(await nameIn(browser, realm)).toBe(name)
  })

  it('refuses a name that is an account of another AuthType, and says why in the audit log', async () => {
    for (const authType of ['local', 'LDAP', 'OIDC']) {
      const { userName } = await (realm === 'user' ? aUser(api, { authType }) : anAdmin(api, { authType }))
      idp.state.person = { name: userName.toUpperCase(), attributes: { realName: 'Mallory' } }
      const browser = api.browser()
      expect(await signIn(browser, realm)).toBe(`${homes[realm]}?error=err.loginNotPermitted`)
      expect(await nameIn(browser, realm)).toBeUndefined()
      expect(await lastRefusal()).toMatchObject({
        fields: { ErrorMessage: 'err.loginNotPermitted', IpAddress: '198.51.100.7' },
        detail: { realm, by: 'SAML', reason: `the name is an account of AuthType ${authType}` },
      })
    }
  })

  it('lets nobody in whose account is disabled', async () => {
    await aPersonOf(realm, { loginEnabled: false, authType: 'SAML' }, true)
    const browser = api.browser()
    expect(await signIn(browser, realm)).toBe(`${homes[realm]}?error=err.accountDisabled`)
    expect(await nameIn(browser, realm)).toBeUndefined()
  })

  it('signs its requests when it has a key, and the identity provider finds the signature good', async () => {
    await setSaml(api, realm, { metadataUrl: idp.metadataUrl, keyPair })
    const other = await createKeyPair('other')
    const name = await aPersonOf(realm)
    try {
      idp.state.requestsSignedBy = other.certificate
      await expect(askIdp(api.browser(), realm)).rejects.toThrow('refused by the identity provider')
      idp.state.requestsSignedBy = keyPair.certificate
      const browser = api.browser()
      expect(await signIn(browser, realm)).toBe(homes[realm])
      expect(await nameIn(browser, realm)).toBe(name)
      await setSaml(api, realm, { metadataUrl: idp.metadataUrl })
      await expect(askIdp(api.browser(), realm)).rejects.toThrow('the request is not signed')
    } finally {
      idp.state.requestsSignedBy = undefined
    }
  })

  it('says so when the provider wants signed requests and there is no key', async () => {
    const metadataFile = (await idp.metadata()).replace(
      '<IDPSSODescriptor ',
      '$&WantAuthnRequestsSigned="true" ',
    )
    await setSaml(api, realm, { metadataFile })
    const { headers } = await api.browser().get(`${prefix}/login/saml`)
    expect(headers.get('Location')).toBe(`${homes[realm]}?error=err.samlNotConfigured`)
  })
})

describe('what the identity provider signs and encrypts', () => {
  it.each([
    ['the assertion only', false, true],
    ['the response only', true, false],
    ['both', true, true],
  ])('may be %s', async (_, signsResponse, signsAssertion) => {
    Object.assign(idp.state, { signsResponse, signsAssertion })
    const name = await aPersonOf('user')
    const browser = api.browser()
    const location = await signIn(browser)
    Object.assign(idp.state, { signsResponse: true, signsAssertion: true })
    expect(location).toBe('/')
    expect(await nameIn(browser)).toBe(name)
  })

  it.each([
    ['aes128-cbc', 'http://www.w3.org/2001/04/xmlenc#aes128-cbc', false],
    ['aes256-cbc', 'http://www.w3.org/2001/04/xmlenc#aes256-cbc', false],
    ['aes128-gcm', 'http://www.w3.org/2009/xmlenc11#aes128-gcm', false],
    ['aes256-gcm', 'http://www.w3.org/2009/xmlenc11#aes256-gcm', false],
    ['aes256-gcm, within a signed response', 'http://www.w3.org/2009/xmlenc11#aes256-gcm', true],
  ])('may be encrypted with %s', async (_, encryptionAlgorithm, signsResponse) => {
    await setSaml(api, 'user', { metadataUrl: idp.metadataUrl, keyPair })
    Object.assign(idp.state, { encryptFor: keyPair.certificate, encryptionAlgorithm, signsResponse })
    const name = await aPersonOf('user')
    const browser = api.browser()
    const form = await askIdp(browser)
    Object.assign(idp.state, { encryptFor: undefined, signsResponse: true })
    expect(Buffer.from(form.SAMLResponse, 'base64').toString()).not.toContain(name)
    expect(await sendForm(browser, form)).toMatchObject({ location: '/' })
    expect(await nameIn(browser)).toBe(name)
  })

  it('may be encrypted, unsigned, within a signed response', async () => {
    await setSaml(api, 'user', { metadataUrl: idp.metadataUrl, keyPair })
    Object.assign(idp.state, { encryptFor: keyPair.certificate, signsAssertion: false })
    const name = await aPersonOf('user')
    const browser = api.browser()
    const location = await signIn(browser)
    Object.assign(idp.state, { encryptFor: undefined, signsAssertion: true })
    expect(location).toBe('/')
    expect(await nameIn(browser)).toBe(name)
  })
})

describe('a user who signs in through SAML', () => {
  it('is made at the first sign-in, with name and session minutes from the attributes', async () => {
    const name = newName()
    await signInAs(name, { realName: ' Ada Lovelace ', sessionDuration: 90 })
    expect(await userOf(name)).toMatchObject({
      name: 'Ada Lovelace',
      authType: 'SAML',
      sessionMinutes: 90,
      loginEnabled: true,
      passwordHash: null,
      lastModifiedBy: 'SAML',
    })
    expect(await minutesOfSession(name)).toBe(90)
  })

  it('is called by the user name when there is no realName, and later keeps the name he had', async () => {
    const name = newName()
    await signInAs(name, { groups: ['x'] })
    expect((await userOf(name))?.name).toBe(name)
    await signInAs(name, { realName: 'Grace Hopper' })
    await signInAs(name, { groups: ['x'] })
    expect((await userOf(name))?.name).toBe('Grace Hopper')
  })

  it.each([
    [1, 1],
    ['525600', 525_600],
    [undefined, 480],
    [0, 480],
    [-5, 480],
    [525_601, 480],
    ['1e3', 480],
    ['90.5', 480],
    ['ninety', 480],
    [['60', '90'], 480],
  ])('with sessionDuration %j has sessions of %i minutes', async (sessionDuration, minutes) => {
    const name = newName()
    await signInAs(name, { realName: 'Ada', sessionDuration })
    expect((await userOf(name))?.sessionMinutes).toBe(minutes)
    expect(await minutesOfSession(name)).toBe(minutes)
  })

  it('is found again whatever the case of the name', async () => {
    const name = newName()
    await signInAs(name)
    await signInAs(name.toUpperCase(), { realName: 'Ada' })
    expect((await userOf(name))?.name).toBe('Ada')
    expect(await userOf(name.toUpperCase())).toBeUndefined()
  })

  it('is in the groups that the provider names, of the types saml and dynamic, while it names them', async () => {
    const { saml, dynamic, local, aclId } = await providerGroups(api)
    await aLicence(api)
    const name = newName()

    await signInAs(name, { groups: [saml.toUpperCase(), dynamic, local, 'nobody knows it'] })
    expect(await groupsOf(api, name)).toEqual([saml, dynamic])
    const grantId = await aGrant(api, (await userOf(name))?.id ?? '', aclId)

    await signInAs(name, { groups: [dynamic] })
    expect(await groupsOf(api, name)).toEqual([dynamic])
    expect((await endOf(api, grantId)).endedReason).not.toBeNull()

    await signInAs(name, { realName: 'No groups any more' })
    expect(await groupsOf(api, name)).toEqual([])
    const change = (await auditDetails(name)).filter(({ kind }) => kind === 'LoginUser')
    expect(change.map(({ detail }) => detail)).toEqual([
      { joined: expect.arrayContaining([saml, dynamic]), left: [] },
      { joined: [], left: [saml] },
      { joined: [], left: [dynamic] },
    ])
  })

  it('may be in a thousand groups', async () => {
    const name = newName()
    const groups = Array.from({ length: 1000 }, (_, index) => `CN=Group ${index},OU=Groups,DC=example,DC=com`)
    expect(await signInAs(name, { groups })).toBe('/')
  })

  it('is not made when the licence has no room, and who is there still gets in', async () => {
    const known = newName()
    await signInAs(known)
    const { total } = await api.db
      .selectFrom('users')
      .select(({ fn }) => fn.countAll<string>().as('total'))
      .where('deletedAt', 'is', null)
      .executeTakeFirstOrThrow()
    await aLicence(api, { userLimit: Number(total), overagePercentage: 0 })
    const name = newName()
    expect(await signInAs(name)).toBe('/?error=err.userLimitReached')
    expect(await signInAs(known)).toBe('/')
    await noLicence(api)
    expect(await userOf(name)).toBeUndefined()
    expect((await auditOf(api, name)).map(({ kind, fields }) => [kind, fields.ErrorMessage])).toEqual([
      ['LoginFailed', 'err.userLimitReached'],
    ])
  })

  it('does not get in when the account is expired', async () => {
    const { userName } = await aUser(api, { authType: 'SAML', validUntil: new Date(Date.now() - 1000) })
    expect(await signInAs(userName)).toBe('/?error=err.accountDisabled')
  })

  it('does not get in under a name that is none', async () => {
    expect(await signInAs(' ada')).toBe('/?error=err.loginNotPermitted')
    expect(await userOf(' ada')).toBeUndefined()
  })

  it('can’t sign in with a password', async () => {
    const name = newName()
    await signInAs(name)
    const { status } = await api.browser().post('/login', { UserName: name, Password: '' })
    expect(status).toBeGreaterThanOrEqual(400)
    const wrong = await api.browser().post('/login', { UserName: name, Password: 'anything at all' })
    expect(wrong.body.Err).toBe('err.invalidCredentials')
  })

  it('gives up the session that the browser had, although its cookie does not come with the answer', async () => {
    const browser = api.browser()
    const [first, second] = [newName(), newName()]
    idp.state.person = { name: first, attributes: { realName: 'First' } }
    await signIn(browser)
    const old = api.browser()
    for (const [name, value] of browser.jar) old.jar.set(name, value)
    idp.state.person = { name: second, attributes: { realName: 'Second' } }
    const form = await askIdp(browser)
    browser.jar.delete('__Host-knoc_user')
    await sendForm(browser, form)
    expect([await nameIn(browser), (await old.get('/whoami')).status]).toEqual([second, 401])
  })
})

describe('an administrator who signs in through SAML', () => {
  it('must be known here', async () => {
    const name = newName()
    idp.state.person = { name, attributes: { realName: 'Eve' } }
    const browser = api.browser()
    expect(await signIn(browser, 'admin')).toBe('/admin/login?error=err.loginNotPermitted')
    expect(await nameIn(browser, 'admin')).toBeUndefined()
    expect(await auditOf(api, name)).toMatchObject([{ kind: 'LoginFailed', fields: { AdminName: name } }])
    const admins = await api.db.selectFrom('admins').select('userName').execute()
    expect(admins.map(({ userName }) => userName)).not.toContain(name)
  })

  it('is called as the attributes say, and is no user', async () => {
    const name = await aPersonOf('admin')
    idp.state.person.attributes = { realName: 'Root Lovelace', groups: ['Ops'], sessionDuration: 1 }
    const browser = api.browser()
    await signIn(browser, 'admin')
    const admin = await api.db
      .selectFrom('admins')
      .select(['name', 'lastLoginAt'])
      .where('userName', '=', name)
      .executeTakeFirstOrThrow()
    expect(admin).toMatchObject({ name: 'Root Lovelace', lastLoginAt: expect.any(Date) })
    expect(await nameIn(browser, 'user')).toBeUndefined()
  })

  it('has no kiosk mode', async () => {
    await aPersonOf('admin')
    const browser = api.browser()
    const form = await askIdp(browser, 'admin', '?kioskMode=true')
    expect(idp.state.seen.at(-1)).toMatchObject({ forceAuthn: false, relayState: 'kioskMode=false' })
    expect(await sendForm(browser, { ...form, RelayState: 'kioskMode=true' }, 'admin')).toMatchObject({
      location: '/admin/login',
    })
  })
})

describe('kiosk mode', () => {
  const kioskOf = async (query: string, relayState?: string) => {
    const name = newName()
    idp.state.person = { name, attributes: { realName: 'Ada', sessionDuration: 480 } }
    const browser = api.browser()
    const form = await askIdp(browser, 'user', query)
    const { headers } = await browser.raw(
      'POST',
      '/saml/acs',
      new URLSearchParams({
        SAMLResponse: form.SAMLResponse,
        RelayState: relayState ?? form.RelayState,
      }).toString(),
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    )
    const cookie = headers.getSetCookie().find((line) => line.startsWith('__Host-knoc_user'))
    return { name, cookie, asked: idp.state.seen.at(-1) }
  }

  it('asks for the password again, and gives a short session that the browser forgets', async () => {
    const { name, cookie, asked } = await kioskOf('?kioskMode=true')
    expect(asked).toMatchObject({ forceAuthn: true, relayState: 'kioskMode=true' })
    expect(cookie).not.toMatch(/max-age/i)
    expect(await minutesOfSession(name)).toBe(30)
  })

  it('comes with RelayState, too', async () => {
    const { name, cookie, asked } = await kioskOf('', 'kioskMode=true')
    expect(asked).toMatchObject({ forceAuthn: false })
    expect(cookie).not.toMatch(/max-age/i)
    expect(await minutesOfSession(name)).toBe(30)
  })

  it('can’t be taken off on the way back', async () => {
    const { name } = await kioskOf('?kioskMode=true', 'kioskMode=false')
    expect(await minutesOfSession(name)).toBe(30)
  })

  it('is off otherwise', async () => {
    const { name, cookie, asked } = await kioskOf('?kioskMode=false')
    expect(asked).toMatchObject({ forceAuthn: false, relayState: 'kioskMode=false' })
    expect(cookie).toMatch(/max-age/i)
    expect(await minutesOfSession(name)).toBe(480)
  })
})

it('binds a sign-in to its browser with a cookie that comes along from the identity provider’s page', async () => {
  const { headers } = await api.browser().get('/login/saml')
  const [line = ''] = headers.getSetCookie()
  expect(line).toMatch(/^__Host-knoc_prelogin=[\w-]{43};/)
  for (const word of ['Secure', 'HttpOnly', 'SameSite=None', 'Max-Age=600', 'Path=/'])
    expect(line).toContain(word)
})

it('tells identity providers the public URL that is set, not the environment’s', async () => {
  const set = (value: string) =>
    api.db
      .insertInto('settings')
      .values({ name: 'PublicURL', value: JSON.stringify(value) })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: JSON.stringify(value) }))
      .execute()
  await set('https://door.example/')
  try {
    const { body } = await api.browser().get('/saml/metadata')
    expect(body).toContain('entityID="https://door.example/api/saml/metadata"')
    const browser = api.browser()
    const name = newName()
    idp.state.person = { name, attributes: { realName: 'Ada' } }
    const form = await askIdp(browser)
    expect(form.action).toBe('https://door.example/api/saml/acs')
    expect(await sendForm(browser, form)).toMatchObject({ location: '/' })
  } finally {
    await set('')
  }
})

const newName = () => `ada.${randomUUID().slice(0, 8)}@example.com`

/** Somebody who is signed in at the provider; administrators have to be known here. */
async function aPersonOf(realm: Realm, columns: object = {}, isKnown = realm === 'admin'): Promise<string> {
  const name = newName()
  idp.state.person = { name, attributes: { realName: 'Ada Lovelace' } }
  const account = { userName: name, authType: 'SAML', passwordHash: null, ...columns }
  if (isKnown) await (realm === 'user' ? aUser(api, account) : anAdmin(api, account))
  return name
}

/** @returns where the browser landed. */
async function signIn(browser: Browser, realm: Realm = 'user'): Promise<string> {
  return (await sendForm(browser, await askIdp(browser, realm), realm)).location
}

async function signInAs(
  name: string,
  attributes: SamlIdp['state']['person']['attributes'] = {},
): Promise<string> {
  idp.state.person = { name, attributes: { realName: undefined, mail: 'x', ...attributes } }
  return signIn(api.browser())
}

async function nameIn(browser: Browser, realm: Realm = 'user'): Promise<string | undefined> {
  const { status, body } = await browser.get(realm === 'user' ? '/whoami' : '/admin/status')
  if (status !== 200) return undefined
  return realm === 'user' ? body.data.UserName : body.data.UserName
}

const userOf = (name: string) =>
  api.db.selectFrom('users').selectAll().where('userName', '=', name).executeTakeFirst()

async function minutesOfSession(userName: string): Promise<number> {
  const { createdAt, endsAt } = await api.db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.userId')
    .select(['sessions.createdAt', 'sessions.endsAt'])
    .where('users.userName', '=', userName)
    .orderBy('sessions.createdAt', 'desc')
    .executeTakeFirstOrThrow()
  return Math.round((endsAt.getTime() - createdAt.getTime()) / 60_000)
}

async function auditDetails(userName: string) {
  const rows = await api.db
    .selectFrom('auditEvents')
    .select(['kind', 'fields', 'detail'])
    .orderBy('id')
    .execute()
  return rows.filter(({ fields }) => (fields as { UserName?: string }).UserName === userName)
}

const lastRefusal = () =>
  api.db
    .selectFrom('auditEvents')
    .select(['kind', 'fields', 'detail'])
    .where('kind', '=', 'LoginFailed')
    .orderBy('id', 'desc')
    .executeTakeFirst()

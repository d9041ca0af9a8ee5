import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKeyPair, type KeyPair } from '#server/auth/saml/key-pair.ts'
import { readAuthSettings } from '#server/settings/auth-setting.query.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  anAdmin,
  aUser,
  auditOf,
  rightPassword,
  signedIn,
  signedInAdmin,
} from '#tests/support/people-builders.ts'

let api: PeopleApi
let admin: Browser & { name: string }
let provider: Awaited<ReturnType<typeof startProvider>>
let pair: KeyPair
beforeAll(async () => {
  api = await startPeopleApi()
  admin = await signedInAdmin(api)
  pair = await createKeyPair('knoc.example')
  provider = await startProvider(() => toMetadata(pair.certificate))
})
beforeEach(() => api.db.deleteFrom('settings').execute())
afterAll(async () => {
  await api.stop()
  provider.stop()
})

const path = '/admin/settings/authentication'
const read = async () => (await admin.get(path)).body.data
const save = (change: Record<string, unknown>, headers: Record<string, string> = {}) =>
  admin.post(path, change, headers)
const effective = () => readAuthSettings(api.deps)
const directory = {
  LDAPURL: 'ldaps://directory.example',
  LDAPBindDN: 'cn=knoc,dc=example',
  LDAPBindPassword: 'the service’s own',
  LDAPSearchBase: 'dc=example',
}

describe('Settings → Kiosk', () => {
  it('starts with 30 minutes and takes 5 to 120', async () => {
    expect((await admin.get('/admin/settings')).body.data).toEqual({
      Accent: 'grape',
      HighAccessibility: false,
      NewUserDashboard: true,
      KioskSessionDuration: 30,
      DiscoverIP: false,
      DiscoverIPURL: '',
      TrustDiscoveryClaims: false,
      Logo: '',
      LightModeLogo: '',
    })
    for (const minutes of [5, 120]) {
      const answer = await admin.post('/admin/settings/config', { KioskSessionDuration: minutes })
      expect([answer.status, answer.body]).toEqual([200, { data: null }])
      expect((await admin.get('/admin/settings')).body.data.KioskSessionDuration).toBe(minutes)
    }
  })

  it.each([
    [4, 422, 'err.kioskSessionDurationInvalid'],
    [121, 422, 'err.kioskSessionDurationInvalid'],
    [5.5, 422, 'err.kioskSessionDurationInvalid'],
    ['30', 400, 'err.badRequest'],
    [null, 400, 'err.badRequest'],
  ])('refuses %s and stays as it was', async (KioskSessionDuration, status, code) => {
    const answer = await admin.post('/admin/settings/config', { KioskSessionDuration })
    expect([answer.status, answer.body]).toEqual([status, { Err: code, Extra: 'KioskSessionDuration' }])
    expect((await admin.get('/admin/settings')).body.data.KioskSessionDuration).toBe(30)
  })

  it('refuses a change from an older version', async () => {
    const old = (await admin.get('/admin/settings')).headers.get('ETag') ?? ''
    const first = await admin.post(
      '/admin/settings/config',
      { KioskSessionDuration: 20 },
      { 'If-Match': old },
    )
    expect(first.headers.get('ETag')).toBe((await admin.get('/admin/settings')).headers.get('ETag'))
    const stale = await admin.post(
      '/admin/settings/config',
      { KioskSessionDuration: 40 },
      { 'If-Match': old },
    )
    expect([stale.status, stale.body]).toEqual([409, { Err: 'err.changedMeanwhile' }])
  })

  it('says in the audit log what was changed, not to what, and nothing when nothing was', async () => {
    const events = async () =>
      (await auditOf(api, admin.name)).filter(({ kind }) => kind === 'UpdateSettings')
    const before = (await events()).length
    await admin.post('/admin/settings/config', { KioskSessionDuration: 45 })
    await admin.post('/admin/settings/config', { KioskSessionDuration: 45 })
    const added = (await events()).slice(before)
    expect(added).toMatchObject([{ fields: { AdminName: admin.name, Description: 'KioskSessionDuration' } }])
  })
})

describe('Settings → Authentication', () => {
  it('is empty at first, with the environment’s own address', async () => {
    const { status, body } = await admin.get(path)
    expect(status).toBe(200)
    expect(body.data).toEqual({
      PublicURL: 'https://knoc.example',
      SAMLMetadataURL: '',
      SAMLMetadataFile: '',
      SAMLKeyFileSet: false,
      SAMLCertFileSet: false,
      AdminSAMLMetadataURL: '',
      AdminSAMLMetadataFile: '',
      AdminSAMLKeyFileSet: false,
      AdminSAMLCertFileSet: false,
      OIDCIssuer: '',
      OIDCClientID: '',
      OIDCClientSecret: '',
      AdminOIDCIssuer: '',
      AdminOIDCClientID: '',
      AdminOIDCClientSecret: '',
      LDAPURL: '',
      LDAPStartTLS: false,
      LDAPSkipVerifyTLS: false,
      LDAPBindDN: '',
      LDAPBindPassword: '',
      LDAPSearchBase: '',
      LDAPUserFilter: '',
      LDAPGroupFilter: '',
    })
  })

  it('keeps absent fields, removes empty ones, and signing in goes by it at once', async () => {
    expect((await save({ ...directory, LDAPStartTLS: true })).body).toEqual({ data: null })
    await save({ LDAPUserFilter: '(mail={username})', LDAPGroupFilter: '(member={dn})' })
    expect(await read()).toMatchObject({
      ...directory,
      LDAPStartTLS: true,
      LDAPBindPassword: 'RECORDED',
      LDAPUserFilter: '(mail={username})',
    })
    expect((await effective()).ldap).toMatchObject({
      url: directory.LDAPURL,
      startTls: true,
      searchBase: 'dc=example',
      groupFilter: '(member={dn})',
    })
    expect((await effective()).ldap?.service?.bindPassword.expose()).toBe(directory.LDAPBindPassword)
    await save({ LDAPUserFilter: '', LDAPGroupFilter: '' })
    expect(await read()).toMatchObject({ LDAPUserFilter: '', LDAPURL: directory.LDAPURL })
    await save({ LDAPURL: '' })
    expect((await effective()).ldap).toBeNull()
    expect(await read()).toMatchObject({ LDAPURL: '', LDAPBindPassword: '' })
  })

  it('stores secrets sealed, and never tells them', async () => {
    await save({
      ...directory,
      SAMLKeyFile: pair.key,
      SAMLCertFile: pair.certificate,
      OIDCIssuer: provider.url,
      OIDCClientID: 'knoc',
      OIDCClientSecret: 'whispered',
    })
    const stored = JSON.stringify(await api.db.selectFrom('settings').selectAll().execute())
    const told = JSON.stringify([await read(), await api.db.selectFrom('auditEvents').selectAll().execute()])
    for (const secret of [directory.LDAPBindPassword, 'whispered', pair.key.split('\n')[1] ?? ''])
      for (const text of [stored, told]) expect(text).not.toContain(secret)
    expect(await read()).toMatchObject({ OIDCClientSecret: 'RECORDED', SAMLKeyFileSet: true })
    expect((await effective()).oidc.user?.clientSecret?.expose()).toBe('whispered')
  })

  it.each(['RECORDED', '', undefined])('keeps a secret that is sent as %s', async (LDAPBindPassword) => {
    await save(directory)
    const answer = await save({ ...directory, LDAPSearchBase: 'ou=people,dc=example', LDAPBindPassword })
    expect(answer.status).toBe(200)
    expect((await effective()).ldap?.service?.bindPassword.expose()).toBe(directory.LDAPBindPassword)
  })

  it('removes a secret that is sent as null, and one whose account is removed', async () => {
    const oidc = { OIDCIssuer: provider.url, OIDCClientID: 'knoc', OIDCClientSecret: 'whispered' }
    await save({ ...directory, ...oidc })
    expect((await save({ OIDCClientSecret: null })).status).toBe(200)
    expect((await effective()).oidc.user?.clientSecret).toBeNull()
    await save({ LDAPBindDN: '' })
    expect(await read()).toMatchObject({ LDAPBindPassword: '', LDAPURL: directory.LDAPURL })
    expect((await effective()).ldap?.service).toBeNull()
  })

  it('sends no recorded secret to another address', async () => {
    await save({
      ...directory,
      OIDCIssuer: provider.url,
      OIDCClientID: 'knoc',
      OIDCClientSecret: 'whispered',
    })
    const ldap = await save({ LDAPURL: 'ldaps://elsewhere.example', LDAPBindPassword: 'RECORDED' })
    expect([ldap.status, ldap.body]).toEqual([
      409,
      { Err: 'err.credentialsRequired', Extra: 'LDAPBindPassword' },
    ])
    const oidc = await save({ OIDCIssuer: `${provider.url}/other` })
    expect([oidc.status, oidc.body]).toEqual([
      409,
      { Err: 'err.credentialsRequired', Extra: 'OIDCClientSecret' },
    ])
    expect(await read()).toMatchObject({ LDAPURL: directory.LDAPURL, OIDCIssuer: provider.url })
    const again = await save({ LDAPURL: 'ldaps://elsewhere.example', LDAPBindPassword: 'typed anew' })
    expect(again.status).toBe(200)
    expect((await effective()).ldap?.service?.bindPassword.expose()).toBe('typed anew')
  })

  it('keeps the other realm’s settings apart', async () => {
    await save({ AdminOIDCIssuer: provider.url, AdminOIDCClientID: 'console' })
    const { oidc } = await effective()
    expect([oidc.user, oidc.admin?.clientId]).toEqual([null, 'console'])
  })

  it('follows the environment’s address until another of the same scheme is saved', async () => {
    await save({ PublicURL: 'https://knoc.example/' })
    expect(await api.db.selectFrom('settings').selectAll().execute()).toEqual([])
    await save({ PublicURL: 'https://access.example/' })
    expect(await read()).toMatchObject({ PublicURL: 'https://access.example' })
    expect((await effective()).publicUrl).toBe('https://access.example')
    await save({ PublicURL: '' })
    expect(await read()).toMatchObject({ PublicURL: 'https://knoc.example' })
  })

  it.each([
    ['another scheme than the environment’s', { PublicURL: 'http://knoc.example' }, 'err.invalidField'],
    ['a public address with a path', { PublicURL: 'https://knoc.example/portal' }, 'err.invalidField'],
    ['a public address that is none', { PublicURL: 'ftp://knoc.example' }, 'err.urlScheme'],
    ['metadata behind a file address', { SAMLMetadataURL: 'file:///etc/passwd' }, 'err.urlScheme'],
    ['metadata behind no address', { AdminSAMLMetadataURL: 'idp.example' }, 'err.urlScheme'],
    ['an issuer of another scheme', { OIDCIssuer: 'ldap://idp.example' }, 'err.urlScheme'],
    ['cldap, which has no bind', { LDAPURL: 'cldap://directory.example' }, 'err.ldapUrlScheme'],
    ['a directory on the web', { LDAPURL: 'https://directory.example' }, 'err.ldapUrlScheme'],
    ['a directory that is no address', { LDAPURL: 'directory.example' }, 'err.ldapUrlScheme'],
    ['a user filter that names nobody', { LDAPUserFilter: '(objectClass=person)' }, 'err.ldapFilterInvalid'],
    ['a user filter that is open', { LDAPUserFilter: '(uid={username}' }, 'err.ldapFilterInvalid'],
    ['a group filter that names nobody', { LDAPGroupFilter: '(objectClass=group)' }, 'err.ldapFilterInvalid'],
    ['a search base that is no name', { LDAPSearchBase: 'example.com' }, 'err.invalidField'],
    ['a service account that is no name', { LDAPBindDN: 'knoc' }, 'err.invalidField'],
    ['metadata that are none', { SAMLMetadataFile: '<html/>' }, 'err.samlMetadataInvalid'],
    ['metadata with entities', { AdminSAMLMetadataFile: '<!DOCTYPE a><a/>' }, 'err.samlMetadataInvalid'],
    ['a key that is none', { SAMLKeyFile: 'key', SAMLCertFile: 'cert' }, 'err.keyPairInvalid'],
  ])('refuses %s, by the field’s name, and changes nothing', async (_, change, code) => {
    const answer = await save({ ...change, LDAPStartTLS: true })
    expect([answer.status, answer.body]).toEqual([422, { Err: code, Extra: Object.keys(change)[0] }])
    expect(await api.db.selectFrom('settings').selectAll().execute()).toEqual([])
  })

  it.each([
    ['a wrong type', { LDAPStartTLS: 'yes' }, 400, 'err.badRequest', 'LDAPStartTLS'],
    ['an unknown field', { LDAPPassword: 'x' }, 400, 'err.badRequest', 'LDAPPassword'],
    [
      'a service account without a password',
      { ...directory, LDAPBindPassword: '' },
      422,
      'err.invalidField',
      'LDAPBindPassword',
    ],
    [
      'a password without its account',
      { LDAPURL: 'ldap://a.example', LDAPBindPassword: 'x' },
      422,
      'err.invalidField',
      'LDAPBindDN',
    ],
    [
      'an issuer without a client',
      { OIDCIssuer: 'https://idp.example' },
      422,
      'err.invalidField',
      'OIDCClientID',
    ],
    ['a secret without an issuer', { OIDCClientSecret: 'x' }, 422, 'err.invalidField', 'OIDCIssuer'],
    [
      'an upload that is to be removed',
      { SAMLKeyFile: 'x', RemoveSAMLKeyFile: true },
      422,
      'err.invalidField',
      'RemoveSAMLKeyFile',
    ],
  ])('refuses %s', async (_, change, status, code, extra) => {
    const answer = await save(change)
    expect([answer.status, answer.body]).toEqual([status, { Err: code, Extra: extra }])
    expect(await api.db.selectFrom('settings').selectAll().execute()).toEqual([])
  })

  it.each(['ldap://directory.example', 'ldaps://directory.example:1636', 'ldapi://%2Frun%2Fslapd%2Fldapi'])(
    'takes a directory at %s',
    async (LDAPURL) => {
      expect((await save({ LDAPURL })).status).toBe(200)
      expect((await effective()).ldap?.url).toBe(LDAPURL)
    },
  )

  it('refuses a change from an older version, a new secret alone included', async () => {
    await save(directory)
    const old = (await admin.get(path)).headers.get('ETag') ?? ''
    await save({ LDAPBindPassword: 'another' })
    const stale = await save({ LDAPStartTLS: true }, { 'If-Match': old })
    expect([stale.status, stale.body]).toEqual([409, { Err: 'err.changedMeanwhile' }])
    const present = (await admin.get(path)).headers.get('ETag') ?? ''
    const fresh = await save({ LDAPStartTLS: true }, { 'If-Match': present })
    expect(fresh.headers.get('ETag')).toBe((await admin.get(path)).headers.get('ETag'))
  })

  it('keeps one of two changes at the same moment, or both, never half of each', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        save({
          ...directory,
          LDAPURL: `ldaps://${name}.example`,
          LDAPSearchBase: `dc=${name}`,
          LDAPBindPassword: name,
        }),
      ),
    )
    for (const { status } of answers) expect([200, 409]).toContain(status)
    expect(answers.map(({ status }) => status)).toContain(200)
    const { ldap } = await effective()
    const name = ldap?.service?.bindPassword.expose()
    expect([ldap?.url, ldap?.searchBase]).toEqual([`ldaps://${name}.example`, `dc=${name}`])
  })

  it('names the changed fields in the audit log', async () => {
    const before = (await auditOf(api, admin.name)).length
    await save(directory)
    expect((await auditOf(api, admin.name)).slice(before)).toMatchObject([
      { kind: 'UpdateSettings', fields: { AdminName: admin.name } },
    ])
    const event = await api.db
      .selectFrom('auditEvents')
      .select('detail')
      .where('kind', '=', 'UpdateSettings')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    const { fields } = event.detail as { fields: string[] }
    expect(fields.toSorted()).toEqual(Object.keys(directory).toSorted())
  })
})

describe('an identity provider of the settings', () => {
  it('is taken by its metadata, from a file or an address', async () => {
    const xml = toMetadata(pair.certificate)
    expect((await save({ SAMLMetadataFile: xml })).status).toBe(200)
    expect(await read()).toMatchObject({ SAMLMetadataFile: xml })
    expect((await save({ AdminSAMLMetadataURL: `${provider.url}/metadata` })).status).toBe(200)
    const { saml } = await effective()
    expect([saml.user?.metadataFile, saml.admin?.metadataUrl]).toEqual([xml, `${provider.url}/metadata`])
    await save({ SAMLMetadataFile: '' })
    expect((await effective()).saml.user).toBeNull()
  })

  it('is refused when its address answers nothing, or no metadata', async () => {
    const gone = await save({ SAMLMetadataURL: 'http://127.0.0.1:9/metadata' })
    expect([gone.status, gone.body]).toEqual([
      422,
      { Err: 'err.samlMetadataUnreachable', Extra: 'SAMLMetadataURL' },
    ])
    const wrong = await save({ SAMLMetadataURL: `${provider.url}/.well-known/openid-configuration` })
    expect([wrong.status, wrong.body]).toEqual([
      422,
      { Err: 'err.samlMetadataInvalid', Extra: 'SAMLMetadataURL' },
    ])
    expect(await read()).toMatchObject({ SAMLMetadataURL: '' })
  })

  it('is refused when its issuer has no OpenID configuration, or another’s', async () => {
    for (const OIDCIssuer of ['http://127.0.0.1:9', `${provider.url}/other`]) {
      const answer = await save({ OIDCIssuer, OIDCClientID: 'knoc' })
      expect([answer.status, answer.body]).toEqual([
        422,
        { Err: 'err.oidcDiscoveryFailed', Extra: 'OIDCIssuer' },
      ])
    }
    expect(await read()).toMatchObject({ OIDCIssuer: '' })
  })
})

describe('a SAML key pair', () => {
  it('is uploaded whole or to fit what is recorded, and removed by its flags', async () => {
    const half = await save({ SAMLKeyFile: pair.key })
    expect([half.status, half.body]).toEqual([422, { Err: 'err.keyPairInvalid', Extra: 'SAMLKeyFile' }])
    await save({ SAMLKeyFile: pair.key, SAMLCertFile: pair.certificate })
    expect(await read()).toMatchObject({ SAMLKeyFileSet: true, SAMLCertFileSet: true })
    const other = await createKeyPair('other.example')
    const foreign = await save({ SAMLCertFile: other.certificate })
    expect([foreign.status, foreign.body]).toEqual([
      422,
      { Err: 'err.keyPairInvalid', Extra: 'SAMLCertFile' },
    ])
    await save({ RemoveSAMLCertFile: true })
    expect(await read()).toMatchObject({ SAMLKeyFileSet: true, SAMLCertFileSet: false })
    expect((await save({ SAMLCertFile: pair.certificate })).status).toBe(200)
    await save({ RemoveSAMLKeyFile: true, RemoveSAMLCertFile: true })
    expect(await read()).toMatchObject({ SAMLKeyFileSet: false, SAMLCertFileSet: false })
  })

  it.each([
    ['generateUserSamlKeyCert', '', 'user'],
    ['generateAdminSamlKeyCert', 'Admin', 'admin'],
  ] as const)('is made by %s, and replaced only when that is confirmed', async (route, prefix, realm) => {
    await save({ [`${prefix}SAMLMetadataFile`]: toMetadata(pair.certificate) })
    const first = await admin.post(`/admin/settings/${route}`)
    expect([first.status, first.body.data.Certificate]).toEqual([
      200,
      expect.stringContaining('BEGIN CERTIFICATE'),
    ])
    expect(await read()).toMatchObject({
      [`${prefix}SAMLKeyFileSet`]: true,
      [`${prefix}SAMLCertFileSet`]: true,
    })
    const again = await admin.post(`/admin/settings/${route}`, { Confirm: false })
    expect([again.status, again.body]).toEqual([409, { Err: 'err.confirmReplacement' }])
    const keyPair = async () => (await effective()).saml[realm]?.keyPair
    expect((await keyPair())?.certificate).toBe(first.body.data.Certificate)
    const second = await admin.post(`/admin/settings/${route}`, { Confirm: true })
    expect(second.body.data.Certificate).not.toBe(first.body.data.Certificate)
    expect((await keyPair())?.certificate).toBe(second.body.data.Certificate)
    const other = prefix === '' ? 'Admin' : ''
    expect(await read()).toMatchObject({ [`${other}SAMLKeyFileSet`]: false })
  })

  it('is not made for a malformed request', async () => {
    for (const raw of ['{', '{"Confirm":1}', '{"Sure":true}']) {
      const answer = await admin.raw('POST', '/admin/settings/generateUserSamlKeyCert', raw)
      expect([answer.status, answer.body.Err]).toEqual([400, 'err.badRequest'])
    }
    expect(await read()).toMatchObject({ SAMLKeyFileSet: false })
  })
})

describe('the settings', () => {
  const calls = (browser: Browser) => [
    browser.get('/admin/settings'),
    browser.post('/admin/settings/config', { KioskSessionDuration: 99 }),
    browser.post('/admin/settings/customize', { Accent: 'rose' }),
    browser.get(path),
    browser.post(path, { LDAPURL: 'ldap://evil.example' }),
    browser.post('/admin/settings/generateUserSamlKeyCert', { Confirm: true }),
    browser.post('/admin/settings/generateAdminSamlKeyCert', { Confirm: true }),
  ]

  it('are for administrators only, signed in completely', async () => {
    for (const browser of [api.browser(), await signedIn(api, await aUser(api))])
      for (const answer of await Promise.all(calls(browser)))
        expect([answer.status, answer.body]).toEqual([401, { Err: 'err.invalidSession' }])
    const half = api.browser()
    const { userName } = await anAdmin(api, { totpEnabled: true, totpConfirmedAt: new Date() })
    await half.post('/admin/login', { UserName: userName, Password: rightPassword })
    for (const answer of await Promise.all(calls(half)))
      expect([answer.status, answer.body]).toEqual([403, { Err: 'err.totpVerificationRequired' }])
    expect(await api.db.selectFrom('settings').selectAll().execute()).toEqual([])
  })
})

/** Metadata of an identity provider that signs with this certificate. */
const toMetadata = (certificate: string) => `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"
    xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="https://idp.example">
  <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data>
      <ds:X509Certificate>${certificate.replace(/-----[^-]+-----|\s/g, '')}</ds:X509Certificate>
    </ds:X509Data></ds:KeyInfo></KeyDescriptor>
    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/>
  </IDPSSODescriptor>
</EntityDescriptor>`

/** A host that has SAML metadata and an OpenID configuration; below /other it says it is another issuer. */
async function startProvider(metadata: () => string): Promise<{ url: string; stop: () => void }> {
  const server: Server = createServer((request, response) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const configuration = JSON.stringify({
      issuer: url,
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256'],
    })
    const isMetadata = request.url === '/metadata'
    response.setHeader('Content-Type', isMetadata ? 'application/xml' : 'application/json')
    response.end(isMetadata ? metadata() : configuration)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, stop: () => void server.close() }
}

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockAdmins } from '#server/admins/admin.store.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  anAdmin,
  aUser,
  auditOf,
  rightPassword,
  signedIn,
  signedInAdmin,
} from '#tests/support/people-builders.ts'
import { until } from '#tests/support/until.ts'

let api: PeopleApi
let admin: Browser & { name: string }
beforeAll(async () => {
  api = await startPeopleApi()
  admin = await signedInAdmin(api)
})
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
const adminCookie = '__Host-knoc_admin'
let count = 0
const body = (fields: Record<string, unknown> = {}) => ({
  Name: 'Margaret Hamilton',
  UserName: `margaret.${(count += 1)}`,
  AuthType: 'local',
  PlainPassword: rightPassword,
  ...fields,
})
const make = async (fields: Record<string, unknown> = {}) => {
  const request = body(fields)
  const answer = await admin.post('/admin/admins', request)
  expect([answer.status, answer.body.Err]).toEqual([201, undefined])
  return { id: answer.body.data.ID as string, userName: request.UserName }
}
const read = async (id: string) => (await admin.get(`/admin/admins/${id}`)).body.data
const etagOf = async (id: string) => (await admin.get(`/admin/admins/${id}`)).headers.get('ETag') ?? ''
const put = (id: string, fields: Record<string, unknown>, headers: Record<string, string> = {}) =>
  admin.put(`/admin/admins/${id}`, { Name: 'x', ...fields }, headers)
const countAdmins = async () => (await api.db.selectFrom('admins').select('id').execute()).length
const withDirectory = async (act: () => Promise<void>) => {
  const settings = {
    LDAPURL: 'ldaps://directory.example',
    LDAPBindDN: 'cn=knoc',
    LDAPBindPassword: 'x',
  }
  expect((await admin.post('/admin/settings/authentication', settings)).status).toBe(200)
  await act()
  await api.db.deleteFrom('settings').execute()
}
/** Whether a change of administrators waits for its turn. */
async function isSomebodyWaiting({ db }: PeopleApi): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
    where l.locktype = 'advisory' and not l.granted`.execute(db)
  return rows.length > 0
}
/** Its own installation, in which there is nobody but these owners. */
async function installation(owners: number) {
  const own = await startPeopleApi()
  const browsers = []
  for (let index = 0; index < owners; index += 1) {
    const made = await anAdmin(own)
    browsers.push({ ...(await signedInAdmin(own, made)), id: made.id })
  }
  return { own, browsers }
}

describe('creating an administrator', () => {
  it('makes an owner who can sign in, without a second factor until one is asked for', async () => {
    const { id, userName } = await make()
    expect(await read(id)).toEqual({
      ID: id,
      Name: 'Margaret Hamilton',
      UserName: userName,
      AuthType: 'local',
      TOTPEnabled: false,
      TOTPVerified: false,
      LoginEnabled: true,
      Role: 'owner',
      DN: null,
      LastLogin: null,
      CreatedAt: expect.any(String),
      LastModifiedAt: expect.any(String),
      Passkeys: 0,
    })
    await signedInAdmin(api, { userName })
    expect((await read(id)).LastLogin).toEqual(expect.any(String))
    expect((await auditOf(api, userName))[0]).toMatchObject({
      kind: 'CreateAdmin',
      fields: { UserName: userName, AdminName: admin.name },
    })
  })

  it('makes one of a directory by its DN, one of an identity provider by its name alone', async () => {
    const ldap = await make({
      AuthType: 'LDAP',
      PlainPassword: '',
      DN: 'uid=m,dc=example',
      TOTPEnabled: true,
    })
    expect(await read(ldap.id)).toMatchObject({ AuthType: 'LDAP', DN: 'uid=m,dc=example', TOTPEnabled: true })
    for (const AuthType of ['SAML', 'OIDC']) {
      const { id } = await make({ AuthType, PlainPassword: undefined })
      expect(await read(id)).toMatchObject({ AuthType, DN: null, TOTPEnabled: false })
    }
  })

  it('needs no DN where a service account finds people', () =>
    withDirectory(async () => {
      const { id } = await make({ AuthType: 'LDAP', PlainPassword: undefined })
      expect(await read(id)).toMatchObject({ AuthType: 'LDAP', DN: null })
    }))

  it('refuses a taken name in any case', async () => {
    const { userName } = await make()
    const taken = await admin.post('/admin/admins', body({ UserName: userName.toUpperCase() }))
    expect([taken.status, taken.body]).toEqual([409, { Err: 'err.userNameTaken' }])
  })

  it('keeps no password in answers or the audit log', async () => {
    const { id } = await make()
    const text = JSON.stringify([await read(id), await auditOf(api, admin.name)])
    expect(text).not.toContain(rightPassword)
    expect(text).not.toContain('argon2')
  })

  it.each([
    ['no password', { PlainPassword: undefined }, 422, 'err.passwordLength', 'PlainPassword'],
    ['an empty password', { PlainPassword: '' }, 422, 'err.passwordLength', 'PlainPassword'],
    ['a short password', { PlainPassword: 'x'.repeat(7) }, 422, 'err.passwordLength', 'PlainPassword'],
    ['a long password', { PlainPassword: 'x'.repeat(65) }, 422, 'err.passwordLength', 'PlainPassword'],
    [
      'another password the second time',
      { ConfirmPassword: 'other' },
      422,
      'err.passwordsDontMatch',
      'ConfirmPassword',
    ],
    ['an empty name', { Name: ' ' }, 422, 'err.invalidField', 'Name'],
    ['an empty user name', { UserName: '' }, 422, 'err.invalidField', 'UserName'],
    ['no AuthType', { AuthType: undefined }, 422, 'err.invalidField', 'AuthType'],
    ['an AuthType that is none', { AuthType: 'saml' }, 422, 'err.invalidField', 'AuthType'],
    ['an administrator by API key', { AuthType: 'apikey' }, 422, 'err.invalidField', 'AuthType'],
    ['a role that is none', { Role: 'viewer' }, 422, 'err.invalidField', 'Role'],
    ['a DN for a local one', { DN: 'uid=m' }, 422, 'err.invalidField', 'DN'],
    [
      'no DN for one of a directory',
      { AuthType: 'LDAP', PlainPassword: '' },
      422,
      'err.distinguishedNameRequired',
      'DN',
    ],
    ['a DN that is none', { AuthType: 'LDAP', PlainPassword: '', DN: 'm' }, 422, 'err.invalidField', 'DN'],
    [
      'a password for one of a directory',
      { AuthType: 'LDAP', DN: 'uid=m' },
      422,
      'err.invalidField',
      'PlainPassword',
    ],
    ['a password for a SAML one', { AuthType: 'SAML' }, 422, 'err.invalidField', 'PlainPassword'],
    [
      'a second factor for a SAML one',
      { AuthType: 'SAML', PlainPassword: '', TOTPEnabled: true },
      422,
      'err.invalidField',
      'TOTPEnabled',
    ],
    [
      'a second factor for an OIDC one',
      { AuthType: 'OIDC', PlainPassword: '', TOTPEnabled: true },
      422,
      'err.invalidField',
      'TOTPEnabled',
    ],
    ['a wrong type', { LoginEnabled: 1 }, 400, 'err.badRequest', 'LoginEnabled'],
    ['an unknown field', { Licensed: true }, 400, 'err.badRequest', 'Licensed'],
  ])('refuses %s and makes nobody', async (_, fields, status, code, extra) => {
    const before = await countAdmins()
    const answer = await admin.post('/admin/admins', body(fields))
    expect([answer.status, answer.body]).toEqual([status, { Err: code, Extra: extra }])
    expect(await countAdmins()).toBe(before)
  })
})

describe('the list of administrators', () => {
  it('is searched, sorted and cut in pages', async () => {
    const mark = `zq${Math.random().toString(36).slice(2, 8)}`
    for (const [name, authType] of [
      ['Clara', 'SAML'],
      ['ada', 'local'],
      ['Berta', 'LDAP'],
    ] as const)
      await anAdmin(api, { name: `${name} ${mark}`, authType })
    const names = async (query: string) => {
      const { body: list } = await admin.get(`/admin/admins?search=${mark.toUpperCase()}&${query}`)
      return [list.data.map((row: { Name: string }) => row.Name.split(' ')[0]).join(' '), list.total]
    }
    expect(await names('sort=Name')).toEqual(['ada Berta Clara', undefined])
    expect(await names('sort=-Name&limit=2')).toEqual(['Clara Berta', 3])
    expect(await names('sort=AuthType&limit=2&offset=2')).toEqual(['ada', 3])
    for (const sort of ['UserName', 'LastLogin', 'Role', 'CreatedAt', '-LastModifiedAt'])
      expect((await names(`sort=${sort}`))[0].split(' ')).toHaveLength(3)
    expect((await admin.get('/admin/admins?sort=PasswordHash')).body).toEqual({
      Err: 'err.invalidField',
      Extra: 'sort',
    })
  })

  it('counts passkeys and tells a confirmed second factor', async () => {
    const { id } = await anAdmin(api, { totpEnabled: true, totpConfirmedAt: new Date() })
    await api.db
      .insertInto('passkeys')
      .values({ adminId: id, name: 'Key', credentialId: id, publicKey: Buffer.alloc(1) })
      .execute()
    expect(await read(id)).toMatchObject({ TOTPEnabled: true, TOTPVerified: true, Passkeys: 1 })
  })
})

describe('changing an administrator', () => {
  it('keeps absent fields and takes the others', async () => {
    const { id, userName } = await make({ TOTPEnabled: true })
    const renamed = await put(id, { ID: id, Name: 'Rear Admiral', UserName: userName, AuthType: 'local' })
    expect([renamed.status, renamed.body]).toEqual([200, { data: null }])
    expect(await read(id)).toMatchObject({ Name: 'Rear Admiral', TOTPEnabled: true, LoginEnabled: true })
    expect((await put(id, { TOTPEnabled: false, Role: 'owner' })).status).toBe(200)
    expect(await read(id)).toMatchObject({ Name: 'x', TOTPEnabled: false })
  })

  it('refuses a change from an older version; signing in makes no new one', async () => {
    const { id, userName } = await make()
    const old = await etagOf(id)
    await signedInAdmin(api, { userName })
    expect(await etagOf(id)).toBe(old)
    const first = await put(id, { Name: 'first' }, { 'If-Match': old })
    expect(first.headers.get('ETag')).toBe(await etagOf(id))
    const stale = await put(id, { Name: 'second' }, { 'If-Match': old })
    expect([stale.status, stale.body]).toEqual([409, { Err: 'err.changedMeanwhile' }])
    expect((await read(id)).Name).toBe('first')
  })

  it.each([
    ['another id in the body', { ID: unknownId }, 400, 'err.mismatchingIDs', undefined],
    ['another user name', { UserName: 'other' }, 422, 'err.invalidField', 'UserName'],
    ['another AuthType', { AuthType: 'SAML' }, 422, 'err.invalidField', 'AuthType'],
    ['a short password', { PlainPassword: 'short' }, 422, 'err.passwordLength', 'PlainPassword'],
    [
      'another password the second time',
      { PlainPassword: rightPassword, ConfirmPassword: 'x' },
      422,
      'err.passwordsDontMatch',
      'ConfirmPassword',
    ],
    [
      'a password the second time alone',
      { ConfirmPassword: 'x' },
      422,
      'err.passwordsDontMatch',
      'ConfirmPassword',
    ],
    ['a DN for a local one', { DN: 'uid=m' }, 422, 'err.invalidField', 'DN'],
    ['a role that is none', { Role: 'root' }, 422, 'err.invalidField', 'Role'],
    ['an unknown field', { TOTPVerified: true }, 400, 'err.badRequest', 'TOTPVerified'],
  ])('refuses %s and changes nothing', async (_, fields, status, code, extra) => {
    const { id } = await make()
    const before = await etagOf(id)
    const answer = await put(id, fields)
    expect([answer.status, answer.body]).toEqual([
      status,
      extra === undefined ? { Err: code } : { Err: code, Extra: extra },
    ])
    expect(await etagOf(id)).toBe(before)
  })

  it('takes no second factor and no password for who has none here', async () => {
    for (const AuthType of ['SAML', 'OIDC']) {
      const { id } = await make({ AuthType, PlainPassword: '' })
      expect((await put(id, { TOTPEnabled: true })).body).toEqual({
        Err: 'err.invalidField',
        Extra: 'TOTPEnabled',
      })
      expect((await put(id, { PlainPassword: rightPassword })).body.Extra).toBe('PlainPassword')
      expect((await put(id, { TOTPEnabled: false, PlainPassword: '', DN: '' })).status).toBe(200)
    }
  })

  it('takes the DN of a directory’s away only where a service account finds people', async () => {
    const { id } = await make({ AuthType: 'LDAP', PlainPassword: '', DN: 'uid=m,dc=example' })
    const without = await put(id, { DN: '' })
    expect([without.status, without.body]).toEqual([
      422,
      { Err: 'err.distinguishedNameRequired', Extra: 'DN' },
    ])
    expect((await put(id, { Name: 'only the name' })).status).toBe(200)
    await withDirectory(async () => {
      expect((await put(id, { DN: '' })).status).toBe(200)
      expect((await read(id)).DN).toBeNull()
    })
  })

  it('never forgets what an OIDC provider calls somebody', async () => {
    const { id } = await anAdmin(api, { authType: 'OIDC', thirdPartyAuth: 'https://idp.example 7' })
    expect((await put(id, { DN: null })).status).toBe(200)
    const row = await api.db.selectFrom('admins').select('thirdPartyAuth').where('id', '=', id).execute()
    expect(row).toEqual([{ thirdPartyAuth: 'https://idp.example 7' }])
  })

  it('ends the sessions at once when the account is disabled, and it can’t sign in', async () => {
    const { id, userName } = await make()
    const [complete, half] = [await signedInAdmin(api, { userName }), api.browser()]
    await put(id, { TOTPEnabled: true })
    expect((await complete.get('/admin/admins')).status).toBe(200)
    await half.post('/admin/login', { UserName: userName, Password: rightPassword })
    await put(id, { LoginEnabled: false })
    for (const browser of [complete, half]) expect((await browser.get('/admin/status')).status).toBe(401)
    const again = await api.browser().post('/admin/login', { UserName: userName, Password: rightPassword })
    expect(again.body.Err).toBe('err.accountDisabled')
    await put(id, { LoginEnabled: true })
    for (const browser of [complete, half]) expect((await browser.get('/admin/status')).status).toBe(401)
    const ended = (await auditOf(api, userName)).filter(({ kind }) => kind === 'SessionEnded')
    expect(ended).toMatchObject([
      { fields: { UserName: userName, AdminName: admin.name } },
      { fields: { UserName: userName, AdminName: admin.name } },
    ])
  })

  it('ends the sessions at once with a new password; an empty one stays', async () => {
    const { id, userName } = await make()
    const browser = await signedInAdmin(api, { userName })
    await put(id, { PlainPassword: '' })
    expect((await browser.get('/admin/admins')).status).toBe(200)
    await put(id, { PlainPassword: 'quite another', ConfirmPassword: 'quite another' })
    expect((await browser.get('/admin/admins')).status).toBe(401)
    const login = (Password: string) => api.browser().post('/admin/login', { UserName: userName, Password })
    expect([(await login(rightPassword)).status, (await login('quite another')).status]).toEqual([401, 200])
  })

  it('keeps the session in which somebody gives himself a new password, and only that', async () => {
    const { id, userName } = await make()
    const [here, there] = [await signedInAdmin(api, { userName }), await signedInAdmin(api, { userName })]
    const answer = await here.put(`/admin/admins/${id}`, { Name: 'x', PlainPassword: 'quite another' })
    expect(answer.status).toBe(200)
    expect((await here.get('/admin/admins')).status).toBe(200)
    expect((await there.get('/admin/admins')).status).toBe(401)
  })
})

describe('the own account', () => {
  it('keeps its second factor: neither switched off nor reset by its owner', async () => {
    const { id } = await api.db
      .selectFrom('admins')
      .select('id')
      .where('userName', '=', admin.name)
      .executeTakeFirstOrThrow()
    await put(id, { TOTPEnabled: true })
    const off = await put(id, { TOTPEnabled: false })
    expect([off.status, off.body]).toEqual([403, { Err: 'err.ownSecondFactor' }])
    const reset = await admin.delete(`/admin/admins/${id}/totpToken`)
    expect([reset.status, reset.body]).toEqual([403, { Err: 'err.ownSecondFactor' }])
    expect(await read(id)).toMatchObject({ TOTPEnabled: true })
    expect((await put(id, { TOTPEnabled: true })).status).toBe(200)

    const colleague = await signedInAdmin(api)
    expect((await colleague.put(`/admin/admins/${id}`, { Name: 'x', TOTPEnabled: false })).status).toBe(200)
    // Off already, so that sending it again switches nothing off.
    expect((await put(id, { TOTPEnabled: false })).status).toBe(200)
  })

  it('isn’t deleted by its owner', async () => {
    const { id, userName } = await make()
    const browser = await signedInAdmin(api, { userName })
    const answer = await browser.delete(`/admin/admins/${id}`)
    expect([answer.status, answer.body]).toEqual([403, { Err: 'err.ownAccount' }])
    expect((await browser.get('/admin/admins')).status).toBe(200)
  })
})

describe('deleting an administrator', () => {
  it('ends the sessions at once and frees the name', async () => {
    const { id, userName } = await make()
    const browser = await signedInAdmin(api, { userName })
    expect((await admin.delete(`/admin/admins/${id}`)).body).toEqual({ data: null })
    expect((await browser.get('/admin/status')).status).toBe(401)
    expect((await admin.get(`/admin/admins/${id}`)).status).toBe(404)
    expect((await admin.delete(`/admin/admins/${id}`)).status).toBe(404)
    expect((await auditOf(api, userName)).map(({ kind }) => kind)).toEqual([
      'CreateAdmin',
      'LoginAdmin',
      'SessionEnded',
      'DeleteAdmin',
    ])
    expect((await make({ UserName: userName })).userName).toBe(userName)
  })
})

describe('the last owner who can sign in', () => {
  it('can’t be disabled or deleted, whoever else there is', async () => {
    const { own, browsers } = await installation(1)
    try {
      const [only] = browsers
      await anAdmin(own, { loginEnabled: false })
      await anAdmin(own, { passwordHash: null })
      await anAdmin(own, { authType: 'SAML', passwordHash: null })
      await anAdmin(own, { role: 'viewer' })
      for (const answer of [
        await only?.put(`/admin/admins/${only.id}`, { Name: 'x', LoginEnabled: false }),
        await only?.delete(`/admin/admins/${only.id}`),
      ])
        expect([answer?.status, answer?.body]).toEqual([409, { Err: 'err.lastOwner' }])
      expect((await only?.get(`/admin/admins/${only.id}`))?.body.data).toMatchObject({
        LoginEnabled: true,
        Name: 'Root',
      })
      // An identity provider that is configured lets the SAML owner in.
      await own.db
        .insertInto('settings')
        .values({ name: 'AdminSAMLMetadataURL', value: JSON.stringify('https://idp.example') })
        .execute()
      expect((await only?.put(`/admin/admins/${only.id}`, { Name: 'x', LoginEnabled: false }))?.status).toBe(
        200,
      )
    } finally {
      await own.stop()
    }
  })

  it.each([
    [
      'disable',
      (browser: Browser, id: string) =>
        browser.put(`/admin/admins/${id}`, { Name: 'x', LoginEnabled: false }),
    ],
    ['delete', (browser: Browser, id: string) => browser.delete(`/admin/admins/${id}`)],
  ])('is left when all owners %s each other at the same moment', async (_, act) => {
    const { own, browsers } = await installation(4)
    try {
      const answers = await Promise.all(
        browsers.map((browser, index) =>
          act(browser, browsers[(index + 1) % browsers.length]?.id ?? unknownId),
        ),
      )
      for (const { status } of answers) expect([200, 401, 404, 409]).toContain(status)
      const left = await own.db.selectFrom('admins').select('id').where('loginEnabled', '=', true).execute()
      expect(left.length).toBeGreaterThan(0)
      expect(left.length).toBe(4 - answers.filter(({ status }) => status === 200).length)
    } finally {
      await own.stop()
    }
  })

  it('is the one whom nobody disables any more who was disabled himself a moment ago', async () => {
    const { own, browsers } = await installation(3)
    try {
      const [first, second, third] = browsers
      const { waiting } = await own.db.transaction().execute(async (tx) => {
        await lockAdmins(tx)
        // The second's request has passed the guard and waits, while the first ends his session.
        const waiting = second?.put(`/admin/admins/${third?.id}`, { Name: 'x', LoginEnabled: false })
        await until('the second waits for his turn', () => isSomebodyWaiting(own))
        await tx
          .updateTable('adminSessions')
          .set({ endedAt: new Date() })
          .where('adminId', '=', second?.id ?? unknownId)
          .execute()
        return { waiting }
      })
      const answer = await waiting
      expect([answer?.status, answer?.body]).toEqual([401, { Err: 'err.invalidSession' }])
      expect((await first?.get(`/admin/admins/${third?.id}`))?.body.data.LoginEnabled).toBe(true)
    } finally {
      await own.stop()
    }
  })
})

describe('resetting another’s second factor', () => {
  it('takes it away with recovery codes and passkeys, ends the sessions, and asks for it still', async () => {
    const target = await anAdmin(api)
    const browser = await signedInAdmin(api, target)
    await api.db
      .updateTable('admins')
      .set({ totpEnabled: true, totpSecret: 'sealed', totpConfirmedAt: new Date(), totpDeferrals: 2 })
      .where('id', '=', target.id)
      .execute()
    await api.db.insertInto('recoveryCodes').values({ adminId: target.id, codeHash: 'hash' }).execute()
    const answer = await admin.delete(`/admin/admins/${target.id}/totpToken`)
    expect([answer.status, answer.body]).toEqual([200, { data: null }])
    expect((await browser.get('/admin/status')).status).toBe(401)
    expect(await read(target.id)).toMatchObject({ TOTPEnabled: true, TOTPVerified: false })
    const codes = await api.db
      .selectFrom('recoveryCodes')
      .select('id')
      .where('adminId', '=', target.id)
      .execute()
    expect(codes).toEqual([])
    expect(await auditOf(api, target.userName)).toContainEqual({
      kind: 'ResetTOTP',
      fields: { UserName: target.userName, AdminName: admin.name },
    })
  })

  it('needs somebody', async () => {
    expect((await admin.delete(`/admin/admins/${unknownId}/totpToken`)).status).toBe(404)
  })
})

describe('an administrator’s sessions', () => {
  it('are shown with their times and address, the one that asks marked; half ones aren’t', async () => {
    const target = await anAdmin(api)
    const browser = await signedInAdmin(api, target)
    await api
      .browser('203.0.113.9')
      .post('/admin/login', { UserName: target.userName, Password: rightPassword })
    await api.db.updateTable('admins').set({ totpEnabled: true }).where('id', '=', target.id).execute()
    await api.browser().post('/admin/login', { UserName: target.userName, Password: rightPassword })
    const { data } = (await browser.get(`/admin/admins/${target.id}/sessions`)).body
    expect(data).toEqual([
      expect.objectContaining({ IPAddress: '203.0.113.9', Current: false }),
      {
        ID: expect.any(String),
        Created: expect.any(String),
        Ends: expect.any(String),
        IPAddress: '198.51.100.7',
        Current: true,
      },
    ])
    expect(Date.parse(data[1].Ends) - Date.parse(data[1].Created)).toBeCloseTo(480 * 60_000, -4)
  })

  it('end one by one, the own one too, and the old cookie opens nothing', async () => {
    const target = await anAdmin(api)
    const [one, two] = [await signedInAdmin(api, target), await signedInAdmin(api, target)]
    const sessions = async () => (await admin.get(`/admin/admins/${target.id}/sessions`)).body.data
    const own = (await one.get(`/admin/admins/${target.id}/sessions`)).body.data.find(
      ({ Current }: { Current: boolean }) => Current,
    )
    const cookie = one.jar.get(adminCookie) ?? ''
    expect((await one.delete(`/admin/adminsessions/${own.ID}`)).body).toEqual({ data: null })
    expect(one.jar.has(adminCookie)).toBe(false)
    one.jar.set(adminCookie, cookie)
    expect((await one.get('/admin/admins')).body).toEqual({ Err: 'err.invalidSession' })
    expect((await two.get('/admin/admins')).status).toBe(200)

    const [left] = await sessions()
    expect((await admin.delete(`/admin/adminsessions/${left.ID}`)).status).toBe(200)
    expect((await two.get('/admin/admins')).status).toBe(401)
    expect(await sessions()).toEqual([])
    expect((await admin.delete(`/admin/adminsessions/${left.ID}`)).body).toEqual({ Err: 'err.notFound' })
    const ended = (await auditOf(api, target.userName)).filter(({ kind }) => kind === 'SessionEnded')
    expect(ended).toMatchObject([
      { fields: { UserName: target.userName, AdminName: target.userName } },
      { fields: { UserName: target.userName, AdminName: admin.name } },
    ])
  })

  it('end all at once, those of users not', async () => {
    const { own, browsers } = await installation(2)
    try {
      const [first, second] = browsers
      const half = own.browser()
      const { userName } = await anAdmin(own, { totpEnabled: true })
      await half.post('/admin/login', { UserName: userName, Password: rightPassword })
      const user = await signedIn(own, await aUser(own))
      const cookie = first?.jar.get(adminCookie) ?? ''
      expect((await first?.delete('/admin/adminsessions'))?.body).toEqual({ data: null })
      expect(first?.jar.has(adminCookie)).toBe(false)
      first?.jar.set(adminCookie, cookie)
      for (const browser of [first, second, half])
        expect((await browser?.get('/admin/status'))?.body).toEqual({ Err: 'err.invalidSession' })
      expect((await user.get('/whoami')).status).toBe(200)
      const ended = (await auditOf(own, first?.name ?? '')).filter(({ kind }) => kind === 'SessionEnded')
      expect(ended).toHaveLength(3)
    } finally {
      await own.stop()
    }
  })
})

describe('the administrators’ pages', () => {
  const calls = (browser: Browser, id: string) => [
    browser.get('/admin/admins'),
    browser.get(`/admin/admins/${id}`),
    browser.post('/admin/admins', body()),
    browser.put(`/admin/admins/${id}`, { Name: 'Owner' }),
    browser.delete(`/admin/admins/${id}`),
    browser.delete(`/admin/admins/${id}/totpToken`),
    browser.get(`/admin/admins/${id}/sessions`),
    browser.delete('/admin/adminsessions'),
    browser.delete(`/admin/adminsessions/${id}`),
  ]

  it('are for administrators only, signed in completely', async () => {
    const { id } = await make()
    for (const browser of [api.browser(), await signedIn(api, await aUser(api))])
      for (const answer of await Promise.all(calls(browser, id)))
        expect([answer.status, answer.body]).toEqual([401, { Err: 'err.invalidSession' }])
    const half = api.browser()
    const { userName } = await anAdmin(api, { totpEnabled: true })
    await half.post('/admin/login', { UserName: userName, Password: rightPassword })
    for (const answer of await Promise.all(calls(half, id)))
      expect([answer.status, answer.body]).toEqual([403, { Err: 'err.totpEnrolmentRequired' }])
    expect(await read(id)).toMatchObject({ Name: 'Margaret Hamilton' })
  })

  it('are nobody’s for an unknown id, and refuse what is none', async () => {
    const withId = (id: string) => [
      admin.get(`/admin/admins/${id}`),
      admin.put(`/admin/admins/${id}`, { Name: 'x' }),
      admin.delete(`/admin/admins/${id}`),
      admin.delete(`/admin/admins/${id}/totpToken`),
      admin.get(`/admin/admins/${id}/sessions`),
      admin.delete(`/admin/adminsessions/${id}`),
    ]
    for (const answer of await Promise.all(withId(unknownId)))
      expect([answer.status, answer.body]).toEqual([404, { Err: 'err.notFound' }])
    for (const answer of await Promise.all(withId('me')))
      expect([answer.status, answer.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'id' }])
  })
})

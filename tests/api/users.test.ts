import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hashToken } from '#server/platform/random.ts'
import { streamUsers } from '#server/users/user-stream.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  aGrant,
  aLicence,
  anAcl,
  anAdmin,
  aUser,
  auditOf,
  endOf,
  noLicence,
  rightPassword,
  signedIn,
  signedInAdmin,
} from '#tests/support/people-builders.ts'

let api: PeopleApi
let admin: Browser & { name: string }
beforeAll(async () => {
  api = await startPeopleApi()
  admin = await signedInAdmin(api)
})
beforeEach(() => noLicence(api))
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
let count = 0
const body = (fields: Record<string, unknown> = {}) => ({
  Name: 'Grace Hopper',
  UserName: `grace.${(count += 1)}`,
  PlainPassword: rightPassword,
  ...fields,
})
const countUsers = async () =>
  (await api.db.selectFrom('users').select('id').where('deletedAt', 'is', null).execute()).length
const read = async (id: string) => (await admin.get(`/admin/users/${id}`)).body.data

describe('creating a user', () => {
  it('makes somebody who can sign in, with the defaults of the form', async () => {
    const request = body({ Company: '', ValidUntil: null })
    const { status, body: answer } = await admin.post('/admin/users', request)
    expect(status).toBe(201)
    expect(await read(answer.data.ID)).toMatchObject({
      ID: answer.data.ID,
      Name: 'Grace Hopper',
      UserName: request.UserName,
      Company: null,
      AuthType: 'local',
      Duration: 480,
      SessionLimit: null,
      TOTPEnabled: false,
      TOTPVerified: false,
      ThirdPartyAuth: null,
      ValidUntil: null,
      LoginEnabled: true,
      LastLogin: null,
      ActiveSession: false,
      Licensed: true,
      AclIds: [],
    })
    await signedIn(api, { userName: request.UserName })
    expect(await read(answer.data.ID)).toMatchObject({ ActiveSession: true, LastLogin: expect.any(String) })
    expect((await auditOf(api, request.UserName))[0]).toMatchObject({
      kind: 'CreateUser',
      fields: { AdminName: admin.name },
    })
  })

  it('keeps no password in answers or the audit log', async () => {
    const { body: answer } = await admin.post('/admin/users', body())
    const text = JSON.stringify([await read(answer.data.ID), await auditOf(api, admin.name)])
    expect(text).not.toContain(rightPassword)
    expect(text).not.toContain('argon2')
  })

  it('refuses a taken name in any case, and takes that of a deleted user', async () => {
    const user = await aUser(api)
    const taken = await admin.post('/admin/users', body({ UserName: user.userName.toUpperCase() }))
    expect([taken.status, taken.body]).toEqual([409, { Err: 'err.userNameTaken' }])
    await admin.delete(`/admin/users/${user.id}`)
    expect((await admin.post('/admin/users', body({ UserName: user.userName }))).status).toBe(201)
  })

  it('gives knocs, a child’s id meaning its parent', async () => {
    const parent = await anAcl(api)
    const child = await anAcl(api, { parentId: parent })
    const other = await anAcl(api)
    const { body: answer } = await admin.post('/admin/users', body({ AclIds: [child, other, parent] }))
    expect((await read(answer.data.ID)).AclIds.toSorted()).toEqual([parent, other].toSorted())
  })

  it.each([
    ['a knoc that is not there', { AclIds: [unknownId] }, 422, 'err.invalidField', 'AclIds.0'],
    ['a short password', { PlainPassword: 'short' }, 422, 'err.passwordLength', 'PlainPassword'],
    ['no password', { PlainPassword: undefined }, 422, 'err.passwordLength', 'PlainPassword'],
    [
      'a user whom SAML makes',
      { AuthType: 'SAML', PlainPassword: undefined },
      422,
      'err.invalidField',
      'AuthType',
    ],
    ['a DN for a local one', { ThirdPartyAuth: 'uid=g' }, 422, 'err.invalidField', 'ThirdPartyAuth'],
    ['a key for a local one', { ApiKey: { Name: 'k' } }, 422, 'err.invalidField', 'ApiKey'],
    ['a name with a blank in it', { UserName: 'grace hopper' }, 422, 'err.invalidField', 'UserName'],
    ['an empty name', { Name: '  ' }, 422, 'err.invalidField', 'Name'],
    ['a session of no minutes', { Duration: 0 }, 422, 'err.invalidField', 'Duration'],
    ['a session limit of none', { SessionLimit: 0 }, 422, 'err.invalidField', 'SessionLimit'],
    ['what is no instant', { ValidUntil: 'tomorrow' }, 422, 'err.invalidField', 'ValidUntil'],
    ['a wrong type', { Duration: 'long' }, 400, 'err.badRequest', 'Duration'],
    ['a NUL in the name', { Name: 'a\u0000b' }, 400, 'err.badRequest', undefined],
    ['an unknown field', { Role: 'owner' }, 400, 'err.badRequest', 'Role'],
  ])('refuses %s and makes nothing', async (_, fields, status, code, extra) => {
    const before = await countUsers()
    const answer = await admin.post('/admin/users', body(fields))
    expect([answer.status, answer.body]).toEqual([status, { Err: code, Extra: extra }])
    expect(await countUsers()).toBe(before)
  })

  it('refuses a deleted knoc', async () => {
    const deleted = await anAcl(api, { deletedAt: new Date() })
    const answer = await admin.post('/admin/users', body({ AclIds: [deleted] }))
    expect(answer.body).toEqual({ Err: 'err.invalidField', Extra: 'AclIds.0' })
  })

  it('stops at the licence’s limit and its overage, also for the last place asked for twice', async () => {
    const limit = await countUsers()
    const overage = Math.floor(limit / 2)
    await aLicence(api, { userLimit: limit, overagePercentage: 50 })
    for (let place = 1; place < overage; place += 1)
      expect((await admin.post('/admin/users', body())).status).toBe(201)
    const last = await Promise.all([1, 2, 3].map(() => admin.post('/admin/users', body())))
    expect(last.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([201, 403, 403])
    expect(last.find(({ status }) => status === 403)?.body).toEqual({ Err: 'err.userLimitReached' })
    await noLicence(api)
    expect((await admin.post('/admin/users', body())).status).toBe(201)
  })
})

describe('a user of a directory', () => {
  const ldap = (fields: Record<string, unknown> = {}) =>
    body({ AuthType: 'LDAP', PlainPassword: undefined, ThirdPartyAuth: 'uid=grace,dc=example', ...fields })

  it('is made by its DN, without a password, with a second factor if wanted', async () => {
    const { body: answer } = await admin.post('/admin/users', ldap({ TOTPEnabled: true }))
    expect(await read(answer.data.ID)).toMatchObject({
      AuthType: 'LDAP',
      ThirdPartyAuth: 'uid=grace,dc=example',
      TOTPEnabled: true,
      TOTPVerified: false,
    })
  })

  it('needs no DN where a service account finds people, and else keeps one', async () => {
    const { ID } = (await admin.post('/admin/users', ldap())).body.data
    const none = await admin.post('/admin/users', ldap({ ThirdPartyAuth: '' }))
    expect([none.status, none.body]).toEqual([
      422,
      { Err: 'err.distinguishedNameRequired', Extra: 'ThirdPartyAuth' },
    ])
    const without = await admin.put(`/admin/users/${ID}`, { Name: 'x', ThirdPartyAuth: null })
    expect([without.status, without.body.Err]).toEqual([422, 'err.distinguishedNameRequired'])
    const settings = { LDAPURL: 'ldaps://directory.example', LDAPBindDN: 'cn=knoc', LDAPBindPassword: 'x' }
    expect((await admin.post('/admin/settings/authentication', settings)).status).toBe(200)
    expect((await admin.post('/admin/users', ldap({ ThirdPartyAuth: null }))).status).toBe(201)
    expect((await admin.put(`/admin/users/${ID}`, { Name: 'x', ThirdPartyAuth: '' })).status).toBe(200)
    expect(await read(ID)).toMatchObject({ ThirdPartyAuth: null })
    await api.db.deleteFrom('settings').execute()
  })

  it.each([
    ['a password', { PlainPassword: rightPassword }, 'PlainPassword'],
    ['a key', { ApiKey: { Name: 'k' } }, 'ApiKey'],
    ['what is no DN', { ThirdPartyAuth: 'grace' }, 'ThirdPartyAuth'],
  ])('takes no %s', async (_, fields, Extra) => {
    const answer = await admin.post('/admin/users', ldap(fields))
    expect([answer.status, answer.body]).toEqual([422, { Err: 'err.invalidField', Extra }])
  })
})

describe('an apikey user', () => {
  const withKey = (ApiKey: Record<string, unknown> | undefined, fields: Record<string, unknown> = {}) =>
    body({ AuthType: 'apikey', PlainPassword: undefined, ApiKey, ...fields })
  const newKeyName = () => `Key ${(count += 1)}`

  it('is made with its key, which is told once and stored hashed', async () => {
    const Name = newKeyName()
    const request = withKey({
      Name,
      AllowedFrom: [{ prefix: '10.0.0.0/8', note: 'office' }, { prefix: '2001:db8::/32' }],
      ExpiredAfter: '2099-01-01T00:00:00Z',
    })
    const { status, body: answer } = await admin.post('/admin/users', request)
    expect([status, Object.keys(answer.data)]).toEqual([201, ['ID', 'PlaintextKey']])
    expect(answer.data.PlaintextKey).toMatch(/^[\w-]{43}$/)
    const key = await api.db
      .selectFrom('apiKeys')
      .selectAll()
      .where('userId', '=', answer.data.ID)
      .executeTakeFirstOrThrow()
    expect(key).toMatchObject({
      name: Name,
      purpose: 'user_auth',
      scopes: [`user.auth:${answer.data.ID}`],
      keyHash: hashToken(answer.data.PlaintextKey),
      expiredAfter: new Date('2099-01-01T00:00:00Z'),
      allowedFrom: [
        { prefix: '10.0.0.0/8', note: 'office' },
        { prefix: '2001:db8::/32', note: '' },
      ],
    })
    const user = await read(answer.data.ID)
    expect(user).toMatchObject({ AuthType: 'apikey', TOTPEnabled: false })
    const events = await auditOf(api, request.UserName)
    expect(events.map(({ kind }) => kind)).toEqual(['CreateUser', 'CreateApiKey'])
    expect(JSON.stringify([key, user, events])).not.toContain(answer.data.PlaintextKey)
  })

  it('may come from anywhere and for ever where nothing is said', async () => {
    for (const ExpiredAfter of [null, undefined]) {
      const { body: answer } = await admin.post('/admin/users', withKey({ Name: newKeyName(), ExpiredAfter }))
      const key = await api.db
        .selectFrom('apiKeys')
        .select(['allowedFrom', 'expiredAfter'])
        .where('userId', '=', answer.data.ID)
        .executeTakeFirstOrThrow()
      expect(key).toEqual({
        expiredAfter: null,
        allowedFrom: [
          { prefix: '0.0.0.0/0', note: '' },
          { prefix: '::/0', note: '' },
        ],
      })
    }
  })

  it('doesn’t sign in at the portal, whatever the password', async () => {
    const request = withKey({ Name: newKeyName() })
    const { body: answer } = await admin.post('/admin/users', request)
    for (const Password of [rightPassword, answer.data.PlaintextKey]) {
      const login = await api.browser().post('/login', { UserName: request.UserName, Password })
      expect([login.status, login.body.Err]).toEqual([401, 'err.invalidCredentials'])
    }
  })

  it('loses its key when it is deleted, and the key’s name is free', async () => {
    const Name = newKeyName()
    const { ID } = (await admin.post('/admin/users', withKey({ Name }))).body.data
    await admin.delete(`/admin/users/${ID}`)
    const key = await api.db.selectFrom('apiKeys').select('deletedAt').where('userId', '=', ID).execute()
    expect(key).toEqual([{ deletedAt: expect.any(Date) }])
    expect((await admin.post('/admin/users', withKey({ Name }))).status).toBe(201)
  })

  it('isn’t made when the key’s name is taken, in any case', async () => {
    const Name = newKeyName()
    await admin.post('/admin/users', withKey({ Name }))
    const before = await countUsers()
    const taken = await admin.post('/admin/users', withKey({ Name: Name.toUpperCase() }))
    expect([taken.status, taken.body]).toEqual([409, { Err: 'err.apiKeyNameTaken' }])
    expect(await countUsers()).toBe(before)
  })

  it('leaves no key behind when its user isn’t made', async () => {
    const user = await aUser(api)
    const Name = newKeyName()
    const answer = await admin.post('/admin/users', withKey({ Name }, { UserName: user.userName }))
    expect(answer.body).toEqual({ Err: 'err.userNameTaken' })
    expect(await api.db.selectFrom('apiKeys').select('id').where('name', '=', Name).execute()).toEqual([])
  })

  it.each([
    ['no key', undefined, {}, 422, 'err.invalidField', 'ApiKey'],
    ['a key without a name', {}, {}, 400, 'err.badRequest', 'ApiKey.Name'],
    ['a key with an empty name', { Name: '' }, {}, 422, 'err.invalidField', 'ApiKey.Name'],
    [
      'a range that is an address',
      { AllowedFrom: [{ prefix: '10.0.0.1' }] },
      {},
      422,
      'err.invalidCidr',
      'ApiKey.AllowedFrom.0.prefix',
    ],
    [
      'a range with too many bits',
      { AllowedFrom: [{ prefix: '10.0.0.0/33' }] },
      {},
      422,
      'err.invalidCidr',
      'ApiKey.AllowedFrom.0.prefix',
    ],
    [
      'an IPv6 range with too many bits',
      { AllowedFrom: [{ prefix: '::/129' }] },
      {},
      422,
      'err.invalidCidr',
      'ApiKey.AllowedFrom.0.prefix',
    ],
    ['no range at all', { AllowedFrom: [] }, {}, 422, 'err.invalidField', 'ApiKey.AllowedFrom'],
    [
      'an end that has passed',
      { ExpiredAfter: '2020-01-01T00:00:00Z' },
      {},
      422,
      'err.invalidField',
      'ApiKey.ExpiredAfter',
    ],
    [
      'an end that is no instant',
      { ExpiredAfter: '12 months' },
      {},
      422,
      'err.invalidField',
      'ApiKey.ExpiredAfter',
    ],
    ['a password', {}, { PlainPassword: rightPassword }, 422, 'err.invalidField', 'PlainPassword'],
    ['a second factor', {}, { TOTPEnabled: true }, 422, 'err.invalidField', 'TOTPEnabled'],
    ['a DN', {}, { ThirdPartyAuth: 'uid=g' }, 422, 'err.invalidField', 'ThirdPartyAuth'],
  ])('is refused with %s, and nobody is made', async (what, key, fields, status, code, Extra) => {
    const before = await countUsers()
    const named = what.startsWith('a key') ? {} : { Name: newKeyName() }
    const answer = await admin.post('/admin/users', withKey(key && { ...named, ...key }, fields))
    expect([answer.status, answer.body]).toEqual([status, { Err: code, Extra }])
    expect(await countUsers()).toBe(before)
  })
})

describe('a user’s session limit', () => {
  it('is at most the licence’s, and one that is above it already stays until it is changed', async () => {
    await aLicence(api, { sessionLimit: 3 })
    expect((await admin.post('/admin/users', body({ SessionLimit: 3 }))).status).toBe(201)
    const above = await admin.post('/admin/users', body({ SessionLimit: 4 }))
    expect([above.status, above.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'SessionLimit' }])
    const { ID } = (await admin.post('/admin/users', body({ SessionLimit: 3 }))).body.data
    expect((await admin.put(`/admin/users/${ID}`, { Name: 'x', SessionLimit: 4 })).status).toBe(422)
    await aLicence(api, { sessionLimit: 1 })
    expect((await admin.put(`/admin/users/${ID}`, { Name: 'x', SessionLimit: 3 })).status).toBe(200)
    expect((await admin.put(`/admin/users/${ID}`, { Name: 'x', SessionLimit: 2 })).status).toBe(422)
    expect((await admin.put(`/admin/users/${ID}`, { Name: 'x', SessionLimit: null })).status).toBe(200)
  })

  it('is any number without a licence, or with one that has none', async () => {
    expect((await admin.post('/admin/users', body({ SessionLimit: 50 }))).status).toBe(201)
    await aLicence(api, { sessionLimit: null })
    expect((await admin.post('/admin/users', body({ SessionLimit: 50 }))).status).toBe(201)
  })
})

describe('the list of users', () => {
  it('is searched, sorted and cut in pages', async () => {
    const mark = `zq${Math.random().toString(36).slice(2, 8)}`
    for (const [name, company] of [
      ['Clara', 'x'],
      ['ada', mark],
      ['Berta', null],
    ] as const)
      await aUser(api, { name: `${name} ${mark}`, company })
    const names = async (query: string) => {
      const { body: list } = await admin.get(`/admin/users?search=${mark.toUpperCase()}&${query}`)
      return { names: list.data.map((row: { Name: string }) => row.Name.split(' ')[0]), total: list.total }
    }
    expect(await names('sort=Name')).toEqual({ names: ['ada', 'Berta', 'Clara'], total: undefined })
    expect(await names('sort=-Name&limit=2')).toEqual({ names: ['Clara', 'Berta'], total: 3 })
    expect(await names('sort=-Name&limit=2&offset=2')).toEqual({ names: ['ada'], total: 3 })
    for (const sort of ['UserName', 'AuthType', 'Duration', 'LastLogin', 'ActiveSession', 'CreatedAt'])
      expect((await names(`sort=${sort}`)).names.length).toBe(3)
  })

  it('is whole without a limit, in order, however many there are', async () => {
    const mark = `zw${Math.random().toString(36).slice(2, 8)}`
    const many = 4_001
    await api.db
      .insertInto('users')
      .values(
        Array.from({ length: many }, (_, index) => ({
          name: `${mark} ${String(many - index).padStart(5, '0')}`,
          userName: `${mark}.${index}`,
          authType: 'local',
        })),
      )
      .execute()
    const { status, headers, body: list } = await admin.get(`/admin/users?search=${mark}`)
    expect([status, headers.get('Content-Type'), Object.keys(list)]).toEqual([
      200,
      'application/json',
      ['data'],
    ])
    const names = list.data.map((row: { Name: string }) => row.Name)
    expect([names.length, names]).toEqual([many, names.toSorted()])
    expect((await admin.get(`/admin/users?search=${mark}&offset=4000`)).body.data).toHaveLength(1)
    expect((await admin.get(`/admin/users?search=${mark}x`)).body).toEqual({ data: [] })
    await api.db.deleteFrom('users').where('name', 'like', `${mark}%`).execute()
  })

  it('breaks off where it can’t go on, so that nobody takes a half for the whole', async () => {
    const ids = [...Array.from({ length: 2000 }, () => unknownId), 'no id']
    const response = await new Hono().get('/', (c) => streamUsers(c, api.db, ids)).request('/')
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('invalid input syntax for type uuid')
  })

  it('takes signs of patterns and of SQL as what they are', async () => {
    await aUser(api, { name: `100%_'; drop table users; --` })
    const { body: list } = await admin.get(`/admin/users?search=${encodeURIComponent(`%_'; drop`)}`)
    expect(list.data.length).toBe(1)
  })

  it.each([
    ['sort=PasswordHash', 422],
    ['limit=0', 422],
    ['limit=1000', 422],
    ['offset=-1', 422],
    ['sort=Name;drop', 422],
    ['search=%00', 400],
  ])('refuses %s', async (query, status) => {
    expect((await admin.get(`/admin/users?${query}`)).status).toBe(status)
  })

  it('doesn’t show the deleted', async () => {
    const user = await aUser(api)
    await admin.delete(`/admin/users/${user.id}`)
    expect((await admin.get(`/admin/users?search=${user.userName}`)).body.data).toEqual([])
    expect((await admin.get(`/admin/users/${user.id}`)).status).toBe(404)
  })
})

describe('changing a user', () => {
  it('keeps absent fields, empties empty ones, and takes AclIds as the whole list', async () => {
    const [first, second, third] = [await anAcl(api), await anAcl(api), await anAcl(api)]
    const request = body({ Company: 'Navy', Duration: 60, SessionLimit: 2, AclIds: [first, second] })
    const { ID } = (await admin.post('/admin/users', request)).body.data
    await admin.put(`/admin/users/${ID}`, { Name: 'Rear Admiral' })
    expect(await read(ID)).toMatchObject({
      Name: 'Rear Admiral',
      Company: 'Navy',
      Duration: 60,
      SessionLimit: 2,
    })
    expect((await read(ID)).AclIds.toSorted()).toEqual([first, second].toSorted())

    const answer = await admin.put(`/admin/users/${ID}`, {
      ID,
      Name: 'Grace',
      Company: '',
      SessionLimit: null,
      AclIds: [second, third],
    })
    expect([answer.status, answer.body]).toEqual([200, { data: null }])
    expect(await read(ID)).toMatchObject({ Company: null, SessionLimit: null })
    expect((await read(ID)).AclIds.toSorted()).toEqual([second, third].toSorted())
    await admin.put(`/admin/users/${ID}`, { Name: 'Grace', AclIds: [] })
    expect((await read(ID)).AclIds).toEqual([])
  })

  it('refuses a change from an older version, memberships included, and keeps what a colleague did', async () => {
    const acl = await anAcl(api)
    const { ID } = (await admin.post('/admin/users', body({ AclIds: [acl] }))).body.data
    const old = (await admin.get(`/admin/users/${ID}`)).headers.get('ETag') ?? ''
    // A colleague takes the knoc away at the knoc's own page.
    await api.db.deleteFrom('userAcls').where('userId', '=', ID).execute()
    const stale = await admin.put(
      `/admin/users/${ID}`,
      { Name: 'Grace', Company: 'Phone', AclIds: [acl] },
      { 'If-Match': old },
    )
    expect([stale.status, stale.body]).toEqual([409, { Err: 'err.changedMeanwhile' }])
    expect(await read(ID)).toMatchObject({ AclIds: [], Company: null })

    const present = (await admin.get(`/admin/users/${ID}`)).headers.get('ETag') ?? ''
    const fresh = await admin.put(`/admin/users/${ID}`, { Name: 'Grace' }, { 'If-Match': present })
    expect(fresh.status).toBe(200)
    expect(fresh.headers.get('ETag')).toBe((await admin.get(`/admin/users/${ID}`)).headers.get('ETag'))
    const again = await admin.put(`/admin/users/${ID}`, { Name: 'Grace' }, { 'If-Match': present })
    expect(again.status).toBe(409)
  })

  it('is no new version when the user only signs in', async () => {
    const user = await aUser(api)
    const before = (await admin.get(`/admin/users/${user.id}`)).headers.get('ETag')
    await signedIn(api, user)
    expect((await admin.get(`/admin/users/${user.id}`)).headers.get('ETag')).toBe(before)
  })

  it.each([
    ['another id in the body', { ID: unknownId, Name: 'x' }, 400, 'err.mismatchingIDs'],
    ['another user name', { Name: 'x', UserName: 'other' }, 422, 'err.invalidField'],
    ['another AuthType', { Name: 'x', AuthType: 'LDAP' }, 422, 'err.invalidField'],
    ['a short password', { Name: 'x', PlainPassword: 'short' }, 422, 'err.passwordLength'],
    ['an unknown field', { Name: 'x', Licensed: true }, 400, 'err.badRequest'],
    ['a knoc that is not there', { Name: 'x', AclIds: [unknownId] }, 422, 'err.invalidField'],
  ])('refuses %s', async (_, request, status, code) => {
    const user = await aUser(api)
    const answer = await admin.put(`/admin/users/${user.id}`, request)
    expect([answer.status, answer.body.Err]).toEqual([status, code])
    expect((await read(user.id)).Name).toBe('Ada Lovelace')
  })

  it.each(['SAML', 'OIDC'])(
    'of a %s user is whether and until when he may sign in, no more',
    async (authType) => {
      const user = await aUser(api, {
        authType,
        passwordHash: null,
        thirdPartyAuth: `https://idp.example ${authType}`,
      })
      const acl = await anAcl(api)
      const whole = await read(user.id)
      const request = {
        ID: user.id,
        Name: whole.Name,
        Company: whole.Company,
        Duration: whole.Duration,
        SessionLimit: whole.SessionLimit,
        TOTPEnabled: false,
        ThirdPartyAuth: whole.ThirdPartyAuth,
        AclIds: [],
      }
      for (const [field, value] of Object.entries({
        Name: 'x',
        Company: 'x',
        Duration: 5,
        SessionLimit: 1,
        TOTPEnabled: true,
        ThirdPartyAuth: 'x',
        AclIds: [acl],
        PlainPassword: rightPassword,
      })) {
        const answer = await admin.put(`/admin/users/${user.id}`, { ...request, [field]: value })
        expect([answer.status, answer.body]).toEqual([403, { Err: 'err.forbidden', Extra: field }])
      }
      expect(await read(user.id)).toEqual(whole)
      const ValidUntil = '2099-01-01T00:00:00.000Z'
      const answer = await admin.put(`/admin/users/${user.id}`, {
        ...request,
        LoginEnabled: false,
        ValidUntil,
      })
      expect(answer.status).toBe(200)
      const { LastModifiedAt: _, ...after } = await read(user.id)
      const { LastModifiedAt: __, ...before } = whole
      expect(after).toEqual({ ...before, LoginEnabled: false, ValidUntil })
    },
  )

  it('asks for a second factor at the next sign-in and ends nothing now', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    expect((await admin.put(`/admin/users/${user.id}`, { Name: 'x', TOTPEnabled: true })).status).toBe(200)
    expect((await browser.get('/whoami')).status).toBe(200)
    const login = () => api.browser().post('/login', { UserName: user.userName, Password: rightPassword })
    expect((await login()).body.Err).toBe('err.totpEnrolmentRequired')
    expect((await admin.put(`/admin/users/${user.id}`, { Name: 'x', TOTPEnabled: false })).status).toBe(200)
    expect((await login()).status).toBe(200)
  })

  it('takes no second factor for an apikey user', async () => {
    const user = await aUser(api, { authType: 'apikey', passwordHash: null })
    const answer = await admin.put(`/admin/users/${user.id}`, { Name: 'x', TOTPEnabled: true })
    expect([answer.status, answer.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'TOTPEnabled' }])
  })

  it('needs somebody to change', async () => {
    const answer = await admin.put(`/admin/users/${unknownId}`, { Name: 'x' })
    expect([answer.status, answer.body]).toEqual([404, { Err: 'err.notFound' }])
  })

  it('sets a password and ends the user’s sessions; an empty one stays', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    await admin.put(`/admin/users/${user.id}`, { Name: 'x', PlainPassword: '' })
    expect((await browser.get('/whoami')).status).toBe(200)
    await admin.put(`/admin/users/${user.id}`, { Name: 'x', PlainPassword: 'quite another' })
    expect((await browser.get('/whoami')).status).toBe(401)
    const login = await api.browser().post('/login', { UserName: user.userName, Password: 'quite another' })
    expect(login.status).toBe(200)
  })
})

describe('what a change of a user closes', () => {
  const withAccess = async () => {
    await aLicence(api)
    const aclId = await anAcl(api)
    const { ID } = (await admin.post('/admin/users', body({ AclIds: [aclId] }))).body.data
    const { userName } = await api.db
      .selectFrom('users')
      .select('userName')
      .where('id', '=', ID)
      .executeTakeFirstOrThrow()
    const browser = await signedIn(api, { userName })
    return { id: ID as string, aclId, browser, grant: await aGrant(api, ID, aclId), userName }
  }

  it('is nothing for a new name', async () => {
    const { id, grant, browser } = await withAccess()
    await admin.put(`/admin/users/${id}`, { Name: 'New', Duration: 5 })
    expect((await endOf(api, grant)).endedReason).toBeNull()
    expect((await browser.get('/whoami')).status).toBe(200)
  })

  it('is a knoc that is taken away, and not the session', async () => {
    const { id, grant, browser } = await withAccess()
    await admin.put(`/admin/users/${id}`, { Name: 'x', AclIds: [] })
    expect((await endOf(api, grant)).endedReason).toBe('userChanged')
    expect((await browser.get('/whoami')).status).toBe(200)
  })

  it('is not a knoc that a group still gives', async () => {
    const { id, aclId, grant } = await withAccess()
    await admin.post('/admin/groups', { Name: `g${Math.random()}`, ACLIDs: [aclId], UserIDs: [id] })
    await admin.put(`/admin/users/${id}`, { Name: 'x', AclIds: [] })
    expect((await endOf(api, grant)).endedReason).toBeNull()
  })

  it('is everything when the account is disabled', async () => {
    const { id, grant, browser } = await withAccess()
    await admin.put(`/admin/users/${id}`, { Name: 'x', LoginEnabled: false })
    expect((await endOf(api, grant)).endedReason).toBe('userChanged')
    await admin.put(`/admin/users/${id}`, { Name: 'x', LoginEnabled: true })
    expect((await browser.get('/whoami')).status).toBe(401)
  })

  it('is everything when the account ends earlier, at that moment and not before', async () => {
    const { id, grant, browser } = await withAccess()
    const soon = new Date(Date.now() + 120_000)
    await admin.put(`/admin/users/${id}`, { Name: 'x', ValidUntil: soon.toISOString() })
    expect(await endOf(api, grant)).toEqual({ endedReason: null, endsAt: soon })
    expect((await browser.get('/whoami')).status).toBe(200)
    const session = await api.db
      .selectFrom('sessions')
      .select('endsAt')
      .where('userId', '=', id)
      .executeTakeFirstOrThrow()
    expect(session.endsAt).toEqual(soon)

    await admin.put(`/admin/users/${id}`, { Name: 'x', ValidUntil: null })
    expect((await endOf(api, grant)).endsAt).toEqual(soon)
    await admin.put(`/admin/users/${id}`, { Name: 'x', ValidUntil: '2020-01-01T00:00:00Z' })
    expect((await endOf(api, grant)).endedReason).toBe('userChanged')
    expect((await browser.get('/whoami')).status).toBe(401)
  })

  it('is everything when the user is deleted', async () => {
    const { id, grant, browser, userName } = await withAccess()
    expect((await admin.delete(`/admin/users/${id}`)).body).toEqual({ data: null })
    expect((await endOf(api, grant)).endedReason).toBe('userChanged')
    expect((await browser.get('/whoami')).status).toBe(401)
    expect((await admin.delete(`/admin/users/${id}`)).status).toBe(404)
    expect((await auditOf(api, userName)).map(({ kind }) => kind)).toEqual([
      'CreateUser',
      'LoginUser',
      'SessionEnded',
      'DeleteUser',
      'RevokeGrant',
    ])
  })
})

describe('resetting a user’s second factor', () => {
  it('takes it away, ends the sessions with what they opened, and asks for it still', async () => {
    await aLicence(api)
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const aclId = await anAcl(api)
    await api.db.insertInto('userAcls').values({ userId: user.id, aclId }).execute()
    const grant = await aGrant(api, user.id, aclId)
    await api.db
      .updateTable('users')
      .set({ totpEnabled: true, totpSecret: 'sealed', totpConfirmedAt: new Date() })
      .where('id', '=', user.id)
      .execute()
    await api.db.insertInto('recoveryCodes').values({ userId: user.id, codeHash: 'hash' }).execute()
    expect(await read(user.id)).toMatchObject({ TOTPEnabled: true, TOTPVerified: true })

    const answer = await admin.delete(`/admin/users/${user.id}/totpToken`)
    expect([answer.status, answer.body]).toEqual([200, { data: null }])
    expect(await read(user.id)).toMatchObject({ TOTPEnabled: true, TOTPVerified: false })
    expect((await browser.get('/whoami')).status).toBe(401)
    expect((await endOf(api, grant)).endedReason).toBe('userChanged')
    const codes = await api.db
      .selectFrom('recoveryCodes')
      .select('id')
      .where('userId', '=', user.id)
      .execute()
    expect(codes).toEqual([])
    expect((await auditOf(api, user.userName)).find(({ kind }) => kind === 'ResetTOTP')).toMatchObject({
      fields: { UserName: user.userName, AdminName: admin.name },
    })
    const login = await api.browser().post('/login', { UserName: user.userName, Password: rightPassword })
    expect(login.body.Err).toBe('err.totpEnrolmentRequired')
  })

  it('is not for who has none here, and needs somebody', async () => {
    for (const authType of ['SAML', 'OIDC', 'apikey']) {
      const user = await aUser(api, { authType })
      const answer = await admin.delete(`/admin/users/${user.id}/totpToken`)
      expect([answer.status, answer.body]).toEqual([403, { Err: 'err.forbidden', Extra: 'AuthType' }])
    }
    const answer = await admin.delete(`/admin/users/${unknownId}/totpToken`)
    expect([answer.status, answer.body]).toEqual([404, { Err: 'err.notFound' }])
  })
})

describe('a user’s dialog', () => {
  it('shows groups, access rules and sessions', async () => {
    const [direct, byGroup] = [await anAcl(api, { url: 'https://a.example' }), await anAcl(api)]
    const { ID } = (await admin.post('/admin/users', body({ AclIds: [direct] }))).body.data
    const Name = `Group ${Math.random()}`
    await admin.post('/admin/groups', { Name, ACLIDs: [byGroup, direct], UserIDs: [ID] })
    expect((await admin.get(`/admin/users/${ID}/groups`)).body.data).toMatchObject([{ Name, Type: 'local' }])
    const { data } = (await admin.get(`/admin/users/${ID}/acls`)).body
    expect(data).toHaveLength(2)
    expect(data).toContainEqual(
      expect.objectContaining({ ID: direct, URL: 'https://a.example', Direct: true, Groups: [Name] }),
    )
    expect(data).toContainEqual(expect.objectContaining({ ID: byGroup, Direct: false, Groups: [Name] }))
    expect((await admin.get(`/admin/users/${ID}/sessions`)).body).toEqual({ data: [] })
  })

  it('is of nobody for an unknown id', async () => {
    for (const part of ['', '/groups', '/acls', '/sessions'])
      expect((await admin.get(`/admin/users/${unknownId}${part}`)).status).toBe(404)
  })
})

describe('the users’ pages', () => {
  it('are the administrators’ only', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const answers = [
      await browser.get('/admin/users'),
      await browser.get(`/admin/users/${user.id}`),
      await browser.post('/admin/users', body()),
      await browser.put(`/admin/users/${user.id}`, { Name: 'Owner', AclIds: [] }),
      await browser.delete(`/admin/users/${user.id}`),
      await browser.delete(`/admin/users/${user.id}/totpToken`),
      await api.browser().delete(`/admin/users/${user.id}`),
    ]
    for (const answer of answers) expect(answer.body).toEqual({ Err: 'err.invalidSession' })
    expect((await read(user.id)).Name).toBe('Ada Lovelace')
  })

  it('need the second step as well, and an id', async () => {
    const user = await aUser(api)
    const half = api.browser()
    const { userName } = await anAdmin(api, { totpEnabled: true })
    await half.post('/admin/login', { UserName: userName, Password: rightPassword })
    for (const answer of [
      await half.get('/admin/users'),
      await half.get(`/admin/users/${user.id}`),
      await half.post('/admin/users', body()),
      await half.put(`/admin/users/${user.id}`, { Name: 'x' }),
      await half.delete(`/admin/users/${user.id}`),
      await half.delete(`/admin/users/${user.id}/totpToken`),
      await half.get(`/admin/users/${user.id}/sessions`),
      await half.get(`/admin/users/${user.id}/groups`),
      await half.get(`/admin/users/${user.id}/acls`),
    ])
      expect([answer.status, answer.body]).toEqual([403, { Err: 'err.totpEnrolmentRequired' }])
    for (const answer of [
      await admin.get('/admin/users/me'),
      await admin.put('/admin/users/me', { Name: 'x' }),
      await admin.delete('/admin/users/me'),
      await admin.delete('/admin/users/me/totpToken'),
      await admin.get('/admin/users/me/sessions'),
    ])
      expect([answer.status, answer.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'id' }])
  })
})

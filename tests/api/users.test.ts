import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  aGrant,
  aLicence,
  anAcl,
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

  it('is not for users that an identity provider makes', async () => {
    for (const authType of ['SAML', 'OIDC']) {
      const user = await aUser(api, { authType })
      const answer = await admin.put(`/admin/users/${user.id}`, { Name: 'x' })
      expect([answer.status, answer.body.Err]).toEqual([403, 'err.forbidden'])
    }
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
      await api.browser().delete(`/admin/users/${user.id}`),
    ]
    for (const answer of answers) expect(answer.body).toEqual({ Err: 'err.invalidSession' })
    expect((await read(user.id)).Name).toBe('Ada Lovelace')
  })
})

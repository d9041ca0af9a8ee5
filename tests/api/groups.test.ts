import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  aGrant,
  aLicence,
  anAcl,
  anAdmin,
  aUser,
  auditOf,
  endOf,
  rightPassword,
  signedIn,
  signedInAdmin,
} from '#tests/support/people-builders.ts'

let api: PeopleApi
let admin: Browser & { name: string }
beforeAll(async () => {
  api = await startPeopleApi()
  admin = await signedInAdmin(api)
  await aLicence(api)
})
afterAll(() => api.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
let count = 0
const newName = () => `Group ${(count += 1)}`
const make = async (fields: Record<string, unknown> = {}) =>
  (await admin.post('/admin/groups', { Name: newName(), ...fields })).body.data.ID as string
const read = async (id: string) => (await admin.get(`/admin/groups/${id}`)).body.data

/** A group whose one member has a door open by it. */
async function withAccess() {
  const [user, aclId] = [await aUser(api), await anAcl(api)]
  const id = await make({ ACLIDs: [aclId], UserIDs: [user.id] })
  await signedIn(api, user)
  return { id, user, aclId, name: (await read(id)).Name, grant: await aGrant(api, user.id, aclId) }
}

describe('creating a group', () => {
  it('makes it with members and knocs, a child’s id meaning its parent', async () => {
    const parent = await anAcl(api)
    const child = await anAcl(api, { parentId: parent })
    const user = await aUser(api)
    const Name = newName()
    const { status, body } = await admin.post('/admin/groups', {
      Name,
      Description: 'who may',
      ACLIDs: [child],
      UserIDs: [user.id, user.id.toUpperCase()],
    })
    expect(status).toBe(201)
    expect(await read(body.data.ID)).toMatchObject({
      ID: body.data.ID,
      Name,
      Description: 'who may',
      Type: 'local',
      ACLIDs: [parent],
      UserIDs: [user.id],
      UserCount: 1,
    })
    expect(await auditOf(api, Name)).toMatchObject([
      { kind: 'CreateGroup', fields: { AdminName: admin.name } },
    ])
  })

  it('refuses a taken name in any case, and takes that of a deleted group', async () => {
    const id = await make()
    const { Name } = await read(id)
    const taken = await admin.post('/admin/groups', { Name: Name.toUpperCase() })
    expect([taken.status, taken.body]).toEqual([409, { Err: 'err.groupNameTaken' }])
    await admin.delete(`/admin/groups/${id}`)
    expect((await admin.post('/admin/groups', { Name })).status).toBe(201)
  })

  it('takes nobody whom an identity provider makes', async () => {
    for (const authType of ['SAML', 'OIDC']) {
      const [local, foreign] = [await aUser(api), await aUser(api, { authType })]
      const answer = await admin.post('/admin/groups', {
        Name: newName(),
        UserIDs: [local.id, foreign.id],
      })
      expect([answer.status, answer.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'UserIDs.1' }])
    }
    for (const authType of ['LDAP', 'apikey'])
      expect(await make({ UserIDs: [(await aUser(api, { authType })).id] })).toBeDefined()
  })

  it('gives a SAML group no members by hand', async () => {
    const user = await aUser(api)
    const answer = await admin.post('/admin/groups', { Name: newName(), Type: 'saml', UserIDs: [user.id] })
    expect([answer.status, answer.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'UserIDs' }])
  })

  it.each([
    ['a user that is not there', { UserIDs: [unknownId] }, 422, 'UserIDs.0'],
    ['a knoc that is not there', { ACLIDs: [unknownId] }, 422, 'ACLIDs.0'],
    ['a type in another case', { Type: 'SAML' }, 422, 'Type'],
    ['an empty name', { Name: '' }, 422, 'Name'],
    ['what is no id', { UserIDs: ['me'] }, 422, 'UserIDs.0'],
    ['a wrong type', { UserIDs: 'me' }, 400, 'UserIDs'],
    ['an unknown field', { UserIds: [] }, 400, 'UserIds'],
  ])('refuses %s', async (_, fields, status, extra) => {
    const answer = await admin.post('/admin/groups', { Name: newName(), ...fields })
    const code = status === 400 ? 'err.badRequest' : 'err.invalidField'
    expect([answer.status, answer.body]).toEqual([status, { Err: code, Extra: extra }])
  })
})

describe('the list of groups', () => {
  it('is searched, sorted and cut in pages', async () => {
    const mark = `mark${Math.random().toString(36).slice(2, 8)}`
    const [one, two] = [await aUser(api), await aUser(api)]
    await admin.post('/admin/groups', { Name: `B ${mark}`, UserIDs: [one.id, two.id] })
    await admin.post('/admin/groups', { Name: `a ${mark}`, ACLIDs: [await anAcl(api)] })
    await admin.post('/admin/groups', { Name: `c ${count}`, Description: mark, UserIDs: [one.id] })
    const list = async (query: string) => {
      const { body } = await admin.get(`/admin/groups?search=${mark}&${query}`)
      return [body.data.map((row: { Name: string }) => row.Name[0]).join(''), body.total]
    }
    expect(await list('sort=Name')).toEqual(['aBc', undefined])
    expect(await list('sort=-UserCount&limit=2')).toEqual(['Bc', 3])
    expect(await list('sort=-KnocCount&limit=1')).toEqual(['a', 3])
    expect((await admin.get('/admin/groups?sort=Secret')).status).toBe(422)
  })
})

describe('changing a group', () => {
  it('takes lists as wholes, keeps absent fields, and never another type', async () => {
    const [one, two, three] = [await aUser(api), await aUser(api), await aUser(api)]
    const [first, second] = [await anAcl(api), await anAcl(api)]
    const id = await make({ Description: 'old', UserIDs: [one.id, two.id], ACLIDs: [first] })
    const Name = newName()
    const answer = await admin.put(`/admin/groups/${id}`, {
      Name,
      UserIDs: [two.id, three.id],
      ACLIDs: [second],
    })
    expect([answer.status, answer.body]).toEqual([200, { data: null }])
    const after = await read(id)
    expect(after).toMatchObject({ Name, Description: 'old', Type: 'local', ACLIDs: [second] })
    expect(after.UserIDs.toSorted()).toEqual([two.id, three.id].toSorted())
    const typed = await admin.put(`/admin/groups/${id}`, { Name, Type: 'saml' })
    expect([typed.status, typed.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'Type' }])
    await admin.put(`/admin/groups/${id}`, { ID: id, Name, Type: 'local', Description: '', UserIDs: [] })
    expect(await read(id)).toMatchObject({ Description: null, UserIDs: [], ACLIDs: [second] })
  })

  it('keeps the members that claims made', async () => {
    const foreign = await aUser(api, { authType: 'SAML' })
    const id = await make({ Type: 'saml' })
    await api.db
      .insertInto('groupMembers')
      .values({ groupId: id, userId: foreign.id, source: 'claim' })
      .execute()
    const whole = await read(id)
    const same = await admin.put(`/admin/groups/${id}`, { Name: whole.Name, UserIDs: whole.UserIDs })
    expect(same.status).toBe(200)
    const without = await admin.put(`/admin/groups/${id}`, { Name: whole.Name, UserIDs: [] })
    expect(without.body).toEqual({ Err: 'err.invalidField', Extra: 'UserIDs' })
    expect((await read(id)).UserIDs).toEqual([foreign.id])
  })

  it('keeps the members of a dynamic group that claims made, named or not, and leaves them what they are', async () => {
    const [foreign, directory] = [
      await aUser(api, { authType: 'SAML' }),
      await aUser(api, { authType: 'LDAP' }),
    ]
    const [first, second] = [await aUser(api), await aUser(api)]
    const id = await make({ Type: 'dynamic', UserIDs: [first.id] })
    for (const { id: userId } of [foreign, directory])
      await api.db.insertInto('groupMembers').values({ groupId: id, userId, source: 'claim' }).execute()
    const { Name, UserIDs } = await read(id)
    expect(UserIDs.toSorted()).toEqual([first.id, foreign.id, directory.id].toSorted())
    const sources = async () =>
      Object.fromEntries(
        (
          await api.db
            .selectFrom('groupMembers')
            .select(['userId', 'source'])
            .where('groupId', '=', id)
            .execute()
        ).map(({ userId, source }) => [userId, source]),
      )

    const whole = await admin.put(`/admin/groups/${id}`, { Name, UserIDs: [...UserIDs, second.id] })
    expect(whole.status).toBe(200)
    const both = { [foreign.id]: 'claim', [directory.id]: 'claim' }
    expect(await sources()).toEqual({ ...both, [first.id]: 'admin', [second.id]: 'admin' })
    await admin.put(`/admin/groups/${id}`, { Name, UserIDs: [second.id] })
    expect(await sources()).toEqual({ ...both, [second.id]: 'admin' })
    await admin.put(`/admin/groups/${id}`, { Name, UserIDs: [] })
    expect(await sources()).toEqual(both)
    const byHand = await admin.put(`/admin/groups/${id}`, {
      Name,
      UserIDs: [(await aUser(api, { authType: 'SAML' })).id],
    })
    expect([byHand.status, byHand.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'UserIDs.0' }])
  })

  it('closes nothing of a member by claim whom a list leaves out', async () => {
    const [user, aclId] = [await aUser(api), await anAcl(api)]
    const id = await make({ Type: 'dynamic', ACLIDs: [aclId] })
    await api.db
      .insertInto('groupMembers')
      .values({ groupId: id, userId: user.id, source: 'claim' })
      .execute()
    await signedIn(api, user)
    const grant = await aGrant(api, user.id, aclId)
    await admin.put(`/admin/groups/${id}`, { Name: (await read(id)).Name, UserIDs: [] })
    expect((await endOf(api, grant)).endedReason).toBeNull()
  })

  it('keeps its members under another name until they sign in again', async () => {
    const user = await aUser(api, { authType: 'SAML' })
    const id = await make({ Type: 'saml' })
    await api.db
      .insertInto('groupMembers')
      .values({ groupId: id, userId: user.id, source: 'claim' })
      .execute()
    const renamed = await admin.put(`/admin/groups/${id}`, { Name: newName() })
    expect([renamed.status, (await read(id)).UserIDs]).toEqual([200, [user.id]])
  })

  it('refuses a change from an older version, whoever changed the members', async () => {
    const [user, aclId] = [await aUser(api), await anAcl(api)]
    const id = await make({ UserIDs: [user.id], ACLIDs: [aclId] })
    const old = (await admin.get(`/admin/groups/${id}`)).headers.get('ETag') ?? ''
    await api.db.deleteFrom('groupAcls').where('groupId', '=', id).execute()
    const stale = await admin.put(
      `/admin/groups/${id}`,
      { Name: newName(), ACLIDs: [aclId] },
      { 'If-Match': old },
    )
    expect([stale.status, stale.body]).toEqual([409, { Err: 'err.changedMeanwhile' }])
    expect((await read(id)).ACLIDs).toEqual([])
  })

  it('keeps what two administrators change at the same moment', async () => {
    const users = await Promise.all(Array.from({ length: 6 }, () => aUser(api)))
    const id = await make()
    const { Name } = await read(id)
    const old = (await admin.get(`/admin/groups/${id}`)).headers.get('ETag') ?? ''
    const answers = await Promise.all(
      users.map((user) =>
        admin.put(`/admin/groups/${id}`, { Name, UserIDs: [user.id] }, { 'If-Match': old }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([
      200, 409, 409, 409, 409, 409,
    ])
    expect((await read(id)).UserIDs).toHaveLength(1)
  })

  it('refuses another’s name, another id and an unknown group', async () => {
    const [id, other] = [await make(), await make()]
    const taken = await admin.put(`/admin/groups/${id}`, { Name: (await read(other)).Name })
    expect([taken.status, taken.body]).toEqual([409, { Err: 'err.groupNameTaken' }])
    const mismatching = await admin.put(`/admin/groups/${id}`, { ID: other, Name: 'x' })
    expect([mismatching.status, mismatching.body]).toEqual([400, { Err: 'err.mismatchingIDs' }])
    expect((await admin.put(`/admin/groups/${unknownId}`, { Name: 'x' })).status).toBe(404)
    expect((await admin.get(`/admin/groups/${unknownId}`)).status).toBe(404)
  })
})

describe('what a change of a group closes', () => {
  it('is a member’s door when the member goes', async () => {
    const { id, name, grant } = await withAccess()
    await admin.put(`/admin/groups/${id}`, { Name: name, UserIDs: [] })
    expect((await endOf(api, grant)).endedReason).toBe('groupChanged')
  })

  it('is everybody’s door when the knoc goes', async () => {
    const { id, name, grant } = await withAccess()
    await admin.put(`/admin/groups/${id}`, { Name: name, ACLIDs: [] })
    expect((await endOf(api, grant)).endedReason).toBe('groupChanged')
  })

  it('is everything when the group goes, but for what is given otherwise', async () => {
    const [lost, kept] = [await withAccess(), await withAccess()]
    await api.db.insertInto('userAcls').values({ userId: kept.user.id, aclId: kept.aclId }).execute()
    for (const { id } of [lost, kept])
      expect((await admin.delete(`/admin/groups/${id}`)).body).toEqual({ data: null })
    expect((await endOf(api, lost.grant)).endedReason).toBe('groupChanged')
    expect((await endOf(api, kept.grant)).endedReason).toBeNull()
    expect((await admin.delete(`/admin/groups/${lost.id}`)).status).toBe(404)
    expect((await auditOf(api, lost.name)).map(({ kind }) => kind)).toEqual(['CreateGroup', 'DeleteGroup'])
  })

  it('is nothing when somebody else joins', async () => {
    const { id, name, user, grant } = await withAccess()
    await admin.put(`/admin/groups/${id}`, { Name: name, UserIDs: [user.id, (await aUser(api)).id] })
    expect((await endOf(api, grant)).endedReason).toBeNull()
  })
})

describe('the groups’ pages', () => {
  it('are the administrators’ only', async () => {
    const browser = await signedIn(api, await aUser(api))
    const id = await make()
    const answers = [
      await browser.get('/admin/groups'),
      await browser.get(`/admin/groups/${id}`),
      await browser.post('/admin/groups', { Name: newName() }),
      await browser.put(`/admin/groups/${id}`, { Name: newName() }),
      await browser.delete(`/admin/groups/${id}`),
    ]
    for (const answer of answers) expect(answer.body).toEqual({ Err: 'err.invalidSession' })
  })

  it('need the second step as well, and an id', async () => {
    const half = api.browser()
    const { userName } = await anAdmin(api, { totpEnabled: true })
    await half.post('/admin/login', { UserName: userName, Password: rightPassword })
    const id = await make()
    for (const answer of [
      await half.get('/admin/groups'),
      await half.get(`/admin/groups/${id}`),
      await half.post('/admin/groups', { Name: newName() }),
      await half.put(`/admin/groups/${id}`, { Name: newName() }),
      await half.delete(`/admin/groups/${id}`),
    ])
      expect([answer.status, answer.body]).toEqual([403, { Err: 'err.totpEnrolmentRequired' }])
    for (const answer of [
      await admin.get('/admin/groups/me'),
      await admin.put('/admin/groups/me', { Name: newName() }),
      await admin.delete('/admin/groups/me'),
    ])
      expect([answer.status, answer.body]).toEqual([422, { Err: 'err.invalidField', Extra: 'id' }])
  })
})

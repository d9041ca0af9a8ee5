import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUserSession } from '#server/sessions/session.service.ts'
import { type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
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
beforeAll(async () => {
  api = await startPeopleApi()
})
afterAll(() => api.stop())

const userCookie = '__Host-knoc_user'
const unknownId = '00000000-0000-4000-8000-000000000000'

const endReason = async (userId: string) =>
  (
    await api.db
      .selectFrom('sessions')
      .select('endedReason')
      .where('userId', '=', userId)
      .orderBy('createdAt')
      .execute()
  ).map((row) => row.endedReason)

const machineSession = (userId: string) =>
  createUserSession(api.deps, {
    userId,
    kind: 'machine',
    kiosk: false,
    atMostMinutes: null,
    client: {
      address: '198.51.100.7',
      untrustedProxy: null,
      userAgent: null,
      deviceTokens: { user: undefined, admin: undefined },
    },
    act: async () => undefined,
  })

describe('a request’s session', () => {
  it('is nobody’s without a cookie, with a foreign one, and past its end', async () => {
    const user = await aUser(api)
    const browser = api.browser()
    expect((await browser.get('/whoami')).status).toBe(401)
    browser.jar.set(userCookie, 'x'.repeat(43))
    expect((await browser.get('/whoami')).status).toBe(401)
    const inside = await signedIn(api, user)
    await api.db
      .updateTable('sessions')
      .set({ endsAt: new Date(Date.now() - 1000) })
      .where('userId', '=', user.id)
      .execute()
    const { status, body } = await inside.get('/whoami')
    expect([status, body]).toEqual([401, { Err: 'err.invalidSession' }])
  })

  it('dies with its user, whatever its row says', async () => {
    for (const columns of [
      { loginEnabled: false },
      { deletedAt: new Date() },
      { validUntil: new Date(Date.now() - 1000) },
    ]) {
      const user = await aUser(api)
      const browser = await signedIn(api, user)
      await api.db.updateTable('users').set(columns).where('id', '=', user.id).execute()
      expect((await browser.get('/whoami')).status).toBe(401)
    }
  })

  it('is a machine’s by Bearer token only, and a browser’s by cookie only', async () => {
    const user = await aUser(api)
    const { token } = await machineSession(user.id)
    const machine = api.browser()
    const byBearer = await machine.get('/whoami', { Authorization: `Bearer ${token}` })
    expect([byBearer.status, byBearer.body.data.UserName]).toEqual([200, user.userName])
    machine.jar.set(userCookie, token)
    expect((await machine.get('/whoami')).status).toBe(401)

    const browser = await signedIn(api, user)
    const cookie = browser.jar.get(userCookie) ?? ''
    const asMachine = await api.browser().get('/whoami', { Authorization: `Bearer ${cookie}` })
    expect(asMachine.status).toBe(401)
  })

  it('of a machine signs out like any other', async () => {
    const user = await aUser(api)
    const { token } = await machineSession(user.id)
    const headers = { Authorization: `Bearer ${token}` }
    expect((await api.browser().post('/logout', undefined, headers)).status).toBe(200)
    expect((await api.browser().get('/whoami', headers)).status).toBe(401)
  })

  it('refuses a page that believes in another one', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const tag = (await browser.get('/whoami')).body.data.Session
    expect((await browser.get('/whoami', { 'X-Knoc-Session': tag })).status).toBe(200)
    await browser.post('/login', { UserName: (await aUser(api)).userName, Password: rightPassword })
    const { status, body } = await browser.get('/whoami', { 'X-Knoc-Session': tag })
    expect([status, body]).toEqual([409, { Err: 'err.sessionChanged' }])
  })

  it('is marked as seen at most every 10 seconds, and never waits for it', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const seen = async () =>
      (
        await api.db
          .selectFrom('sessions')
          .select('seenAt')
          .where('userId', '=', user.id)
          .executeTakeFirstOrThrow()
      ).seenAt.getTime()
    const atFirst = await seen()
    await browser.get('/whoami')
    expect(await seen()).toBe(atFirst)
    const old = new Date(Date.now() - 11_000)
    await api.db.updateTable('sessions').set({ seenAt: old }).where('userId', '=', user.id).execute()
    await api.db.transaction().execute(async (tx) => {
      await tx.selectFrom('sessions').select('id').where('userId', '=', user.id).forUpdate().execute()
      expect((await browser.get('/whoami')).status).toBe(200)
    })
    expect(await seen()).toBe(old.getTime())
    await browser.get('/whoami')
    expect(await seen()).toBeGreaterThan(old.getTime())
  })
})

describe('a new sign-in', () => {
  it('has a new token and ends the session that the browser had, and only that', async () => {
    const user = await aUser(api)
    const elsewhere = await signedIn(api, user)
    const browser = await signedIn(api, user)
    const old = browser.jar.get(userCookie) ?? ''
    await browser.post('/login', { UserName: user.userName, Password: rightPassword })
    expect(browser.jar.get(userCookie)).not.toBe(old)
    expect((await browser.get('/whoami')).status).toBe(200)
    expect((await elsewhere.get('/whoami')).status).toBe(200)
    browser.jar.set(userCookie, old)
    expect((await browser.get('/whoami')).status).toBe(401)
  })

  it('ends another account’s session of the browser together with its grants', async () => {
    await aLicence(api)
    const first = await aUser(api)
    const browser = await signedIn(api, first)
    const aclId = await anAcl(api)
    await api.db.insertInto('userAcls').values({ userId: first.id, aclId }).execute()
    const grant = await aGrant(api, first.id, aclId)
    await browser.post('/login', { UserName: (await aUser(api)).userName, Password: rightPassword })
    expect((await endOf(api, grant)).endedReason).toBe('logout')
    expect(await endReason(first.id)).toEqual(['logout'])
  })

  it('leaves the session alone when it fails', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    await browser.post('/login', { UserName: user.userName, Password: 'wrong' })
    expect((await browser.get('/whoami')).status).toBe(200)
  })
})

describe('the session limit', () => {
  it('ends the oldest session of the user with what it opened', async () => {
    await aLicence(api)
    const user = await aUser(api, { sessionLimit: 2 })
    const first = await signedIn(api, user)
    const aclId = await anAcl(api)
    await api.db.insertInto('userAcls').values({ userId: user.id, aclId }).execute()
    const grant = await aGrant(api, user.id, aclId)
    const second = await signedIn(api, user)
    const third = await signedIn(api, user)
    expect((await first.get('/whoami')).status).toBe(401)
    expect((await second.get('/whoami')).status).toBe(200)
    expect((await third.get('/whoami')).status).toBe(200)
    expect((await endOf(api, grant)).endedReason).toBe('sessionLimit')
    expect(await endReason(user.id)).toEqual(['sessionLimit', null, null])
  })

  it('is the smaller of the user’s and the licence’s, and the licence’s where the user has none', async () => {
    for (const [own, licensed, left] of [
      [3, 1, 1],
      [1, 3, 1],
      [null, 2, 2],
      [null, null, 3],
    ] as const) {
      await aLicence(api, { sessionLimit: licensed })
      const user = await aUser(api, { sessionLimit: own })
      for (let round = 0; round < 3; round += 1) await signedIn(api, user)
      expect((await endReason(user.id)).filter((reason) => reason === null).length).toBe(left)
    }
    await noLicence(api)
  })

  it('holds for sign-ins at the same moment', async () => {
    const user = await aUser(api, { sessionLimit: 1 })
    await Promise.all(Array.from({ length: 4 }, (_, host) => signedIn(api, user, `192.0.2.${host + 1}`)))
    expect((await endReason(user.id)).filter((reason) => reason === null).length).toBe(1)
  })
})

describe('an administrator', () => {
  it('ends one session of a user with what it opened, and is named for it', async () => {
    await aLicence(api)
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const aclId = await anAcl(api)
    await api.db.insertInto('userAcls').values({ userId: user.id, aclId }).execute()
    const grant = await aGrant(api, user.id, aclId)
    const admin = await signedInAdmin(api)
    const listed = await admin.get(`/admin/users/${user.id}/sessions`)
    expect(listed.body.data).toMatchObject([{ IPAddress: '198.51.100.7' }])
    const path = `/admin/sessions/${listed.body.data[0].ID}`

    expect((await admin.delete(path)).body).toEqual({ data: null })
    expect((await browser.get('/whoami')).status).toBe(401)
    expect((await endOf(api, grant)).endedReason).toBe('sessionEnded')
    const ended = (await auditOf(api, user.userName)).find(({ kind }) => kind === 'SessionEnded')
    expect(ended?.fields.AdminName).toBe(admin.name)
    expect((await admin.delete(path)).body).toEqual({ Err: 'err.notFound' })
  })

  it('ends all sessions of all users, half ones too, but not those of administrators', async () => {
    const users = await Promise.all([aUser(api), aUser(api)])
    const browsers = await Promise.all(users.map((user) => signedIn(api, user)))
    const half = api.browser()
    const careful = await aUser(api, { totpEnabled: true })
    await half.post('/login', { UserName: careful.userName, Password: rightPassword })
    const admin = await signedInAdmin(api)
    expect((await admin.delete('/admin/sessions')).body).toEqual({ data: null })
    for (const browser of [...browsers, half]) expect((await browser.get('/whoami')).status).toBe(401)
    expect((await admin.get('/admin/users')).status).toBe(200)
  })

  it('gets 404 for a session that never was, and 422 for what is no id', async () => {
    const admin = await signedInAdmin(api)
    expect((await admin.delete(`/admin/sessions/${unknownId}`)).status).toBe(404)
    const odd = await admin.delete('/admin/sessions/1;drop')
    expect([odd.status, odd.body.Err]).toEqual([422, 'err.invalidField'])
  })

  it('must be one', async () => {
    const user = await signedIn(api, await aUser(api))
    expect((await user.delete('/admin/sessions')).body).toEqual({ Err: 'err.invalidSession' })
    const half = api.browser()
    const { userName } = await anAdmin(api, { totpEnabled: true, totpConfirmedAt: new Date() })
    await half.post('/admin/login', { UserName: userName, Password: rightPassword })
    expect((await half.delete('/admin/sessions')).body).toEqual({ Err: 'err.totpVerificationRequired' })
  })
})

describe('a public URL in plain http', () => {
  it('has cookies without prefix and Secure', async () => {
    const plain = await startPeopleApi({ KNOC_PUBLIC_URL: 'http://localhost:8080' })
    try {
      const browser = await signedIn(plain, await aUser(plain))
      expect([...browser.jar.keys()]).toEqual(['knoc_user', 'knoc_device_user'])
      const { headers } = await browser.post('/logout')
      expect(headers.getSetCookie()[0]).toMatch(/^knoc_user=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/)
    } finally {
      await plain.stop()
    }
  })
})

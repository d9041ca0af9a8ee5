import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
const adminCookie = '__Host-knoc_admin'

describe('signing in as a user', () => {
  it('opens a session with a cookie that only https and no script can read', async () => {
    const user = await aUser(api)
    const browser = api.browser()
    const { status, body, headers } = await browser.post('/login', {
      UserName: user.userName.toUpperCase(),
      Password: rightPassword,
    })
    expect([status, body]).toEqual([200, { data: null }])
    const [cookie] = headers.getSetCookie()
    expect(cookie).toMatch(
      /^__Host-knoc_user=[\w-]{43}; Max-Age=28(800|799); Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect((await browser.get('/whoami')).body.data.UserName).toBe(user.userName)
    expect(await auditOf(api, user.userName)).toMatchObject([
      { kind: 'LoginUser', fields: { IpAddress: '198.51.100.7' } },
    ])
  })

  it('keeps no token: what the database has can’t be used as one', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const token = browser.jar.get(userCookie)
    const { tokenHash } = await api.db
      .selectFrom('sessions')
      .select('tokenHash')
      .where('userId', '=', user.id)
      .executeTakeFirstOrThrow()
    expect(tokenHash).not.toBe(token)
    browser.jar.set(userCookie, tokenHash)
    expect((await browser.get('/whoami')).body).toEqual({ Err: 'err.invalidSession' })
  })

  it('forgets the cookie with the browser on a public computer, and ends after the kiosk time', async () => {
    const user = await aUser(api)
    const { headers } = await api.browser().post('/login', {
      UserName: user.userName,
      Password: rightPassword,
      KioskMode: true,
    })
    expect(headers.getSetCookie()[0]).not.toMatch(/max-age/i)
    const session = await api.db
      .selectFrom('sessions')
      .select(['endsAt', 'createdAt', 'kiosk'])
      .where('userId', '=', user.id)
      .executeTakeFirstOrThrow()
    expect(session.kiosk).toBe(true)
    expect(Math.round((session.endsAt.getTime() - session.createdAt.getTime()) / 60_000)).toBe(30)
  })

  it('ends the session no later than the account', async () => {
    const validUntil = new Date(Date.now() + 600_000)
    const user = await aUser(api, { validUntil })
    await signedIn(api, user)
    const { endsAt } = await api.db
      .selectFrom('sessions')
      .select('endsAt')
      .where('userId', '=', user.id)
      .executeTakeFirstOrThrow()
    expect(endsAt).toEqual(validUntil)
  })

  it.each([
    ['an unknown name', async () => ({ UserName: 'nobody', Password: rightPassword })],
    ['a wrong password', async () => ({ UserName: (await aUser(api)).userName, Password: 'wrong' })],
    [
      'the password of a deleted user',
      async () => ({
        UserName: (await aUser(api, { deletedAt: new Date() })).userName,
        Password: rightPassword,
      }),
    ],
    [
      'a user that signs in by SAML',
      async () => ({ UserName: (await aUser(api, { authType: 'SAML' })).userName, Password: rightPassword }),
    ],
    [
      'a user of an API key',
      async () => ({
        UserName: (await aUser(api, { authType: 'apikey' })).userName,
        Password: rightPassword,
      }),
    ],
    [
      'an administrator’s name and password',
      async () => ({ UserName: (await anAdmin(api)).userName, Password: rightPassword }),
    ],
    [
      'the wrong password of a disabled user',
      async () => ({ UserName: (await aUser(api, { loginEnabled: false })).userName, Password: 'wrong' }),
    ],
  ])('answers %s as invalid credentials', async (_, credentials) => {
    const browser = api.browser('203.0.113.50')
    const { status, body } = await browser.post('/login', await credentials())
    expect([status, body]).toEqual([401, { Err: 'err.invalidCredentials' }])
    expect(browser.jar.size).toBe(0)
  })

  it('takes as long for an unknown name as for a wrong password', async () => {
    const user = await aUser(api)
    const timed = async (UserName: string) => {
      const began = performance.now()
      await api
        .browser(`203.0.113.${Math.ceil(Math.random() * 40)}`)
        .post('/login', { UserName, Password: 'wrong' })
      return performance.now() - began
    }
    await timed('warm-up')
    const known: number[] = []
    const unknown: number[] = []
    for (let round = 0; round < 5; round += 1) {
      known.push(await timed(user.userName))
      unknown.push(await timed(`nobody${round}`))
    }
    const least = (times: number[]) => Math.min(...times)
    expect(least(unknown)).toBeGreaterThan(least(known) / 2)
  })

  it('says that an account is disabled or over only to whoever knows its password', async () => {
    for (const columns of [{ loginEnabled: false }, { validUntil: new Date(Date.now() - 1000) }]) {
      const user = await aUser(api, columns)
      const right = await api.browser().post('/login', { UserName: user.userName, Password: rightPassword })
      expect([right.status, right.body]).toEqual([403, { Err: 'err.accountDisabled' }])
      expect((await auditOf(api, user.userName)).map(({ kind }) => kind)).toEqual(['LoginFailed'])
    }
  })

  it('says err.unauthorised instead when the browser has an admin session, complete or half', async () => {
    for (const columns of [{}, { totpEnabled: true }]) {
      const browser = await signedInAdmin(api, await anAdmin(api, columns))
      const { status, body } = await browser.post('/login', { UserName: 'nobody', Password: 'wrong' })
      expect([status, body]).toEqual([401, { Err: 'err.unauthorised' }])
    }
  })

  it('writes a failure down, but not a name that is no account’s', async () => {
    const typed = `a password typed in the wrong field ${Math.random()}`
    await api.browser().post('/login', { UserName: typed, Password: 'x' })
    expect(await auditOf(api, typed)).toEqual([])
  })

  it('needs no licence', async () => {
    await noLicence(api)
    await signedIn(api, await aUser(api))
  })

  it('stands although what follows a sign-in fails, and hands over who signed in from where', async () => {
    const user = await aUser(api)
    const seen: unknown[] = []
    api.hook.run = async (session) => {
      seen.push(session)
      throw new Error('the grants are away')
    }
    const browser = await signedIn(api, user, '2001:db8::1')
    api.hook.run = async () => undefined
    expect(seen).toMatchObject([
      {
        userId: user.id,
        userName: user.userName,
        client: { address: '2001:db8::1', family: 6, viaUntrustedProxy: false },
      },
    ])
    expect((await browser.get('/whoami')).status).toBe(200)
  })

  it('notes a proxy that nobody configured', async () => {
    const user = await aUser(api)
    await api
      .browser('10.1.2.3')
      .post(
        '/login',
        { UserName: user.userName, Password: rightPassword },
        { 'X-Forwarded-For': '203.0.113.9' },
      )
    const session = await api.db
      .selectFrom('sessions')
      .select(['ipAddress', 'untrustedProxy'])
      .where('userId', '=', user.id)
      .executeTakeFirstOrThrow()
    expect(session).toEqual({ ipAddress: '10.1.2.3', untrustedProxy: '10.1.2.3' })
  })

  it.each([
    ['malformed JSON', '{"UserName":', 400, 'err.badRequest'],
    ['a wrong type', '{"UserName":1,"Password":"x"}', 400, 'err.badRequest'],
    ['an unknown field', '{"UserName":"a","Password":"x","Admin":true}', 400, 'err.badRequest'],
    ['a missing password', '{"UserName":"a"}', 400, 'err.badRequest'],
    ['an empty password', '{"UserName":"a","Password":""}', 422, 'err.invalidField'],
    ['a NUL in the name', '{"UserName":"a\\u0000b","Password":"x"}', 422, 'err.invalidField'],
  ])('refuses %s', async (_, body, status, code) => {
    const answer = await api.browser().raw('POST', '/login', body)
    expect([answer.status, answer.body.Err]).toEqual([status, code])
  })
})

describe('the second factor', () => {
  it.each([
    ['err.totpEnrolmentRequired', { totpEnabled: true }],
    ['err.totpVerificationRequired', { totpEnabled: true, totpConfirmedAt: new Date() }],
  ])(
    'answers %s with half a session of 5 minutes that reaches only the second step and logout',
    async (code, columns) => {
      const user = await aUser(api, columns)
      const browser = api.browser()
      const login = await browser.post('/login', { UserName: user.userName, Password: rightPassword })
      expect([login.status, login.body]).toEqual([403, { Err: code }])
      expect(login.headers.getSetCookie()[0]).toMatch(/Max-Age=(300|299);/)

      const inside = await browser.get('/whoami')
      expect([inside.status, inside.body]).toEqual([403, { Err: code }])
      const password = await browser.put('/password', { CurrentPassword: 'x', NewPassword: 'long enough' })
      expect([password.status, password.body]).toEqual([403, { Err: code }])
      expect((await browser.post('/logout')).status).toBe(200)
      expect((await auditOf(api, user.userName)).map(({ kind }) => kind)).not.toContain('LoginUser')
    },
  )

  it('keeps an administrator’s half session out of everything but the bare status', async () => {
    const browser = api.browser()
    const admin = await anAdmin(api, { totpEnabled: true })
    const login = await browser.post('/admin/login', { UserName: admin.userName, Password: rightPassword })
    const factor = {
      TotpEnabled: true,
      AdminTotpVerified: false,
      HasPasskey: false,
      TotpEnrolmentDeferable: true,
    }
    expect([login.status, login.body]).toEqual([200, { data: factor }])
    expect((await browser.get('/admin/status')).body).toEqual({ data: { ...factor, SessionComplete: false } })
    const users = await browser.get('/admin/users')
    expect([users.status, users.body]).toEqual([403, { Err: 'err.totpEnrolmentRequired' }])
    expect((await browser.post('/admin/logout')).status).toBe(200)
  })

  it('can’t be put off a fourth time, nor once it is set up', async () => {
    for (const columns of [{ totpDeferrals: 3 }, { totpConfirmedAt: new Date() }]) {
      const admin = await anAdmin(api, { totpEnabled: true, ...columns })
      const { body } = await api
        .browser()
        .post('/admin/login', { UserName: admin.userName, Password: rightPassword })
      expect(body.data.TotpEnrolmentDeferable).toBe(false)
    }
  })

  it('leaves half a session worthless when it is lifted meanwhile', async () => {
    const user = await aUser(api, { totpEnabled: true })
    const browser = api.browser()
    await browser.post('/login', { UserName: user.userName, Password: rightPassword })
    await api.db.updateTable('users').set({ totpEnabled: false }).where('id', '=', user.id).execute()
    expect((await browser.get('/whoami')).body).toEqual({ Err: 'err.invalidSession' })
  })
})

describe('signing in as an administrator', () => {
  it('opens the console, not the portal', async () => {
    const browser = await signedInAdmin(api)
    expect(browser.jar.has(adminCookie)).toBe(true)
    expect((await browser.get('/admin/users')).status).toBe(200)
    expect((await browser.get('/whoami')).body).toEqual({ Err: 'err.invalidSession' })
    const token = browser.jar.get(adminCookie) ?? ''
    browser.jar.set(userCookie, token)
    expect((await browser.get('/whoami')).body).toEqual({ Err: 'err.invalidSession' })
  })

  it('refuses a user’s session', async () => {
    const browser = await signedIn(api, await aUser(api))
    browser.jar.set(adminCookie, browser.jar.get(userCookie) ?? '')
    for (const path of ['/admin/users', '/admin/groups', '/admin/status']) {
      const { status, body } = await browser.get(path)
      expect([path, status, body]).toEqual([path, 401, { Err: 'err.invalidSession' }])
    }
  })

  it('refuses a disabled administrator, and ends what he had open', async () => {
    const admin = await anAdmin(api)
    const browser = await signedInAdmin(api, admin)
    await api.db.updateTable('admins').set({ loginEnabled: false }).where('id', '=', admin.id).execute()
    expect((await browser.get('/admin/status')).status).toBe(401)
    const again = await api
      .browser()
      .post('/admin/login', { UserName: admin.userName, Password: rightPassword })
    expect([again.status, again.body]).toEqual([403, { Err: 'err.accountDisabled' }])
  })
})

describe('signing out', () => {
  it('ends the session and its grants at once; the old cookie is worth nothing', async () => {
    await aLicence(api)
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const aclId = await anAcl(api)
    await api.db.insertInto('userAcls').values({ userId: user.id, aclId }).execute()
    const grant = await aGrant(api, user.id, aclId)
    const old = browser.jar.get(userCookie) ?? ''

    expect((await browser.post('/logout')).status).toBe(200)
    expect(browser.jar.has(userCookie)).toBe(false)
    expect((await endOf(api, grant)).endedReason).toBe('logout')
    browser.jar.set(userCookie, old)
    expect((await browser.get('/whoami')).body).toEqual({ Err: 'err.invalidSession' })
    expect((await browser.post('/logout')).body).toEqual({ Err: 'err.invalidSession' })
    expect((await auditOf(api, user.userName)).map(({ kind }) => kind)).toEqual([
      'LoginUser',
      'LogoutUser',
      'RevokeGrant',
    ])
  })

  it('ends one realm and leaves the other', async () => {
    const browser = await signedInAdmin(api)
    const user = await aUser(api)
    await browser.post('/login', { UserName: user.userName, Password: rightPassword })
    const old = browser.jar.get(adminCookie) ?? ''
    expect((await browser.post('/admin/logout')).status).toBe(200)
    browser.jar.set(adminCookie, old)
    expect((await browser.get('/admin/status')).status).toBe(401)
    expect((await browser.get('/whoami')).status).toBe(200)
  })
})

describe('changing the own password', () => {
  it('keeps the session and ends the user’s others with what they opened', async () => {
    const user = await aUser(api)
    const other = await signedIn(api, user)
    const browser = await signedIn(api, user)
    const changed = await browser.put('/password', {
      CurrentPassword: rightPassword,
      NewPassword: 'a new password',
    })
    expect([changed.status, changed.body]).toEqual([200, { data: null }])
    expect((await browser.get('/whoami')).status).toBe(200)
    expect((await other.get('/whoami')).body).toEqual({ Err: 'err.invalidSession' })
    const old = await api.browser().post('/login', { UserName: user.userName, Password: rightPassword })
    expect(old.status).toBe(401)
    const fresh = await api.browser().post('/login', { UserName: user.userName, Password: 'a new password' })
    expect(fresh.status).toBe(200)
  })

  it('does the same for an administrator by POST', async () => {
    const admin = await anAdmin(api)
    const other = await signedInAdmin(api, admin)
    const browser = await signedInAdmin(api, admin)
    const changed = await browser.post('/password', {
      ExistingPassword: rightPassword,
      NewPassword: 'a new password',
    })
    expect([changed.status, changed.body]).toEqual([200, { data: null }])
    expect((await browser.get('/admin/users')).status).toBe(200)
    expect((await other.get('/admin/users')).status).toBe(401)
  })

  it('lets the method pick the realm', async () => {
    const user = await signedIn(api, await aUser(api))
    const asAdmin = await user.post('/password', { ExistingPassword: 'x', NewPassword: 'long enough' })
    expect([asAdmin.status, asAdmin.body]).toEqual([401, { Err: 'err.invalidSession' }])
    const admin = await signedInAdmin(api)
    const asUser = await admin.put('/password', { CurrentPassword: 'x', NewPassword: 'long enough' })
    expect([asUser.status, asUser.body]).toEqual([401, { Err: 'err.invalidSession' }])
  })

  it.each([
    ['a wrong current one', 'wrong', 'long enough', 401, 'err.invalidCredentials'],
    ['a short one', rightPassword, 'short', 422, 'err.passwordLength'],
    ['one of more than 64 characters', rightPassword, 'x'.repeat(65), 422, 'err.passwordLength'],
  ])('refuses %s', async (_, CurrentPassword, NewPassword, status, code) => {
    const browser = await signedIn(api, await aUser(api))
    const answer = await browser.put('/password', { CurrentPassword, NewPassword })
    expect([answer.status, answer.body.Err]).toEqual([status, code])
  })

  it('is for accounts whose password is kept here', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    await api.db.updateTable('users').set({ authType: 'SAML' }).where('id', '=', user.id).execute()
    const answer = await browser.put('/password', {
      CurrentPassword: rightPassword,
      NewPassword: 'long enough',
    })
    expect([answer.status, answer.body]).toEqual([403, { Err: 'err.passwordNotLocal' }])
  })

  it('beats a sign-in with the old password that is under way', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const late: Promise<unknown>[] = []
    const slow = { ...api.deps.passwords }
    // The sign-in has proved the old password; before its session is made, the password changes.
    api.deps.passwords.verifyPassword = async (hash, plain) => {
      const isRight = await slow.verifyPassword(hash, plain)
      api.deps.passwords.verifyPassword = slow.verifyPassword
      const change = browser.put('/password', {
        CurrentPassword: rightPassword,
        NewPassword: 'a new password',
      })
      late.push(change)
      await change
      return isRight
    }
    const login = await api.browser().post('/login', { UserName: user.userName, Password: rightPassword })
    await Promise.all(late)
    expect([login.status, login.body]).toEqual([401, { Err: 'err.invalidCredentials' }])
  })
})

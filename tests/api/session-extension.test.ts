import { generate } from 'otplib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { aUser, rightPassword, signedIn, signedInAdmin } from '#tests/support/people-builders.ts'

let api: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
})
afterAll(() => api.stop())

const path = '/sessions/current/extend'
const cookieName = '__Host-knoc_user'
const right = { Password: rightPassword }

const answer = async (browser: Browser, body: unknown) => {
  const { status, body: said } = await browser.post(path, body)
  return [status, said]
}

/** The user's sessions that live, and when the newest ends. */
async function liveSessions(userId: string): Promise<{ endsAt: Date }[]> {
  return api.db
    .selectFrom('sessions')
    .select('endsAt')
    .where('userId', '=', userId)
    .where('endedAt', 'is', null)
    .execute()
}

/** A user who has set a code generator up, signed in with it. */
async function withSecondFactor() {
  const user = await aUser(api, { totpEnabled: true })
  const browser = api.browser()
  await browser.post('/login', { UserName: user.userName, ...right })
  const { Secret: secret } = (await browser.get('/otp/generate')).body.data
  const enrolled = await browser.post('/otp/verify', { Code: await generate({ secret }) })
  return { user, browser, recoveryCodes: enrolled.body.data.RecoveryCodes as string[] }
}

describe('extending a session', () => {
  it('is one step: the password again gives a session with a whole life, and the old cookie is refused', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const soon = new Date(Date.now() + 60_000)
    await api.db.updateTable('sessions').set({ endsAt: soon }).where('userId', '=', user.id).execute()
    const oldCookie = browser.jar.get(cookieName) ?? ''
    expect(await answer(browser, right)).toEqual([200, { data: null }])

    expect((await browser.get('/whoami')).status).toBe(200)
    const [live, ...others] = await liveSessions(user.id)
    expect(others).toEqual([])
    expect(live?.endsAt.getTime()).toBeGreaterThan(Date.now() + 470 * 60_000)
    const thief = api.browser()
    thief.jar.set(cookieName, oldCookie)
    expect((await thief.get('/whoami')).status).toBe(401)
  })

  it('refuses a wrong password and leaves the session as it was', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    const before = await liveSessions(user.id)
    expect(await answer(browser, { Password: 'wrong' })).toEqual([401, { Err: 'err.invalidCredentials' }])
    expect(await liveSessions(user.id)).toEqual(before)
    expect((await browser.get('/whoami')).status).toBe(200)
  })

  it('asks for the second factor as well, once for each code', async () => {
    const { browser, recoveryCodes } = await withSecondFactor()
    expect(await answer(browser, right)).toEqual([422, { Err: 'err.invalidField', Extra: 'Code' }])
    expect(await answer(browser, { ...right, Code: '000000' })).toEqual([422, { Err: 'err.invalidCode' }])
    expect(await answer(browser, { ...right, Code: recoveryCodes[0] })).toEqual([200, { data: null }])
    expect(await answer(browser, { ...right, Code: recoveryCodes[0] })).toEqual([
      422,
      { Err: 'err.invalidCode' },
    ])
    expect((await browser.get('/whoami')).status).toBe(200)
  })

  it('sends whoever must have a second factor by now, and has none, to set it up', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    await api.db.updateTable('users').set({ totpEnabled: true }).where('id', '=', user.id).execute()
    expect(await answer(browser, right)).toEqual([403, { Err: 'err.totpEnrolmentRequired' }])
  })

  it('is not for public computers', async () => {
    const user = await aUser(api)
    const browser = api.browser()
    await browser.post('/login', { UserName: user.userName, ...right, KioskMode: true })
    expect(await answer(browser, right)).toEqual([403, { Err: 'err.forbidden' }])
  })

  it('is no way around an identity provider', async () => {
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    await api.db.updateTable('users').set({ authType: 'SAML' }).where('id', '=', user.id).execute()
    expect(await answer(browser, right)).toEqual([403, { Err: 'err.passwordNotLocal' }])
  })

  it('is refused to a disabled account, to half a session, to an administrator and to nobody', async () => {
    const half = await aUser(api, { totpEnabled: true })
    const halfIn = api.browser()
    await halfIn.post('/login', { UserName: half.userName, ...right })
    expect(await answer(halfIn, right)).toEqual([403, { Err: 'err.totpEnrolmentRequired' }])
    for (const browser of [await signedInAdmin(api), api.browser()])
      expect(await answer(browser, right)).toEqual([401, { Err: 'err.invalidSession' }])
    const user = await aUser(api)
    const browser = await signedIn(api, user)
    await api.db.updateTable('users').set({ loginEnabled: false }).where('id', '=', user.id).execute()
    expect(await answer(browser, right)).toEqual([401, { Err: 'err.invalidSession' }])
  })

  it.each([[{}], [{ Password: 5 }], [{ ...right, More: 1 }]])('refuses %j', async (body) => {
    const browser = await signedIn(api, await aUser(api))
    expect((await answer(browser, body))[0]).toBe(400)
  })
})

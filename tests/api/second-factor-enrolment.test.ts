import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resetSecondFactor } from '#server/auth/second-factor/reset-second-factor.service.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { anAdmin, aUser } from '#tests/support/people-builders.ts'
import {
  bothRealms,
  codeOf,
  middleOfStep,
  secondFactorHands,
  wrongCode,
} from '#tests/support/second-factor.ts'

let api: PeopleApi
let replica: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
  replica = await startPeopleApi({}, api.database)
})
afterAll(() => api.stop())

const {
  realms,
  half,
  enrolled,
  verify,
  secretOf,
  methodsOf,
  meanwhile,
  withCookie,
  rowOf,
  pendingSince,
  recoveryRowsOf,
  aPasskey,
  kindsOf,
} = secondFactorHands(() => api)

describe.each(bothRealms)('setting a generator up in the %s realm', (realm) => {
  const { otp, inside, cookie, kinds } = realms[realm]

  it('goes from half a session to a complete one, shows the recovery codes once, and takes no code twice', async () => {
    const person = await realms[realm].make()
    const browser = await half(realm, person)
    expect(await methodsOf(realm, browser)).toEqual({
      Step: 'enrol',
      Totp: false,
      Passkey: false,
      Deferable: realm === 'admin',
      RecoveryCodesLeft: 0,
    })
    const { Secret, URL } = (await browser.get(`${otp}/generate`)).body.data
    expect(Secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(URL).toBe(
      `otpauth://totp/Knoc:${person.userName}?secret=${Secret}&issuer=Knoc&algorithm=SHA1&digits=6&period=30`,
    )

    await middleOfStep()
    const old = browser.jar.get(cookie) ?? ''
    const code = codeOf(Secret)
    const { status, body } = await verify(realm, browser, code)
    expect(status).toBe(200)
    expect(Object.keys(body.data)).toEqual(['RecoveryCodes'])
    const codes: string[] = body.data.RecoveryCodes
    expect(new Set(codes).size).toBe(10)
    for (const each of codes) expect(each).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
    expect((await browser.get(inside)).status).toBe(200)
    expect(browser.jar.get(cookie)).not.toBe(old)
    expect((await withCookie(realm, old).get(inside)).body).toEqual({ Err: 'err.invalidSession' })
    expect(await kindsOf(person)).toEqual(['TOTPEnrolled', kinds.login])
    expect(await methodsOf(realm, browser)).toMatchObject({ Step: 'none', Totp: true, RecoveryCodesLeft: 10 })

    const next = await half(realm, person)
    expect(await methodsOf(realm, next)).toMatchObject({ Step: 'verify', Totp: true, Deferable: false })
    const again = await verify(realm, next, code)
    expect([again.status, again.body]).toEqual([422, { Err: 'err.invalidCode' }])
    expect((await verify(realm, next, codeOf(Secret, 1))).status).toBe(200)
    expect((await next.get(inside)).status).toBe(200)
  })

  it('keeps secret and recovery codes unreadable in the database', async () => {
    const person = await realms[realm].make()
    const browser = await half(realm, person)
    const { Secret } = (await browser.get(`${otp}/generate`)).body.data
    const pending = await rowOf(realm, person)
    expect(pending.totpPendingSecret).not.toContain(Secret)
    const { body } = await verify(realm, browser, codeOf(Secret))
    const row = await rowOf(realm, person)
    expect(row).toMatchObject({ totpPendingSecret: null, totpPendingAt: null })
    const place = { table: realms[realm].table, column: 'totp_secret', id: person.id }
    expect(api.deps.sealer.open(row.totpSecret ?? '', place)).toBe(Secret)
    const stored = JSON.stringify(await recoveryRowsOf(realm, person))
    for (const code of body.data.RecoveryCodes as string[]) {
      expect(stored).not.toContain(code)
      expect(stored).not.toContain(code.replaceAll('-', ''))
    }
  })

  it('shows the same secret for ten minutes, in whatever session, then another', async () => {
    const person = await realms[realm].make()
    const [one, other] = [await half(realm, person), await half(realm, person)]
    const secrets = await Promise.all([one, other, one].map((browser) => secretOf(realm, browser)))
    expect(new Set(secrets).size).toBe(1)
    await pendingSince(realm, person, 599)
    expect(await secretOf(realm, one)).toBe(secrets[0])
    await pendingSince(realm, person, 601)
    expect(await secretOf(realm, one)).not.toBe(secrets[0])
  })

  it('takes the code of a secret that was shown last as long as half a session lives, and no longer', async () => {
    const person = await realms[realm].make()
    const browser = await half(realm, person)
    const Secret = await secretOf(realm, browser)
    await pendingSince(realm, person, 901)
    const late = await verify(realm, browser, codeOf(Secret))
    expect([late.status, late.body]).toEqual([422, { Err: 'err.invalidCode' }])
    await pendingSince(realm, person, 890)
    expect((await verify(realm, browser, codeOf(Secret))).status).toBe(200)
  })

  it('refuses a code before a secret was shown, a wrong one, and leaves everything as it is', async () => {
    const person = await realms[realm].make()
    const browser = await half(realm, person)
    expect((await verify(realm, browser, '123456')).body).toEqual({ Err: 'err.invalidCode' })
    const Secret = await secretOf(realm, browser)
    expect((await verify(realm, browser, wrongCode(Secret))).body).toEqual({ Err: 'err.invalidCode' })
    expect(await rowOf(realm, person)).toMatchObject({ totpSecret: null, totpConfirmedAt: null })
    expect(await recoveryRowsOf(realm, person)).toEqual([])
    expect((await browser.get(inside)).body).toEqual({ Err: 'err.totpEnrolmentRequired' })
    expect(await kindsOf(person)).toEqual([kinds.invalid, kinds.invalid])
    expect((await verify(realm, browser, codeOf(Secret))).status).toBe(200)
  })

  it('is done once, also when it is tried twice at the same moment', async () => {
    const person = await realms[realm].make()
    const [one, other] = [await half(realm, person), await half(realm, person, replica)]
    const code = codeOf(await secretOf(realm, one))
    const answers = await Promise.all([verify(realm, one, code), verify(realm, other, code)])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await recoveryRowsOf(realm, person)).toHaveLength(10)
    expect((await kindsOf(person)).filter((kind) => kind === 'TOTPEnrolled')).toHaveLength(1)
  })

  it('is over once a secret is confirmed', async () => {
    const { person } = await enrolled(realm)
    const browser = await half(realm, person)
    const answer = await browser.get(`${otp}/generate`)
    expect([answer.status, answer.body]).toEqual([409, { Err: 'err.alreadyVerified' }])
  })

  it('refuses a half session that was to enrol when a passkey was registered meanwhile', async () => {
    const person = await realms[realm].make()
    const browser = await half(realm, person)
    const code = codeOf(await secretOf(realm, browser))
    const answer = await meanwhile(
      realm,
      person,
      (tx) => aPasskey(realm, person, tx),
      () => verify(realm, browser, code),
    )
    expect([answer.status, answer.body]).toEqual([403, { Err: 'err.totpVerificationRequired' }])
    expect(await rowOf(realm, person)).toMatchObject({ totpSecret: null, totpConfirmedAt: null })
  })
})

describe('putting the enrolment off', () => {
  const defer = (browser: Browser) => browser.post('/admin/otp/verify', { deferEnrolment: true })

  it('lets an administrator in three times in all, and never again', async () => {
    const admin = await anAdmin(api, { totpEnabled: true })
    for (let round = 0; round < 3; round += 1) {
      const browser = await half('admin', admin)
      const old = browser.jar.get('__Host-knoc_admin') ?? ''
      const { status, body } = await defer(browser)
      expect([status, body]).toEqual([200, { data: null }])
      expect((await browser.get('/admin/users')).status).toBe(200)
      expect((await withCookie('admin', old).get('/admin/users')).status).toBe(401)
    }
    const browser = await half('admin', admin)
    expect(await methodsOf('admin', browser)).toMatchObject({ Step: 'enrol', Deferable: false })
    const fourth = await defer(browser)
    expect([fourth.status, fourth.body]).toEqual([409, { Err: 'err.deferralsUsedUp' }])
    expect((await browser.get('/admin/users')).body).toEqual({ Err: 'err.totpEnrolmentRequired' })
    const kinds = await kindsOf(admin)
    expect(kinds.filter((kind) => kind === 'TOTPDeferred')).toHaveLength(3)

    await api.db.transaction().execute((tx) => resetSecondFactor(tx, { realm: 'admin', id: admin.id }))
    expect((await defer(await half('admin', admin))).body).toEqual({ Err: 'err.deferralsUsedUp' })
  })

  it('counts deferrals of the same moment, too', async () => {
    const admin = await anAdmin(api, { totpEnabled: true, totpDeferrals: 1 })
    const browsers = await Promise.all(
      [api, replica, api, replica].map((place) => half('admin', admin, place)),
    )
    const answers = await Promise.all(browsers.map(defer))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409])
    expect((await rowOf('admin', admin)).totpDeferrals).toBe(3)
  })

  it('leaves the enrolment for later: then the token changes again, and the old one is worth nothing', async () => {
    const admin = await anAdmin(api, { totpEnabled: true })
    const browser = await half('admin', admin)
    await defer(browser)
    expect(await methodsOf('admin', browser)).toMatchObject({ Step: 'enrol', Deferable: false })
    const again = await defer(browser)
    expect([again.status, again.body]).toEqual([409, { Err: 'err.alreadyVerified' }])
    expect((await rowOf('admin', admin)).totpDeferrals).toBe(1)

    const old = browser.jar.get('__Host-knoc_admin') ?? ''
    const { body } = await verify('admin', browser, codeOf(await secretOf('admin', browser)))
    expect(body.data.RecoveryCodes).toHaveLength(10)
    expect((await browser.get('/admin/users')).status).toBe(200)
    expect((await withCookie('admin', old).get('/admin/users')).status).toBe(401)
    expect((await browser.get('/admin/otp/generate')).body).toEqual({ Err: 'err.alreadyVerified' })
  })

  it('is nothing for users', async () => {
    const browser = await half('user', await aUser(api, { totpEnabled: true }))
    const { status, body } = await browser.post('/otp/verify', { deferEnrolment: true })
    expect([status, body.Err]).toEqual([400, 'err.badRequest'])
    expect((await browser.get('/whoami')).body).toEqual({ Err: 'err.totpEnrolmentRequired' })
  })

  it('is nothing once a second factor is set up', async () => {
    const { person } = await enrolled('admin')
    const withPasskey = await anAdmin(api, { totpEnabled: true })
    await aPasskey('admin', withPasskey)
    for (const admin of [person, withPasskey]) {
      const { status, body } = await defer(await half('admin', admin))
      expect([status, body]).toEqual([403, { Err: 'err.totpVerificationRequired' }])
      expect((await rowOf('admin', admin)).totpDeferrals).toBe(0)
    }
  })

  it.each([false, 'true', 1])('means true and nothing else, not %s', async (deferEnrolment) => {
    const browser = await half('admin', await anAdmin(api, { totpEnabled: true }))
    const { status } = await browser.post('/admin/otp/verify', { deferEnrolment })
    expect([400, 422]).toContain(status)
    expect((await browser.get('/admin/users')).status).toBe(403)
  })
})

import { execFileSync } from 'node:child_process'
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resetSecondFactor } from '#server/auth/second-factor/reset-second-factor.service.ts'
import { newSeed } from '#server/auth/second-factor/totp.ts'
import type { DB } from '#server/platform/database.types.ts'
import { findProgram, requireProgram } from '#tests/support/debian.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { aUser, auditOf, rightPassword } from '#tests/support/people-builders.ts'
import {
  bothRealms,
  codeOf,
  middleOfStep,
  type Person,
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
  enrolledHere,
  verify,
  secretOf,
  methodsOf,
  meanwhile,
  failCodes,
  counterOf,
  withCookie,
  update,
  rowOf,
  recoveryRowsOf,
  aPasskey,
  endSessionOf,
  kindsOf,
} = secondFactorHands(() => api)

describe.each(bothRealms)('verifying a code in the %s realm', (realm) => {
  const { otp, inside, cookie, kinds, alreadyVerified } = realms[realm]

  it('makes the session complete, with another token, and writes both down', async () => {
    const { person, seed } = await enrolled(realm)
    const browser = await half(realm, person)
    const old = browser.jar.get(cookie) ?? ''
    const { status, body } = await verify(realm, browser, codeOf(seed))
    expect([status, body]).toEqual([200, { data: null }])
    expect((await browser.get(inside)).status).toBe(200)
    expect((await withCookie(realm, old).get(inside)).status).toBe(401)
    expect((await verify(realm, withCookie(realm, old), codeOf(seed, 1))).status).toBe(401)
    const events = (await auditOf(api, person.userName)).filter(({ kind }) => kind !== 'SessionEnded')
    expect(events).toMatchObject([
      { kind: kinds.valid, fields: { [kinds.name]: person.userName, IpAddress: '198.51.100.7' } },
      { kind: kinds.login },
    ])
  })

  it.skipIf(!requireProgram('oathtool'))('takes what oathtool shows', async () => {
    const { person, seed } = await enrolled(realm)
    const shown = execFileSync(findProgram('oathtool') ?? '', ['--totp', '--base32', seed], {
      encoding: 'utf8',
    })
    expect((await verify(realm, await half(realm, person), shown)).status).toBe(200)
  })

  it.each([
    [-2, 422],
    [-1, 200],
    [0, 200],
    [1, 200],
    [2, 422],
  ])('answers the code of %i steps from now with %i', async (off, expected) => {
    const { person, seed } = await enrolled(realm)
    const browser = await half(realm, person)
    await middleOfStep()
    expect((await verify(realm, browser, codeOf(seed, off))).status).toBe(expected)
  })

  it('takes each step once, and none before one that was used', async () => {
    const { person, seed } = await enrolled(realm)
    await middleOfStep()
    expect((await verify(realm, await half(realm, person), codeOf(seed, 0))).status).toBe(200)
    const browser = await half(realm, person)
    for (const off of [0, -1]) {
      const { status, body } = await verify(realm, browser, codeOf(seed, off))
      expect([off, status, body]).toEqual([off, 422, { Err: 'err.invalidCode' }])
    }
    expect((await verify(realm, browser, codeOf(seed, 1))).status).toBe(200)
  })

  it('lets one in of several that bring the same code to two replicas at once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { person, seed } = await enrolled(realm)
      const browsers = [await half(realm, person), await half(realm, person, replica)]
      const code = codeOf(seed)
      const answers = await Promise.all(browsers.map((browser) => verify(realm, browser, code)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
      const counted = await kindsOf(person)
      expect(counted.filter((kind) => kind === kinds.valid)).toHaveLength(1)
      expect(counted.filter((kind) => kind === kinds.invalid)).toHaveLength(1)
    }
  })

  it('makes one session of one half session, whatever codes it brings at once', async () => {
    const { person, seed } = await enrolled(realm)
    const browser = await half(realm, person)
    await middleOfStep()
    const token = browser.jar.get(cookie) ?? ''
    const answers = await Promise.all(
      [-1, 0, 1].map((off) => verify(realm, withCookie(realm, token), codeOf(seed, off))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it.each([
    ['a wrong code', (seed: string) => wrongCode(seed)],
    ['five digits', (seed: string) => codeOf(seed).slice(1)],
    ['another account’s code', () => codeOf(newSeed())],
    ['letters', () => 'abcdef'],
    ['a recovery code that never was', () => 'ABCD-EFGH-JKMN-PQRS'],
    ['the seed itself', (seed: string) => seed],
  ])('refuses %s, writes it down, and stays half', async (_, toCode) => {
    const { person, seed } = await enrolled(realm)
    const browser = await half(realm, person)
    const { status, body } = await verify(realm, browser, toCode(seed))
    expect([status, body]).toEqual([422, { Err: 'err.invalidCode' }])
    expect(await auditOf(api, person.userName)).toMatchObject([
      { kind: kinds.invalid, fields: { [kinds.name]: person.userName, ErrorMessage: 'err.invalidCode' } },
    ])
    expect((await browser.get(inside)).body).toEqual({ Err: 'err.totpVerificationRequired' })
    expect((await verify(realm, browser, codeOf(seed))).status).toBe(200)
  })

  it('is over for a complete session', async () => {
    const { person, seed } = await enrolled(realm)
    const browser = await half(realm, person)
    await verify(realm, browser, codeOf(seed))
    const answer = await verify(realm, browser, codeOf(seed, 1))
    expect([answer.status, answer.body]).toEqual([409, { Err: alreadyVerified }])
  })

  it('has nothing to do where no second factor is asked for', async () => {
    const browser = await half(realm, await realms[realm].make({ totpEnabled: false }))
    expect(await methodsOf(realm, browser)).toMatchObject({ Step: 'none', Totp: false, Deferable: false })
    expect((await verify(realm, browser, '123456')).body).toEqual({ Err: alreadyVerified })
    expect((await browser.get(`${otp}/generate`)).body).toEqual({ Err: 'err.alreadyVerified' })
  })

  it('is the owner’s passkey’s business where that is all there is', async () => {
    const person = await realms[realm].make()
    await aPasskey(realm, person)
    const browser = await half(realm, person)
    expect(await methodsOf(realm, browser)).toMatchObject({
      Step: 'verify',
      Totp: false,
      Passkey: true,
      Deferable: false,
    })
    const generate = await browser.get(`${otp}/generate`)
    expect([generate.status, generate.body]).toEqual([403, { Err: 'err.totpVerificationRequired' }])
    expect((await verify(realm, browser, '123456')).body).toEqual({ Err: 'err.invalidCode' })
  })

  it.each(['SAML', 'OIDC'])('is nothing for an account of AuthType %s', async (authType) => {
    const person = await realms[realm].make()
    const browser = await half(realm, person)
    await update(realm, person, { authType })
    for (const answer of [
      await browser.get(`${otp}/methods`),
      await browser.get(`${otp}/generate`),
      await verify(realm, browser, '123456'),
    ])
      expect([answer.status, answer.body]).toEqual([403, { Err: 'err.forbidden' }])
  })

  it('needs a live session of its own realm', async () => {
    const other = realm === 'user' ? 'admin' : 'user'
    const foreign = await half(other, await realms[other].make())
    const ended = await half(realm, await realms[realm].make())
    const token = foreign.jar.get(realms[other].cookie) ?? ''
    const late = await half(realm, await realms[realm].make())
    await endSessionOf(realm, late)
    await ended.post(realm === 'user' ? '/logout' : '/admin/logout')
    for (const browser of [api.browser(), foreign, withCookie(realm, token), ended, late])
      for (const answer of [
        await browser.get(`${otp}/methods`),
        await browser.get(`${otp}/generate`),
        await verify(realm, browser, '123456'),
      ])
        expect([answer.status, answer.body]).toEqual([401, { Err: 'err.invalidSession' }])
  })

  it('is nothing to half a session whose second factor was lifted', async () => {
    const person = await realms[realm].make()
    const browser = await half(realm, person)
    await update(realm, person, { totpEnabled: false })
    expect((await browser.get(`${otp}/methods`)).body).toEqual({ Err: 'err.invalidSession' })
    expect((await verify(realm, browser, '123456')).body).toEqual({ Err: 'err.invalidSession' })
  })

  it.each([
    ['no code', {}, realm === 'user' ? 400 : 422],
    ['an empty code', { Code: '' }, 422],
    ['a blank code', { Code: '  ' }, 422],
    ['a number', { Code: 123456 }, 400],
    ['a long text', { Code: '1'.repeat(65) }, 422],
    ['an unknown field', { Code: '123456', Extra: 1 }, 400],
    ['both at once', { Code: '123456', deferEnrolment: true }, realm === 'user' ? 400 : 422],
  ])('refuses %s before it counts', async (_, json, status) => {
    const person = await realms[realm].make()
    const browser = await half(realm, person)
    const answer = await browser.post(`${otp}/verify`, json)
    expect([answer.status, answer.body.Err]).toEqual([
      status,
      status === 400 ? 'err.badRequest' : 'err.invalidField',
    ])
    expect(await counterOf(realm, person)).toBeUndefined()
  })

  it('counts only under a lock in which everything still holds', async () => {
    const ends = (tx: Kysely<DB>, _: Person, browser: Browser) => endSessionOf(realm, browser, tx)
    const disables = (tx: Kysely<DB>, person: Person) => update(realm, person, { loginEnabled: false }, tx)
    const resets = (tx: Kysely<DB>, { id }: Person) => resetSecondFactor(tx, { realm, id })
    for (const [change, status, code] of [
      [ends, 401, 'err.invalidSession'],
      [disables, 403, 'err.accountDisabled'],
      [resets, 403, 'err.totpEnrolmentRequired'],
    ] as const) {
      const { person, seed } = await enrolled(realm)
      const browser = await half(realm, person)
      const answer = await meanwhile(
        realm,
        person,
        (tx) => change(tx, person, browser),
        () => verify(realm, browser, codeOf(seed)),
      )
      expect([answer.status, answer.body]).toEqual([status, { Err: code }])
      expect(await rowOf(realm, person)).toMatchObject({ totpLastStep: null })
      expect(await kindsOf(person)).not.toContain(kinds.login)
    }
  })
})

describe.each(bothRealms)('a recovery code in the %s realm', (realm) => {
  const { kinds } = realms[realm]

  it.each([
    ['as it was shown', (code: string) => code],
    ['in small letters', (code: string) => code.toLowerCase()],
    ['with spaces', (code: string) => ` ${code.replaceAll('-', ' ')} `],
    ['in one piece', (code: string) => code.replaceAll('-', '')],
  ])('is taken %s, in place of a code, once', async (_, spell) => {
    const { person, codes } = await enrolledHere(realm)
    const browser = await half(realm, person)
    const before = (await kindsOf(person)).length
    const { status, body } = await verify(realm, browser, spell(codes[3] ?? ''))
    expect([status, body]).toEqual([200, { data: null }])
    expect(await methodsOf(realm, browser)).toMatchObject({ RecoveryCodesLeft: 9 })
    expect((await kindsOf(person)).slice(before)).toEqual(['RecoveryCodeUsed', kinds.login])

    const again = await half(realm, person)
    const reused = await verify(realm, again, codes[3] ?? '')
    expect([reused.status, reused.body]).toEqual([422, { Err: 'err.invalidCode' }])
    expect((await verify(realm, again, codes[4] ?? '')).status).toBe(200)
  })

  it('lets one in of several that bring it to two replicas at once', async () => {
    const { person, codes } = await enrolledHere(realm)
    const browsers = await Promise.all([api, replica, api].map((place) => half(realm, person, place)))
    const answers = await Promise.all(browsers.map((browser) => verify(realm, browser, codes[0] ?? '')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422])
  })

  it('is its owner’s only', async () => {
    const { codes } = await enrolledHere(realm)
    const { person } = await enrolled(realm)
    const { status } = await verify(realm, await half(realm, person), codes[0] ?? '')
    expect(status).toBe(422)
  })

  it('doesn’t set a generator up', async () => {
    const { person, codes } = await enrolledHere(realm)
    await update(realm, person, { totpSecret: null, totpConfirmedAt: null })
    const browser = await half(realm, person)
    await secretOf(realm, browser)
    expect((await verify(realm, browser, codes[0] ?? '')).body).toEqual({ Err: 'err.invalidCode' })
  })
})

describe('a session after the second step', () => {
  it('is a public computer’s if the first step was', async () => {
    const { person, seed } = await enrolled('user')
    const browser = api.browser()
    await browser.post('/login', { UserName: person.userName, Password: rightPassword, KioskMode: true })
    const { headers } = await verify('user', browser, codeOf(seed))
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-knoc_user=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    const session = await api.db
      .selectFrom('sessions')
      .select(['kiosk', 'createdAt', 'endsAt'])
      .where('userId', '=', person.id)
      .where('stage', '=', 'complete')
      .executeTakeFirstOrThrow()
    expect(session.kiosk).toBe(true)
    expect(Math.round((session.endsAt.getTime() - session.createdAt.getTime()) / 60_000)).toBe(30)
  })

  it.each(bothRealms)('remembers the device of a %s', async (realm) => {
    const { person, seed } = await enrolled(realm)
    const browser = await half(realm, person)
    expect(browser.jar.has(realms[realm].device)).toBe(false)
    await verify(realm, browser, codeOf(seed))
    expect(browser.jar.has(realms[realm].device)).toBe(true)
  })

  it('is granted what signing in grants, and not before', async () => {
    const { person, seed } = await enrolled('user')
    const granted: string[] = []
    api.hook.run = async ({ userName }) => void granted.push(userName)
    const browser = await half('user', person)
    expect(granted).toEqual([])
    await verify('user', browser, codeOf(seed))
    api.hook.run = async () => undefined
    expect(granted).toEqual([person.userName])
  })

  it('may set up what its user must use from now on, and gets another token', async () => {
    const user = await aUser(api)
    const browser = await half('user', user)
    await update('user', user, { totpEnabled: true })
    const old = browser.jar.get('__Host-knoc_user') ?? ''
    const { status } = await verify('user', browser, codeOf(await secretOf('user', browser)))
    expect(status).toBe(200)
    expect((await browser.get('/whoami')).status).toBe(200)
    expect((await withCookie('user', old).get('/whoami')).status).toBe(401)
  })

  it('is nothing a machine’s session can ask for', async () => {
    const { person } = await enrolled('user')
    const browser = await half('user', person)
    const token = browser.jar.get('__Host-knoc_user') ?? ''
    await update('user', person, { authType: 'apikey' })
    await api.db
      .updateTable('sessions')
      .set({ kind: 'machine', stage: 'complete' })
      .where('userId', '=', person.id)
      .execute()
    const bearer = { Authorization: `Bearer ${token}` }
    expect((await api.browser().get('/otp/methods', bearer)).body).toEqual({ Err: 'err.invalidSession' })
    expect((await api.browser().post('/otp/verify', { Code: '123456' }, bearer)).body).toEqual({
      Err: 'err.invalidSession',
    })
  })
})

describe.each(bothRealms)('a reset in the %s realm', (realm) => {
  it('takes secret, recovery codes, passkeys and counted failures away, and leaves that one is needed', async () => {
    const { person, codes } = await enrolledHere(realm)
    const other = await enrolledHere(realm)
    await aPasskey(realm, person)
    const waiting = await half(realm, person)
    const { totpSecret } = await rowOf(realm, person)
    await failCodes(realm, person, newSeed(), 10)
    await update(realm, person, { totpPendingSecret: 'x', totpPendingAt: new Date() })

    await api.db.transaction().execute((tx) => resetSecondFactor(tx, { realm, id: person.id }))
    expect(await rowOf(realm, person)).toMatchObject({
      totpEnabled: true,
      totpSecret: null,
      totpConfirmedAt: null,
      totpLastStep: null,
      totpPendingSecret: null,
      totpPendingAt: null,
    })
    expect(totpSecret).not.toBeNull()
    expect(await recoveryRowsOf(realm, person)).toEqual([])
    expect(await recoveryRowsOf(realm, other.person)).toHaveLength(10)
    expect(await counterOf(realm, person)).toBeUndefined()
    expect((await verify(realm, waiting, codes[0] ?? '')).body).toEqual({ Err: 'err.invalidCode' })
    const browser = await half(realm, person)
    expect(await methodsOf(realm, browser)).toMatchObject({ Step: 'enrol', Totp: false, Passkey: false })
    expect((await verify(realm, browser, codeOf(await secretOf(realm, browser)))).status).toBe(200)
  })
})

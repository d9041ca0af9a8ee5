import { execFileSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { generateSync } from 'otplib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resetSecondFactor } from '#server/auth/second-factor/reset-second-factor.service.ts'
import { newSeed } from '#server/auth/second-factor/totp.ts'
import type { DB } from '#server/platform/database.types.ts'
import { hashToken } from '#server/platform/random.ts'
import { findProgram, requireProgram } from '#tests/support/debian.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { anAdmin, aUser, auditOf, rightPassword } from '#tests/support/people-builders.ts'
import { until } from '#tests/support/until.ts'

let api: PeopleApi
let replica: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
  replica = await startPeopleApi({}, api.database)
})
afterAll(() => api.stop())

type Person = { id: string; userName: string }
type Columns = { totpEnabled?: boolean; totpDeferrals?: number }

/** The two realms, each as its browser meets it. */
const realms = {
  user: {
    cookie: '__Host-knoc_user',
    device: '__Host-knoc_device_user',
    table: 'users',
    login: '/login',
    otp: '/otp',
    inside: '/whoami',
    alreadyVerified: 'err.userAlreadyVerified',
    make: ({ totpEnabled = true }: Columns = {}) => aUser(api, { totpEnabled }),
    kinds: { valid: 'TOTPValidUser', invalid: 'TOTPInvalidUser', login: 'LoginUser', name: 'UserName' },
  },
  admin: {
    cookie: '__Host-knoc_admin',
    device: '__Host-knoc_device_admin',
    table: 'admins',
    login: '/admin/login',
    otp: '/admin/otp',
    inside: '/admin/users',
    alreadyVerified: 'err.alreadyVerified',
    make: ({ totpEnabled = true, ...columns }: Columns = {}) => anAdmin(api, { totpEnabled, ...columns }),
    kinds: { valid: 'TOTPValidAdmin', invalid: 'TOTPInvalidAdmin', login: 'LoginAdmin', name: 'AdminName' },
  },
} as const
type RealmName = keyof typeof realms
const both = ['user', 'admin'] as const

describe.each(both)('setting a generator up in the %s realm', (realm) => {
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

describe.each(both)('verifying a code in the %s realm', (realm) => {
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
      const places = [api, replica, api, replica]
      const browsers = await Promise.all(places.map((place) => half(realm, person, place)))
      const code = codeOf(seed)
      const answers = await Promise.all(browsers.map((browser) => verify(realm, browser, code)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422])
      const counted = await kindsOf(person)
      expect(counted.filter((kind) => kind === kinds.valid)).toHaveLength(1)
      expect(counted.filter((kind) => kind === kinds.invalid)).toHaveLength(3)
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

describe.each(both)('a recovery code in the %s realm', (realm) => {
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

describe.each(both)('many wrong codes in the %s realm', (realm) => {
  it('make everybody wait after the tenth, longer each time, from wherever and at every replica', async () => {
    const { person, seed } = await enrolled(realm)
    await failCodes(realm, person, seed, 10)
    await holdWaits()
    for (const browser of [
      await half(realm, person, api, '203.0.113.60'),
      await half(realm, person, replica, '2001:db8::60'),
    ]) {
      const { status, body, headers } = await verify(realm, browser, codeOf(seed))
      expect([status, body.Err]).toEqual([429, 'err.tooManyRequests'])
      expect(headers.get('Retry-After')).toBe(body.Extra)
      expect(Number(body.Extra)).toBeGreaterThan(0)
    }
    const waits: number[] = []
    for (let round = 0; round < 13; round += 1) {
      await releaseWaits()
      await failCodes(realm, person, seed, 1)
      waits.push(await waitOf(realm, person))
    }
    expect(waits.slice(0, 3)).toEqual([4, 8, 16])
    expect(waits.at(-1)).toBe(3600)
    await releaseWaits()
    expect((await verify(realm, await half(realm, person), codeOf(seed))).status).toBe(200)
    expect(await counterOf(realm, person)).toBeUndefined()
  })

  it('are remembered for a day', async () => {
    const { person, seed } = await enrolled(realm)
    await failCodes(realm, person, seed, 10)
    const age = async (seconds: number) => {
      await releaseWaits()
      await api.db
        .updateTable('failureCounters')
        .set({ windowStartedAt: new Date(Date.now() - seconds * 1000) })
        .where('bucket', '=', `code ${realm} ${person.id}`)
        .execute()
      await failCodes(realm, person, seed, 1)
    }
    await age(86_000)
    expect(await counterOf(realm, person)).toEqual({ failures: 11 })
    await age(86_500)
    expect(await counterOf(realm, person)).toEqual({ failures: 1 })
  })

  it('can’t be tried faster by trying at once', async () => {
    const { person, seed } = await enrolled(realm)
    const browsers = await Promise.all([half(realm, person), half(realm, person, replica)])
    const wrong = wrongCode(seed)
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => verify(realm, browsers[index % 2] ?? api.browser(), wrong)),
    )
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20)
  })

  it('of a stranger who has the password don’t keep the owner out on a device he is known on', async () => {
    const { person, seed } = await enrolled(realm)
    const earlier = await half(realm, person)
    expect((await verify(realm, earlier, codeOf(seed, -1))).status).toBe(200)
    const peer = '203.0.113.61'
    await failCodes(realm, person, seed, 10, peer)
    await fillAddress(realm, peer)
    await holdWaits()

    const owner = deviceOf(realm, earlier, peer)
    await owner.post(realms[realm].login, { UserName: person.userName, Password: rightPassword })
    const stranger = api.browser(peer)
    stranger.jar.set(realms[realm].cookie, owner.jar.get(realms[realm].cookie) ?? '')
    expect((await verify(realm, stranger, codeOf(seed))).status).toBe(429)
    expect((await verify(realm, owner, codeOf(seed))).status).toBe(200)
  })

  it('on a known device make that device wait, and nobody else', async () => {
    const { person, seed } = await enrolled(realm)
    const earlier = await half(realm, person)
    expect((await verify(realm, earlier, codeOf(seed, -1))).status).toBe(200)
    const device = deviceOf(realm, earlier, '203.0.113.62')
    await device.post(realms[realm].login, { UserName: person.userName, Password: rightPassword })
    for (let round = 0; round < 10; round += 1)
      expect((await verify(realm, device, wrongCode(seed))).status).toBe(422)
    await holdWaits()
    expect((await verify(realm, device, codeOf(seed))).status).toBe(429)
    expect((await verify(realm, await half(realm, person), codeOf(seed))).status).toBe(200)
  })

  it('count for their address, too', async () => {
    const { person, seed } = await enrolled(realm)
    await failCodes(realm, person, seed, 2, '203.0.113.63')
    const bucket = `address ${realm} 203.0.113.63`
    const { failures } = await api.db
      .selectFrom('failureCounters')
      .select('failures')
      .where('bucket', '=', bucket)
      .executeTakeFirstOrThrow()
    expect(failures).toBe(2)
  })

  it('count while a generator is set up', async () => {
    const person = await realms[realm].make()
    const seed = await secretOf(realm, await half(realm, person))
    await failCodes(realm, person, seed, 10)
    await holdWaits()
    expect((await verify(realm, await half(realm, person), codeOf(seed))).status).toBe(429)
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

  it.each(both)('remembers the device of a %s', async (realm) => {
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
    expect((await api.browser().get('/otp/methods', bearer)).body).toEqual({ Err: 'err.forbidden' })
    expect((await api.browser().post('/otp/verify', { Code: '123456' }, bearer)).body).toEqual({
      Err: 'err.forbidden',
    })
  })
})

describe.each(both)('a reset in the %s realm', (realm) => {
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

/** A browser after the right password. */
async function half(realm: RealmName, { userName }: Person, place = api, peer?: string): Promise<Browser> {
  const browser = place.browser(peer)
  await browser.post(realms[realm].login, { UserName: userName, Password: rightPassword })
  if (!browser.jar.has(realms[realm].cookie)) throw new Error(`${userName} has no session`)
  return browser
}

/** Somebody with a confirmed generator and no recovery codes. */
async function enrolled(realm: RealmName): Promise<{ person: Person; seed: string }> {
  const person = await realms[realm].make()
  const seed = newSeed()
  const place = { table: realms[realm].table, column: 'totp_secret', id: person.id }
  await update(realm, person, { totpSecret: api.deps.sealer.seal(seed, place), totpConfirmedAt: new Date() })
  return { person, seed }
}

/** Somebody who set his generator up through the API: has recovery codes. */
async function enrolledHere(realm: RealmName): Promise<{ person: Person; seed: string; codes: string[] }> {
  const person = await realms[realm].make()
  const browser = await half(realm, person)
  const seed = await secretOf(realm, browser)
  const { body } = await verify(realm, browser, codeOf(seed))
  return { person, seed, codes: body.data.RecoveryCodes as string[] }
}

const verify = (realm: RealmName, browser: Browser, Code: string) =>
  browser.post(`${realms[realm].otp}/verify`, { Code })

async function secretOf(realm: RealmName, browser: Browser): Promise<string> {
  const { body } = await browser.get(`${realms[realm].otp}/generate`)
  return body.data.Secret as string
}

async function methodsOf(realm: RealmName, browser: Browser): Promise<unknown> {
  const { status, body } = await browser.get(`${realms[realm].otp}/methods`)
  expect(status).toBe(200)
  return body.data
}

/** The code of a seed, so many steps from now. */
const codeOf = (seed: string, off = 0): string =>
  generateSync({ secret: seed, epoch: Math.floor(Date.now() / 1000) + off * 30 })

/** Six digits that are none of the codes around now. */
function wrongCode(seed: string): string {
  const right = [-2, -1, 0, 1, 2].map((off) => codeOf(seed, off))
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code)) ?? ''
  )
}

/** Waits until the step that is shown lasts long enough for a slow machine. */
async function middleOfStep(): Promise<void> {
  const left = 30_000 - (Date.now() % 30_000)
  if (left < 6000) await wait(left + 100)
}

/** Makes a change between the proof of a code and the session's transaction: holds the account until that waits. */
async function meanwhile<Answer>(
  realm: RealmName,
  { id }: Person,
  change: (tx: Kysely<DB>) => Promise<unknown>,
  act: () => Promise<Answer>,
): Promise<Answer> {
  const { answer } = await api.db.transaction().execute(async (tx) => {
    await tx.selectFrom(realms[realm].table).select('id').where('id', '=', id).forUpdate().execute()
    const answer = act()
    await until('the session’s transaction waits for the account', isSomebodyWaiting)
    await change(tx)
    return { answer }
  })
  return answer
}

async function isSomebodyWaiting(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    api.db,
  )
  return rows.length > 0
}

async function failCodes(
  realm: RealmName,
  person: Person,
  seed: string,
  times: number,
  peer = '203.0.113.70',
) {
  const browser = await half(realm, person, api, peer)
  for (let round = 0; round < times; round += 1)
    expect((await verify(realm, browser, wrongCode(seed))).status).toBe(422)
}

const holdWaits = () =>
  api.db
    .updateTable('failureCounters')
    .set({ blockedUntil: new Date(Date.now() + 600_000) })
    .where('blockedUntil', 'is not', null)
    .execute()

const releaseWaits = () => api.db.updateTable('failureCounters').set({ blockedUntil: null }).execute()

const fillAddress = (realm: RealmName, peer: string) =>
  api.db
    .updateTable('failureCounters')
    .set({ failures: 300, windowStartedAt: new Date() })
    .where('bucket', '=', `address ${realm} ${peer}`)
    .execute()

const counterOf = (realm: RealmName, { id }: Person) =>
  api.db
    .selectFrom('failureCounters')
    .select('failures')
    .where('bucket', '=', `code ${realm} ${id}`)
    .executeTakeFirst()

/** Seconds that a wait was set to. */
async function waitOf(realm: RealmName, { id }: Person): Promise<number> {
  const row = await api.db
    .selectFrom('failureCounters')
    .select(['blockedUntil', 'windowStartedAt'])
    .where('bucket', '=', `code ${realm} ${id}`)
    .executeTakeFirstOrThrow()
  return ((row.blockedUntil?.getTime() ?? 0) - row.windowStartedAt.getTime()) / 1000
}

function withCookie(realm: RealmName, token: string, peer?: string): Browser {
  const browser = api.browser(peer)
  browser.jar.set(realms[realm].cookie, token)
  return browser
}

function deviceOf(realm: RealmName, browser: Browser, peer: string): Browser {
  const device = api.browser(peer)
  device.jar.set(realms[realm].device, browser.jar.get(realms[realm].device) ?? 'none')
  return device
}

type Row = {
  authType: string
  loginEnabled: boolean
  totpEnabled: boolean
  totpSecret: string | null
  totpConfirmedAt: Date | null
  totpLastStep: number | null
  totpPendingSecret: string | null
  totpPendingAt: Date | null
}

const update = (realm: RealmName, { id }: Person, columns: Partial<Row>, db = api.db) =>
  db.updateTable(realms[realm].table).set(columns).where('id', '=', id).execute()

const rowOf = (realm: RealmName, { id }: Person): Promise<Row & { totpDeferrals?: number }> =>
  api.db.selectFrom(realms[realm].table).selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const pendingSince = (realm: RealmName, person: Person, seconds: number) =>
  update(realm, person, { totpPendingAt: new Date(Date.now() - seconds * 1000) })

const ownerOf = (realm: RealmName) => (realm === 'user' ? 'userId' : 'adminId')

const recoveryRowsOf = (realm: RealmName, { id }: Person) =>
  api.db.selectFrom('recoveryCodes').selectAll().where(ownerOf(realm), '=', id).execute()

const aPasskey = (realm: RealmName, { id }: Person, db = api.db) =>
  db
    .insertInto('passkeys')
    .values({
      [ownerOf(realm)]: id,
      name: 'Key',
      credentialId: `credential ${id}`,
      publicKey: Buffer.from('key'),
    })
    .execute()

/** Ends the session of a browser's cookie, as an administrator would. */
async function endSessionOf(realm: RealmName, browser: Browser, db = api.db): Promise<void> {
  const tokenHash = hashToken(browser.jar.get(realms[realm].cookie) ?? '')
  await db
    .updateTable(realm === 'user' ? 'sessions' : 'adminSessions')
    .set({ endedAt: new Date(), endedReason: 'sessionEnded' })
    .where('tokenHash', '=', tokenHash)
    .execute()
}

/** Kinds of what was written down of somebody, without the ends of sessions. */
const kindsOf = async ({ userName }: Person): Promise<string[]> =>
  (await auditOf(api, userName)).map(({ kind }) => kind).filter((kind) => kind !== 'SessionEnded')

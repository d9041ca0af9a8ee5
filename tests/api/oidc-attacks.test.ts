import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Forgery, type HostileProvider, startHostileProvider } from '../support/hostile-provider.ts'
import { beginOidc, configureOidc, finishOidc, oidcClients, visitProvider } from '../support/oidc-journey.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '../support/people-api.ts'

let api: PeopleApi
let hostile: HostileProvider

beforeAll(async () => {
  api = await startPeopleApi()
  hostile = await startHostileProvider()
  await configureOidc(api, 'user', { ...hostile, clientSecret: 'secret' })
  await configureOidc(api, 'admin', { ...hostile, clientSecret: 'secret' })
})
afterAll(async () => {
  await hostile.stop()
  await api.stop()
})

/** One that lets somebody in by mistake must not make the others fail, too. */
beforeEach(async () => {
  for (const table of ['sessions', 'adminSessions'] as const)
    await api.db.updateTable(table).set({ endedAt: new Date() }).where('endedAt', 'is', null).execute()
})

const failed = '/?error=err.authenticationFailed'

/** Why the last sign-in was refused, by the audit log. */
async function lastReason(): Promise<string | undefined> {
  const event = await api.db
    .selectFrom('auditEvents')
    .select(['detail', 'fields'])
    .where('kind', '=', 'LoginFailed')
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return (event?.detail as { reason?: string } | undefined)?.reason
}

/** Nobody is signed in, made, or left with a way in. */
async function expectNothing(browser: Browser): Promise<void> {
  expect([...browser.jar.keys()].filter((name) => !name.includes('prelogin'))).toEqual([])
  expect((await browser.get('/whoami')).status).toBe(401)
  const sessions = await api.db.selectFrom('sessions').select('id').where('endedAt', 'is', null).execute()
  const admins = await api.db.selectFrom('adminSessions').select('id').where('endedAt', 'is', null).execute()
  expect([sessions, admins]).toEqual([[], []])
}

/** A sign-in that has come as far as the provider. */
async function begun(browser = api.browser()) {
  const request = await beginOidc(browser, 'user')
  const of = (name: string) => request.searchParams.get(name) ?? ''
  return { browser, request, state: of('state'), nonce: of('nonce') }
}

const answerTo = (state: string, more: Record<string, string> = {}) =>
  `?${new URLSearchParams({ code: 'code', state, ...more })}`

const now = () => Math.floor(Date.now() / 1000)
const sub = 'mallory'

describe('a sign-in by OIDC', () => {
  // The forger's tokens are right unless forged: without this the table below would prove nothing.
  it('is let in by a token with nothing wrong', async () => {
    const { browser, state, nonce } = await begun()
    hostile.told.idToken = await hostile.idToken(nonce, { claims: { sub } })
    hostile.told.userInfo = { sub }
    expect(await finishOidc(browser, 'user', answerTo(state))).toBe('/')
    expect((await browser.get('/whoami')).body.data.UserName).toBe('mallory')
    expect((await browser.post('/logout')).status).toBe(200)
  })

  it.each<[string, Forgery | (() => Forgery), RegExp]>([
    ['a wrong nonce', { claims: { nonce: 'x'.repeat(43) } }, /nonce/],
    ['no nonce', { without: ['nonce'] }, /nonce/],
    ['the issuer of another provider', { claims: { iss: 'https://other.example' } }, /"iss"/],
    ['no issuer', { without: ['iss'] }, /"iss"/],
    ['another audience', { claims: { aud: 'another client' } }, /"aud"/],
    ['no audience', { without: ['aud'] }, /"aud"/],
    ['several audiences and no authorised party', { claims: { aud: ['portal', 'other'] } }, /"aud"/],
    [
      'several audiences and a foreign authorised party',
      { claims: { aud: ['portal', 'other'], azp: 'other' } },
      /"azp"/,
    ],
    ['one audience and a foreign authorised party', { claims: { azp: 'other' } }, /azp/],
    ['an end in the past', () => ({ claims: { exp: now() - 60 } }), /"exp"/],
    ['no end', { without: ['exp'] }, /"exp"/],
    ['a beginning in the future', () => ({ claims: { nbf: now() + 120 } }), /"nbf"/],
    ['a time of issue in the future', () => ({ claims: { iat: now() + 120 } }), /issued in the future/],
    ['no subject', { without: ['sub'] }, /"sub"/],
    ['a stranger’s signature', { key: 'stranger' }, /signature/],
    [
      'a stranger’s signature under another key id',
      { key: 'stranger', header: { kid: 'mine' } },
      /no applicable keys/,
    ],
    ['no signature (alg none)', { key: 'none' }, /"alg"/],
    ['no signature, said in other letters (alg None)', { key: 'none', header: { alg: 'None' } }, /"alg"/],
    ['no signature, said to be RS256', { key: 'none', header: { alg: 'RS256' } }, /signature/],
    ['the public key as secret (HS256)', { key: 'public' }, /"alg"/],
    ['a critical header that nobody knows', { header: { crit: ['b64'], b64: true } as never }, /crit/],
  ])('is refused with %s', async (_, forged, reason) => {
    const { browser, state, nonce } = await begun()
    const forgery = typeof forged === 'function' ? forged() : forged
    hostile.told.idToken = await hostile.idToken(nonce, { ...forgery, claims: { sub, ...forgery.claims } })
    hostile.told.userInfo = { sub }
    expect(await finishOidc(browser, 'user', answerTo(state))).toBe(failed)
    expect(await lastReason()).toMatch(reason)
    await expectNothing(browser)
  })

  it.each<[string, unknown, RegExp]>([
    ['is somebody else', { sub: 'victim', preferred_username: 'victim' }, /"sub"/],
    ['is nobody', { preferred_username: 'victim' }, /"sub"/],
    ['is no object', ['victim'], /object|"sub"/],
  ])('is refused when the userinfo’s subject %s', async (_, userInfo, reason) => {
    const { browser, state, nonce } = await begun()
    hostile.told.idToken = await hostile.idToken(nonce, { claims: { sub } })
    hostile.told.userInfo = userInfo
    expect(await finishOidc(browser, 'user', answerTo(state))).toBe(failed)
    expect(await lastReason()).toMatch(reason)
    await expectNothing(browser)
  })

  it('is refused without an ID token', async () => {
    const { browser, state } = await begun()
    hostile.told.idToken = undefined as never
    expect(await finishOidc(browser, 'user', answerTo(state))).toBe(failed)
    expect(await lastReason()).toMatch(/id_token/)
    await expectNothing(browser)
  })

  describe('whose state', () => {
    const right = async (nonce: string) => {
      hostile.told.idToken = await hostile.idToken(nonce, { claims: { sub } })
      hostile.told.userInfo = { sub }
    }
    const noRequest = /no open request of this browser and realm/

    it('is missing is refused', async () => {
      const { browser, nonce } = await begun()
      await right(nonce)
      expect(await finishOidc(browser, 'user', '?code=code')).toBe(failed)
      expect(await lastReason()).toMatch(/no state of ours/)
      await expectNothing(browser)
    })

    it('is one that we never gave is refused', async () => {
      const { browser, nonce } = await begun()
      await right(nonce)
      expect(await finishOidc(browser, 'user', answerTo('x'.repeat(43)))).toBe(failed)
      expect(await lastReason()).toMatch(noRequest)
      await expectNothing(browser)
    })

    it('is given twice is refused', async () => {
      const { browser, state, nonce } = await begun()
      await right(nonce)
      expect(await finishOidc(browser, 'user', `${answerTo(state)}&state=${'x'.repeat(43)}`)).toBe(failed)
      expect(await lastReason()).toMatch(/only once/)
      await expectNothing(browser)
    })

    it('is another browser’s is refused, and stays good for that one', async () => {
      const victim = await begun()
      await right(victim.nonce)
      const thief = await begun()
      expect(await finishOidc(thief.browser, 'user', answerTo(victim.state))).toBe(failed)
      expect(await lastReason()).toMatch(noRequest)
      const bare = api.browser()
      expect(await finishOidc(bare, 'user', answerTo(victim.state))).toBe(failed)
      expect(await lastReason()).toMatch(/no pre-login cookie/)
      await expectNothing(thief.browser)
      await expectNothing(bare)
      expect(await finishOidc(victim.browser, 'user', answerTo(victim.state))).toBe('/')
      await victim.browser.post('/logout')
    })

    it('is the other realm’s is refused there', async () => {
      const { browser, state, nonce } = await begun()
      await right(nonce)
      expect(await finishOidc(browser, 'admin', answerTo(state))).toBe(
        '/admin/login?error=err.authenticationFailed',
      )
      expect(await lastReason()).toMatch(noRequest)
      await expectNothing(browser)
    })

    it('was used before is refused, on another replica too', async () => {
      const other = await startPeopleApi({}, api.database)
      const { browser, state, nonce } = await begun()
      await right(nonce)
      const cookies = new Map(browser.jar)
      expect(await finishOidc(browser, 'user', answerTo(state))).toBe('/')
      await browser.post('/logout')
      for (const replica of [api, other]) {
        const again = replica.browser()
        for (const [name, value] of cookies) again.jar.set(name, value)
        expect(await finishOidc(again, 'user', answerTo(state))).toBe(failed)
        expect(await lastReason()).toMatch(noRequest)
        await expectNothing(again)
      }
    })

    it('comes twice at once signs in once', async () => {
      const other = await startPeopleApi({}, api.database)
      const { browser, state, nonce } = await begun()
      await right(nonce)
      const twin = other.browser()
      for (const [name, value] of browser.jar) twin.jar.set(name, value)
      const ends = await Promise.all([browser, twin].map((one) => finishOidc(one, 'user', answerTo(state))))
      expect(ends.toSorted()).toEqual(['/', failed])
      for (const one of [browser, twin])
        if ((await one.get('/whoami')).status === 200) await one.post('/logout')
    })

    it('ran out is refused', async () => {
      const { browser, state, nonce } = await begun()
      await right(nonce)
      await api.db
        .updateTable('identityRequests')
        .set({ expiresAt: new Date(Date.now() - 1000) })
        .where('requestId', '=', state)
        .execute()
      expect(await finishOidc(browser, 'user', answerTo(state))).toBe(failed)
      expect(await lastReason()).toMatch(noRequest)
      await expectNothing(browser)
    })

    it('is wrong again and again is told to wait, and the right one is not', async () => {
      const peer = '203.0.113.77'
      const flood = api.browser(peer)
      for (let batch = 0; batch < 20; batch += 1)
        await Promise.all(Array.from({ length: 15 }, () => finishOidc(flood, 'user', '?code=code')))
      expect(await finishOidc(flood, 'user', '?code=code')).toBe('/?error=err.tooManyRequests')
      const events = await api.db
        .selectFrom('auditEvents')
        .select('fields')
        .where('kind', '=', 'LoginFailed')
        .execute()
      const written = events.filter(({ fields }) => (fields as { IpAddress?: string }).IpAddress === peer)
      expect(written.length).toBe(300)
      const owner = await begun(api.browser(peer))
      await right(owner.nonce)
      expect(await finishOidc(owner.browser, 'user', answerTo(owner.state))).toBe('/')
      await owner.browser.post('/logout')
    })
  })
})

describe('an answer of another provider', () => {
  let announcing: HostileProvider

  beforeAll(async () => {
    announcing = await startHostileProvider({ authorization_response_iss_parameter_supported: true })
  })
  afterAll(() => announcing.stop())

  it.each<[string, Record<string, string>, RegExp]>([
    ['says so', { iss: 'https://other.example' }, /"iss"/],
    ['does not say whose it is though its provider always does', {}, /"iss"/],
  ])('is refused when it %s (RFC 9207)', async (_, parameters, reason) => {
    await configureOidc(api, 'user', { ...announcing, clientSecret: 'secret' })
    const { browser, state, nonce } = await begun()
    announcing.told.idToken = await announcing.idToken(nonce, { claims: { sub } })
    announcing.told.userInfo = { sub }
    expect(await finishOidc(browser, 'user', answerTo(state, parameters))).toBe(failed)
    expect(await lastReason()).toMatch(reason)
    // The code was never shown to the provider that it may not be meant for.
    expect(announcing.told.counts.get('/token')).toBeUndefined()
    await expectNothing(browser)
  })

  it('is refused when the realm’s provider was replaced meanwhile', async () => {
    await configureOidc(api, 'user', { ...announcing, clientSecret: 'secret' })
    const { browser, state, nonce } = await begun()
    await configureOidc(api, 'user', { ...hostile, clientSecret: 'secret' })
    hostile.told.idToken = await hostile.idToken(nonce, { claims: { sub } })
    hostile.told.userInfo = { sub }
    expect(await finishOidc(browser, 'user', answerTo(state))).toBe(failed)
    expect(await lastReason()).toMatch(/replaced/)
    await expectNothing(browser)
  })
})

describe('a code of a provider that we did not write', () => {
  let provider: OidcProvider
  const subject = randomUUID()

  beforeAll(async () => {
    provider = await startOidcProvider({ clients: Object.values(oidcClients) })
    provider.people.set(subject, { preferred_username: `eve.${subject.slice(0, 8)}` })
    for (const realm of ['user', 'admin'] as const)
      await configureOidc(api, realm, { ...oidcClients[realm], issuer: provider.issuer })
  })
  afterAll(() => provider.stop())

  const codeOf = (answer: URL) => answer.searchParams.get('code') ?? ''

  it('is worth nothing in another browser’s sign-in (PKCE)', async () => {
    const [thief, victim] = [await begun(), await begun()]
    const stolen = codeOf(await visitProvider().answer(thief.request, subject))
    const search = answerTo(victim.state, { code: stolen, iss: provider.issuer })
    expect(await finishOidc(victim.browser, 'user', search)).toBe(failed)
    expect(await lastReason()).toMatch(/invalid_grant/)
    await expectNothing(victim.browser)
  })

  it('is worth nothing a second time', async () => {
    const browser = api.browser()
    const first = await begun(browser)
    const answer = await visitProvider().answer(first.request, subject)
    expect(await finishOidc(browser, 'user', answer.search)).toBe('/')
    await browser.post('/logout')
    const second = await begun(browser)
    const search = answerTo(second.state, { code: codeOf(answer), iss: provider.issuer })
    expect(await finishOidc(browser, 'user', search)).toBe(failed)
    expect(await lastReason()).toMatch(/invalid_grant/)
    await expectNothing(browser)
  })

  it('of the other realm’s client is worth nothing here', async () => {
    const browser = api.browser()
    const ofAdmin = await visitProvider().answer(await beginOidc(browser, 'admin'), subject)
    const mine = await begun(browser)
    const search = answerTo(mine.state, { code: codeOf(ofAdmin), iss: provider.issuer })
    expect(await finishOidc(browser, 'user', search)).toBe(failed)
    expect(await lastReason()).toMatch(/invalid_grant/)
    await expectNothing(browser)
  })
})

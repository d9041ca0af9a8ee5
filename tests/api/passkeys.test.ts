import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Authenticator, createAuthenticator, type Lies } from '#tests/support/authenticator.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import { anAdmin, aUser, auditOf, rightPassword } from '#tests/support/people-builders.ts'

let api: PeopleApi
beforeAll(async () => {
  api = await startPeopleApi()
})
afterAll(() => api.stop())

type Realm = 'user' | 'admin'
type Person = { id: string; userName: string }
type Columns = { authType?: string; loginEnabled?: boolean; totpEnabled?: boolean; totpConfirmedAt?: Date }

/** Where a realm's passkeys are, and what differs. */
const realms = {
  user: {
    base: '',
    other: 'admin',
    cookie: '__Host-knoc_user',
    column: 'userId',
    accounts: 'users',
    login: 'LoginUser',
    alreadyVerified: 'err.userAlreadyVerified',
  },
  admin: {
    base: '/admin',
    other: 'user',
    cookie: '__Host-knoc_admin',
    column: 'adminId',
    accounts: 'admins',
    login: 'LoginAdmin',
    alreadyVerified: 'err.alreadyVerified',
  },
} as const

/** Addresses of their own, so that what one test gets wrong doesn't slow another down. */
let addresses = 0
const newAddress = () => `203.0.${Math.floor((addresses += 1) / 250)}.${(addresses % 250) + 1}`

const aPerson = (realm: Realm, columns: Columns = {}): Promise<Person> =>
  realm === 'user' ? aUser(api, columns) : anAdmin(api, columns)

/** A browser in which somebody typed name and password: signed in, or half. */
async function typedPassword(realm: Realm, { userName }: Person, body: object = {}): Promise<Browser> {
  const browser = api.browser(newAddress())
  await browser.post(`${realms[realm].base}/login`, { UserName: userName, Password: rightPassword, ...body })
  if (!browser.jar.has(realms[realm].cookie)) throw new Error(`${userName} got no session`)
  return browser
}

const optionsOf = async (browser: Browser, path: string) =>
  (await browser.post(`${path}/options`, {})).body.data

/** Registers a passkey; answers its id. */
async function register(
  realm: Realm,
  browser: Browser,
  { key = createAuthenticator(), name = 'Laptop' }: { key?: Authenticator; name?: string } = {},
): Promise<string> {
  const path = `${realms[realm].base}/passkeys`
  const Response = key.create(await optionsOf(browser, path))
  const { status, body } = await browser.post(path, { Name: name, Response })
  expect(status).toBe(201)
  return body.data.ID
}

/** Somebody with a passkey. */
async function withPasskey(realm: Realm, columns: Columns = {}, key = createAuthenticator()) {
  const person = await aPerson(realm)
  const browser = await typedPassword(realm, person)
  const passkeyId = await register(realm, browser, { key })
  if (Object.keys(columns).length > 0) await change(realm, person.id, columns)
  return { person, browser, key, passkeyId }
}

const change = (realm: Realm, id: string, columns: Record<string, unknown>) =>
  api.db.updateTable(realms[realm].accounts).set(columns).where('id', '=', id).execute()

async function isSignedIn(realm: Realm, browser: Browser): Promise<boolean> {
  return (await browser.get(`${realms[realm].base}/passkeys`)).status === 200
}

const countOf = async (realm: Realm, { id }: Person): Promise<number> => {
  const rows = await api.db.selectFrom('passkeys').select('id').where(realms[realm].column, '=', id).execute()
  return rows.length
}

/** The newest refused sign-in. */
const lastFailure = () =>
  api.db
    .selectFrom('auditEvents')
    .select(['fields', 'detail'])
    .where('kind', '=', 'LoginFailed')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()

const failuresOf = async (realm: Realm, address: string): Promise<number> => {
  const row = await api.db
    .selectFrom('failureCounters')
    .select('failures')
    .where('bucket', '=', `address ${realm} ${address}`)
    .executeTakeFirst()
  return row?.failures ?? 0
}

const handleOf = ({ id }: Person) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')

describe.each(['user', 'admin'] as const)('passkeys of the %s realm', (realm) => {
  const { base, other, cookie, accounts, alreadyVerified } = realms[realm]
  const path = `${base}/passkeys`
  const loginPath = `${base}/login/passkey`
  const stepPath = `${base}/otp/passkey`
  const nameField = realm === 'user' ? 'UserName' : 'AdminName'

  describe('looking after them', () => {
    it('registers one that can be found without a name and whose authenticator checks its owner', async () => {
      const person = await aPerson(realm)
      const browser = await typedPassword(realm, person)
      expect((await browser.get(path)).body).toEqual({ data: [] })
      const options = await optionsOf(browser, path)
      expect(options).toMatchObject({
        rp: { id: 'knoc.example' },
        user: { id: handleOf(person), displayName: person.userName },
        attestation: 'none',
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: [],
      })
      expect(options.user.name).toContain(person.userName)
      const key = createAuthenticator()
      const made = await browser.post(path, { Name: ' Work laptop ', Response: key.create(options) })
      expect(made.status).toBe(201)
      const { body } = await browser.get(path)
      expect(body.data).toEqual([
        {
          ID: made.body.data.ID,
          Name: 'Work laptop',
          CreatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          LastUsedAt: null,
        },
      ])
      expect((await optionsOf(browser, path)).excludeCredentials).toMatchObject([{ id: key.id }])
      expect(await auditOf(api, person.userName)).toContainEqual({
        kind: 'CreatePasskey',
        fields: expect.objectContaining({ [nameField]: person.userName, Description: 'Work laptop' }),
      })
    })

    it('renames and removes them, and writes it down', async () => {
      const { person, browser, passkeyId } = await withPasskey(realm)
      await register(realm, browser, { name: 'Phone' })
      expect((await browser.put(`${path}/${passkeyId}`, { Name: 'Tablet' })).body).toEqual({ data: null })
      const names = async () => (await browser.get(path)).body.data.map(({ Name }: { Name: string }) => Name)
      expect(await names()).toEqual(['Tablet', 'Phone'])
      expect((await browser.delete(`${path}/${passkeyId}`)).status).toBe(200)
      expect(await names()).toEqual(['Phone'])
      expect((await browser.delete(`${path}/${passkeyId}`)).status).toBe(404)
      expect((await auditOf(api, person.userName)).map(({ kind }) => kind).slice(-4)).toEqual([
        'CreatePasskey',
        'CreatePasskey',
        'UpdatePasskey',
        'DeletePasskey',
      ])
    })

    it('takes names of 1 to 100 characters', async () => {
      const { browser, passkeyId } = await withPasskey(realm)
      for (const Name of ['', '   ', 'x'.repeat(101), 'two\nlines']) {
        const { status, body } = await browser.put(`${path}/${passkeyId}`, { Name })
        expect([Name, status, body]).toEqual([Name, 422, { Err: 'err.invalidField', Extra: 'Name' }])
      }
      expect((await browser.put(`${path}/${passkeyId}`, { Name: 'x'.repeat(100) })).status).toBe(200)
    })

    it('keeps out who isn’t signed in, only half, or in the other realm', async () => {
      const { passkeyId } = await withPasskey(realm)
      const half = await typedPassword(realm, await aPerson(realm, { totpEnabled: true }))
      const foreign = await typedPassword(other, await aPerson(other))
      const body = { Name: 'x' }
      for (const [browser, expected] of [
        [api.browser(), 401],
        [foreign, 401],
        [half, 403],
      ] as const) {
        const statuses = [
          await browser.get(path),
          await browser.post(`${path}/options`, {}),
          await browser.post(path, { ...body, Response: {} }),
          await browser.put(`${path}/${passkeyId}`, body),
          await browser.delete(`${path}/${passkeyId}`),
        ].map(({ status }) => status)
        expect(statuses).toEqual(Array(5).fill(expected))
      }
    })

    it('knows nothing of another account’s', async () => {
      const { person, passkeyId } = await withPasskey(realm)
      const stranger = await typedPassword(realm, await aPerson(realm))
      expect((await stranger.get(path)).body.data).toEqual([])
      expect((await stranger.put(`${path}/${passkeyId}`, { Name: 'mine' })).status).toBe(404)
      expect((await stranger.delete(`${path}/${passkeyId}`)).status).toBe(404)
      expect((await stranger.delete(`${path}/${randomUUID()}`)).status).toBe(404)
      expect(await countOf(realm, person)).toBe(1)
    })

    it.each(['SAML', 'OIDC'])(
      'are none of %s’s accounts: these have their second factor there',
      async (authType) => {
        const person = await aPerson(realm)
        const browser = await typedPassword(realm, person)
        await change(realm, person.id, { authType })
        const { status, body } = await browser.post(`${path}/options`, {})
        expect([status, body]).toEqual([403, { Err: 'err.forbidden' }])
        expect((await browser.get(path)).status).toBe(403)
      },
    )

    it('are at most 20 an account, however many are made at once', async () => {
      const { person, browser } = await withPasskey(realm)
      await api.db
        .insertInto('passkeys')
        .values(
          Array.from({ length: 18 }, () => ({
            [realms[realm].column]: person.id,
            name: 'one of many',
            credentialId: randomBytes(32).toString('base64url'),
            publicKey: Buffer.alloc(1),
          })),
        )
        .execute()
      const answers = await Promise.all(
        [1, 2, 3].map(async () => {
          const Response = createAuthenticator().create(await optionsOf(browser, path))
          return browser.post(path, { Name: 'the last', Response })
        }),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
      expect(answers.find(({ status }) => status === 409)?.body).toEqual({ Err: 'err.tooManyPasskeys' })
      expect(await countOf(realm, person)).toBe(20)
    })

    it('refuses a passkey that is known already, whoever has it', async () => {
      const { key } = await withPasskey(realm)
      const stranger = await typedPassword(realm, await aPerson(realm))
      const Response = key.create(await optionsOf(stranger, path))
      const { status, body } = await stranger.post(path, { Name: 'mine now', Response })
      expect([status, body]).toEqual([409, { Err: 'err.passkeyKnown' }])
    })

    it.each<[string, Lies]>([
      ['from another origin', { origin: 'https://evil.example' }],
      ['from a subdomain', { origin: 'https://a.knoc.example' }],
      ['from the same host in plain http', { origin: 'http://knoc.example' }],
      ['for another relying party', { rpId: 'evil.example' }],
      ['to a challenge that was never given', { challenge: randomBytes(32).toString('base64url') }],
      ['whose challenge is no challenge', { challenge: 'x' }],
      ['that is a sign-in', { type: 'webauthn.get' }],
      ['whose owner was not verified', { unverified: true }],
      ['without anybody there', { absent: true, unverified: true }],
      ['from a frame of another site', { crossOrigin: true }],
      ['that names another credential', { id: randomBytes(32).toString('base64url') }],
      [
        'with a chain of certificates, which nobody asked for',
        {
          fmt: 'packed',
          attStmt: new Map<string, unknown>([
            ['alg', -7],
            ['sig', Buffer.alloc(70)],
            ['x5c', [Buffer.alloc(10)]],
          ]),
        },
      ],
      ['of a format that nobody knows', { fmt: 'made-up' }],
    ])('refuses an answer %s', async (_, lies) => {
      const person = await aPerson(realm)
      const browser = await typedPassword(realm, person)
      const Response = createAuthenticator().create(await optionsOf(browser, path), lies)
      const { status, body } = await browser.post(path, { Name: 'Laptop', Response })
      expect([status, body]).toEqual([422, { Err: 'err.invalidPasskey' }])
      expect(await countOf(realm, person)).toBe(0)
    })

    it('takes a challenge once, from the browser and the account it was given to, for this alone', async () => {
      const [person, somebody] = [await aPerson(realm), await aPerson(realm)]
      const browser = await typedPassword(realm, person)
      const elsewhere = await typedPassword(realm, person)
      await optionsOf(elsewhere, path)
      const refused = async (from: Browser, Response: unknown) => {
        const { status, body } = await from.post(path, { Name: 'Laptop', Response })
        expect([status, body]).toEqual([422, { Err: 'err.invalidPasskey' }])
      }
      const answer = createAuthenticator().create(await optionsOf(browser, path))
      await refused(elsewhere, answer)
      await browser.post(`${base}/login`, { UserName: somebody.userName, Password: rightPassword })
      await refused(browser, answer)
      await browser.post(`${base}/login`, { UserName: person.userName, Password: rightPassword })
      const { challenge } = await optionsOf(browser, loginPath)
      await refused(browser, createAuthenticator().create(await optionsOf(browser, path), { challenge }))
      expect((await browser.post(path, { Name: 'Laptop', Response: answer })).status).toBe(201)
      await refused(browser, answer)
      expect([await countOf(realm, person), await countOf(realm, somebody)]).toEqual([1, 0])
    })

    it('answers what is no answer of a browser as bad input', async () => {
      const browser = await typedPassword(realm, await aPerson(realm))
      const right = createAuthenticator().create(await optionsOf(browser, path))
      const post = (Response: unknown, Name: unknown = 'x') => browser.post(path, { Name, Response })
      expect((await post(null)).status).toBe(400)
      expect((await post(right, 5)).status).toBe(400)
      expect((await post({ ...right, id: 'not base64url!' })).status).toBe(422)
      expect((await post({ ...right, id: 'x'.repeat(2_000) })).status).toBe(422)
      expect((await post({ ...right, response: { ...right.response, clientDataJSON: 'e30' } })).body).toEqual(
        {
          Err: 'err.invalidPasskey',
        },
      )
    })
  })

  describe('signing in with one alone', () => {
    const signIn = async (browser: Browser, key: Authenticator, lies: Lies = {}) =>
      browser.post(loginPath, { Response: key.get(await optionsOf(browser, loginPath), lies) })

    it('asks for any the browser has, and for the owner’s verification', async () => {
      const options = await optionsOf(api.browser(), loginPath)
      expect(options).toMatchObject({ rpId: 'knoc.example', userVerification: 'required' })
      expect(options.allowCredentials ?? []).toEqual([])
      expect(options.challenge).toMatch(/^[\w-]{43}$/)
    })

    it('proves both factors, remembers the use and writes the sign-in down', async () => {
      const { person, browser: before, key } = await withPasskey(realm, { totpEnabled: true })
      const browser = api.browser(newAddress())
      const { status, body } = await signIn(browser, key)
      expect([status, body]).toEqual([200, { data: null }])
      expect(await isSignedIn(realm, browser)).toBe(true)
      expect((await before.get(path)).body.data[0].LastUsedAt).not.toBeNull()
      expect(await auditOf(api, person.userName)).toContainEqual(
        expect.objectContaining({ kind: realms[realm].login }),
      )
    })

    it('works again and again, also with an authenticator that counts nothing', async () => {
      const { key } = await withPasskey(realm, {}, createAuthenticator({ hasCounter: false }))
      for (const browser of [api.browser(newAddress()), api.browser(newAddress())]) {
        expect((await signIn(browser, key)).status).toBe(200)
        expect((await signIn(browser, key)).status).toBe(200)
      }
    })

    it('ends the session that the browser had', async () => {
      const { browser, key } = await withPasskey(realm)
      const old = browser.jar.get(cookie) ?? ''
      expect((await signIn(browser, key)).status).toBe(200)
      expect(browser.jar.get(cookie)).not.toBe(old)
      browser.jar.set(cookie, old)
      expect(await isSignedIn(realm, browser)).toBe(false)
    })

    it.each<[string, Lies, RegExp]>([
      ['from another origin', { origin: 'https://evil.example' }, /origin/],
      ['from the same host at another port', { origin: 'https://knoc.example:8443' }, /origin/],
      ['for another relying party', { rpId: 'evil.example' }, /RP ID/],
      [
        'to a challenge that was never given',
        { challenge: randomBytes(32).toString('base64url') },
        /challenge/,
      ],
      ['that is a registration', { type: 'webauthn.create' }, /type/],
      ['whose owner was not verified', { unverified: true }, /verif/],
      ['without anybody there', { absent: true, unverified: true }, /present/],
      ['from a frame of another site', { crossOrigin: true }, /challenge/],
      ['signed by another key', { forged: true }, /signature/],
      ['of an unknown credential', { id: randomBytes(32).toString('base64url') }, /no passkey of this realm/],
      ['that names nobody', { userHandle: undefined }, /user handle/],
      ['that names somebody else', { userHandle: randomBytes(16).toString('base64url') }, /user handle/],
    ])('refuses an answer %s, with the reason in the audit log alone', async (_, lies, reason) => {
      const { person, key } = await withPasskey(realm)
      const address = newAddress()
      const browser = api.browser(address)
      const { status, body } = await signIn(browser, key, lies)
      expect([status, body]).toEqual([422, { Err: 'err.invalidPasskey' }])
      expect(browser.jar.has(cookie)).toBe(false)
      const { fields, detail } = await lastFailure()
      expect(fields).toMatchObject({ IpAddress: address, ErrorMessage: 'err.invalidPasskey' })
      expect(detail).toMatchObject({ realm, reason: expect.stringMatching(reason) })
      expect(await failuresOf(realm, address)).toBe(1)
      expect(await countOf(realm, person)).toBe(1)
      expect((await signIn(browser, key)).status).toBe(200)
    })

    it('refuses a passkey of the other realm', async () => {
      const { key } = await withPasskey(other)
      const browser = api.browser(newAddress())
      expect((await signIn(browser, key)).body).toEqual({ Err: 'err.invalidPasskey' })
      expect(browser.jar.has(cookie)).toBe(false)
    })

    it('takes a challenge once, from the browser and the realm it was given to, for this alone', async () => {
      const { key, browser: own } = await withPasskey(realm)
      const [browser, thief, bare] = [1, 2, 3].map(() => api.browser(newAddress())) as [
        Browser,
        Browser,
        Browser,
      ]
      await optionsOf(thief, loginPath)
      const refused = async (from: Browser, Response: unknown) => {
        expect((await from.post(loginPath, { Response })).body).toEqual({ Err: 'err.invalidPasskey' })
        expect((await lastFailure()).detail).toMatchObject({ reason: expect.stringContaining('challenge') })
      }
      const answer = key.get(await optionsOf(browser, loginPath))
      await refused(thief, answer)
      await refused(bare, answer)
      await refused(browser, key.get(await optionsOf(browser, `${realms[other].base}/login/passkey`)))
      const { challenge } = await optionsOf(own, path)
      await refused(own, key.get(await optionsOf(own, loginPath), { challenge }))
      // What was refused didn't use the challenge up. The counter went on meanwhile, so the answer is made anew.
      const again = key.get({ challenge: challengeOf(answer), rpId: 'knoc.example' })
      expect((await browser.post(loginPath, { Response: again })).status).toBe(200)
      const replay = api.browser(newAddress())
      replay.jar.set('__Host-knoc_prelogin', browser.jar.get('__Host-knoc_prelogin') ?? '')
      await refused(replay, again)
      expect(replay.jar.has(cookie)).toBe(false)
    })

    it('lets one of two in that bring the same answer at once', async () => {
      const { key } = await withPasskey(realm, {}, createAuthenticator({ hasCounter: false }))
      const browser = api.browser(newAddress())
      const Response = key.get(await optionsOf(browser, loginPath))
      const answers = await Promise.all([1, 2, 3].map(() => browser.post(loginPath, { Response })))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422])
    })

    it('refuses a challenge after its ten minutes', async () => {
      const { key } = await withPasskey(realm)
      const browser = api.browser(newAddress())
      const options = await optionsOf(browser, loginPath)
      const { expiresAt, createdAt } = await api.db
        .selectFrom('identityRequests')
        .select(['expiresAt', 'createdAt'])
        .where('requestId', '=', options.challenge)
        .executeTakeFirstOrThrow()
      expect(Math.round((expiresAt.getTime() - createdAt.getTime()) / 10_000)).toBe(60)
      await api.db
        .updateTable('identityRequests')
        .set({ expiresAt: new Date(Date.now() - 1_000) })
        .where('requestId', '=', options.challenge)
        .execute()
      expect((await browser.post(loginPath, { Response: key.get(options) })).status).toBe(422)
    })

    it('refuses a counter that goes back or stands still, which tells of a copy', async () => {
      const { person, key } = await withPasskey(realm)
      const browser = api.browser(newAddress())
      expect((await signIn(browser, key, { counter: 10 })).status).toBe(200)
      for (const counter of [9, 10, 0]) {
        const thief = api.browser(newAddress())
        expect((await signIn(thief, key, { counter })).body).toEqual({ Err: 'err.invalidPasskey' })
        expect(await lastFailure()).toMatchObject({
          fields: { [nameField]: person.userName },
          detail: { reason: 'the counter went back' },
        })
      }
      expect((await signIn(browser, key, { counter: 11 })).status).toBe(200)
    })

    it('doesn’t believe the counter of an answer that nobody signed', async () => {
      const { key } = await withPasskey(realm)
      const browser = api.browser(newAddress())
      await signIn(browser, key, { counter: 4_000_000_000, forged: true })
      expect((await signIn(browser, key, { counter: 5 })).status).toBe(200)
    })

    it('says that an account is disabled to its owner alone', async () => {
      const { person, key } = await withPasskey(realm, { loginEnabled: false })
      const browser = api.browser(newAddress())
      expect((await signIn(browser, key, { forged: true })).status).toBe(422)
      const { status, body } = await signIn(browser, key)
      expect([status, body]).toEqual([403, { Err: 'err.accountDisabled' }])
      expect(browser.jar.has(cookie)).toBe(false)
      expect((await lastFailure()).fields).toMatchObject({
        [nameField]: person.userName,
        ErrorMessage: 'err.accountDisabled',
      })
    })

    it.each(['LDAP', 'SAML', 'OIDC'])(
      'lets no %s account in: it proves itself where it is kept',
      async (authType) => {
        const { person, key } = await withPasskey(realm, { authType })
        const browser = api.browser(newAddress())
        const { status, body } = await signIn(browser, key)
        expect([status, body]).toEqual([403, { Err: 'err.loginNotPermitted' }])
        expect(browser.jar.has(cookie)).toBe(false)
        expect(await lastFailure()).toMatchObject({
          fields: { [nameField]: person.userName, ErrorMessage: 'err.loginNotPermitted' },
          detail: { reason: `an account of AuthType ${authType}` },
        })
      },
    )

    it('refuses a passkey that was removed', async () => {
      const { browser, key, passkeyId } = await withPasskey(realm)
      const elsewhere = api.browser(newAddress())
      const options = await optionsOf(elsewhere, loginPath)
      await browser.delete(`${path}/${passkeyId}`)
      expect((await elsewhere.post(loginPath, { Response: key.get(options) })).status).toBe(422)
    })

    it('makes wrong answers wait, and a right one from elsewhere not', async () => {
      const { key } = await withPasskey(realm)
      const browser = api.browser(newAddress())
      for (let failure = 0; failure < 4; failure += 1) await signIn(browser, key, { forged: true })
      const { status, body, headers } = await signIn(browser, key)
      expect([status, body.Err]).toEqual([429, 'err.tooManyRequests'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect((await signIn(api.browser(newAddress()), key)).status).toBe(200)
    })
  })

  describe('as the second step', () => {
    const half = async (columns: Columns = {}) => {
      const made = await withPasskey(realm, { totpEnabled: true, ...columns })
      return { ...made, browser: await typedPassword(realm, made.person) }
    }
    const step = async (browser: Browser, key: Authenticator, lies: Lies = {}) =>
      browser.post(stepPath, { Response: key.get(await optionsOf(browser, stepPath), lies) })

    it('asks for the account’s own and completes the session, with a new cookie', async () => {
      const { person, browser, key } = await half()
      const [old, options] = [browser.jar.get(cookie) ?? '', await optionsOf(browser, stepPath)]
      expect(options.allowCredentials).toMatchObject([{ id: key.id }])
      expect(options.userVerification).toBe('required')
      expect(await isSignedIn(realm, browser)).toBe(false)
      const answer = await browser.post(stepPath, { Response: key.get(options) })
      expect([answer.status, answer.body]).toEqual([200, { data: null }])
      expect(await isSignedIn(realm, browser)).toBe(true)
      expect(browser.jar.get(cookie)).not.toBe(old)
      browser.jar.set(cookie, old)
      expect((await browser.post(`${stepPath}/options`, {})).status).toBe(401)
      expect((await auditOf(api, person.userName)).map(({ kind }) => kind)).toContain(realms[realm].login)
    })

    it('takes an answer without a user handle: who it is, is known', async () => {
      const { browser, key } = await half()
      expect((await step(browser, key, { userHandle: undefined })).status).toBe(200)
    })

    it('is there for a directory’s accounts too', async () => {
      const { person, browser, key } = await half()
      await change(realm, person.id, { authType: 'LDAP' })
      expect((await step(browser, key)).status).toBe(200)
      expect((await browser.get(path)).status).toBe(200)
    })

    it('refuses another account’s passkey, and the session stays half', async () => {
      const { browser } = await half()
      const stranger = await withPasskey(realm)
      const { status, body } = await step(browser, stranger.key)
      expect([status, body]).toEqual([422, { Err: 'err.invalidPasskey' }])
      expect((await lastFailure()).detail).toMatchObject({
        way: 'passkey as second step',
        reason: "another account's passkey",
      })
      expect(await isSignedIn(realm, browser)).toBe(false)
    })

    it.each<[string, Lies]>([
      ['whose owner was not verified', { unverified: true }],
      ['from another origin', { origin: 'https://evil.example' }],
      ['signed by another key', { forged: true }],
      ['with a counter that stands still', { counter: 1 }],
      ['that names somebody else', { userHandle: randomBytes(16).toString('base64url') }],
    ])('refuses an answer %s', async (_, lies) => {
      const { browser, key } = await half()
      expect((await step(browser, key, lies)).body).toEqual({ Err: 'err.invalidPasskey' })
      expect(await isSignedIn(realm, browser)).toBe(false)
    })

    it('takes no challenge that was given for signing in alone, and the other way round', async () => {
      const { browser, key } = await half()
      const login = await optionsOf(browser, loginPath)
      expect((await browser.post(stepPath, { Response: key.get(login) })).status).toBe(422)
      const options = await optionsOf(browser, stepPath)
      expect((await browser.post(loginPath, { Response: key.get(options) })).status).toBe(422)
    })

    it('is made once of half a session, however many answers come at once', async () => {
      const { person, key } = await withPasskey(
        realm,
        { totpEnabled: true },
        createAuthenticator({ hasCounter: false }),
      )
      const browser = await typedPassword(realm, person)
      const answers = [await optionsOf(browser, stepPath), await optionsOf(browser, stepPath)]
      const half = browser.jar.get(cookie) ?? ''
      const results = await Promise.all(
        answers.map(async (options) => {
          const tab = api.browser()
          for (const [name, value] of browser.jar) tab.jar.set(name, value)
          tab.jar.set(cookie, half)
          return (await tab.post(stepPath, { Response: key.get(options) })).status
        }),
      )
      expect(results.sort()).toEqual([200, 401])
    })

    it('has nothing to ask for when the account has none', async () => {
      const browser = await typedPassword(realm, await aPerson(realm, { totpEnabled: true }))
      const { status, body } = await browser.post(`${stepPath}/options`, {})
      expect([status, body]).toEqual([422, { Err: 'err.invalidPasskey' }])
    })

    it('is over for a complete session, and nothing for the other realm or nobody', async () => {
      const { browser } = await withPasskey(realm)
      const foreign = await typedPassword(other, await aPerson(other, { totpEnabled: true }))
      for (const [from, status, Err] of [
        [browser, 409, alreadyVerified],
        [foreign, 401, 'err.invalidSession'],
        [api.browser(), 401, 'err.invalidSession'],
      ] as const) {
        const options = await from.post(`${stepPath}/options`, {})
        expect([options.status, options.body]).toEqual([status, { Err }])
        expect((await from.post(stepPath, { Response: {} })).status).toBe(status)
      }
    })

    it('ends with the last passkey: the account then sets up a second factor at its next sign-in', async () => {
      const { person, browser, key, passkeyId } = await half()
      await step(browser, key)
      expect((await browser.delete(`${path}/${passkeyId}`)).status).toBe(200)
      expect((await browser.get(path)).body.data).toEqual([])
      const again = await typedPassword(realm, person)
      expect((await again.get(path)).body).toEqual({ Err: 'err.totpEnrolmentRequired' })
    })
  })

  it('are nothing on an address where browsers have no passkeys, which is said', async () => {
    const plain = await startPeopleApi({ KNOC_PUBLIC_URL: 'http://knoc.example', KNOC_ALLOW_HTTP: 'true' })
    try {
      const { status, body } = await plain.browser().post(`${loginPath}/options`, {})
      expect([status, body]).toEqual([409, { Err: 'err.passkeysUnavailable' }])
    } finally {
      await plain.stop()
    }
  })

  it('go with their account’s deletion', async () => {
    const { person, key } = await withPasskey(realm)
    if (accounts === 'admins') await api.db.deleteFrom('admins').where('id', '=', person.id).execute()
    else await change(realm, person.id, { deletedAt: new Date() })
    const browser = api.browser(newAddress())
    const Response = key.get(await optionsOf(browser, loginPath))
    expect((await browser.post(loginPath, { Response })).body).toEqual({ Err: 'err.invalidPasskey' })
  })
})

describe('passkeys and what only users have', () => {
  it('makes a short session that the browser forgets on a public computer, alone and as the second step', async () => {
    const { person, key } = await withPasskey('user')
    const alone = api.browser(newAddress())
    const Response = key.get(await optionsOf(alone, '/login/passkey'))
    const signedIn = await alone.post('/login/passkey', { Response, KioskMode: true })
    expect(sessionCookieOf(signedIn.headers)).not.toMatch(/max-age/i)

    await change('user', person.id, { totpEnabled: true })
    const half = await typedPassword('user', person, { KioskMode: true })
    const step = key.get(await optionsOf(half, '/otp/passkey'))
    const verified = await half.post('/otp/passkey', { Response: step })
    expect(verified.status).toBe(200)
    expect(sessionCookieOf(verified.headers)).not.toMatch(/max-age/i)

    const sessions = await api.db
      .selectFrom('sessions')
      .select(['kiosk', 'createdAt', 'endsAt'])
      .where('userId', '=', person.id)
      .where('stage', '=', 'complete')
      .where('kiosk', '=', true)
      .execute()
    const minutes = sessions.map(({ createdAt, endsAt }) =>
      Math.round((endsAt.getTime() - createdAt.getTime()) / 60_000),
    )
    expect(minutes).toEqual([30, 30])
  })

  it('are not looked after on a public computer: nobody leaves a way in behind', async () => {
    const browser = await typedPassword('user', await aPerson('user'), { KioskMode: true })
    for (const answer of [await browser.get('/passkeys'), await browser.post('/passkeys/options', {})])
      expect([answer.status, answer.body]).toEqual([403, { Err: 'err.forbidden' }])
  })

  it('knows no public computer for administrators', async () => {
    const { key } = await withPasskey('admin')
    const browser = api.browser(newAddress())
    const Response = key.get(await optionsOf(browser, '/admin/login/passkey'))
    const { status } = await browser.post('/admin/login/passkey', { Response, KioskMode: true })
    expect(status).toBe(400)
  })

  it('refuses a user whose time has run out', async () => {
    const { person, key } = await withPasskey('user')
    await change('user', person.id, { validUntil: new Date(Date.now() - 1_000) })
    const browser = api.browser(newAddress())
    const Response = key.get(await optionsOf(browser, '/login/passkey'))
    expect((await browser.post('/login/passkey', { Response })).body).toEqual({ Err: 'err.accountDisabled' })
  })

  it('grants what a sign-in grants', async () => {
    const { person, key } = await withPasskey('user')
    const granted: string[] = []
    api.hook.run = async ({ userName }) => void granted.push(userName)
    const browser = api.browser(newAddress())
    const Response = key.get(await optionsOf(browser, '/login/passkey'))
    await browser.post('/login/passkey', { Response })
    api.hook.run = async () => undefined
    expect(granted).toEqual([person.userName])
  })
})

const sessionCookieOf = (headers: Headers) =>
  headers.getSetCookie().find((line) => line.startsWith('__Host-knoc_user='))

const challengeOf = ({ response }: { response: { clientDataJSON: string } }): string =>
  JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()).challenge

import { setTimeout as wait } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { generateSync } from 'otplib'
import { expect } from 'vitest'
import { newSeed } from '#server/auth/second-factor/totp.ts'
import type { DB } from '#server/platform/database.types.ts'
import { hashToken } from '#server/platform/random.ts'
import type { Browser, PeopleApi } from './people-api.ts'
import { anAdmin, aUser, auditOf, rightPassword } from './people-builders.ts'
import { until } from './until.ts'

/** A realm of the second factor's tests. */
export type RealmName = 'user' | 'admin'
/** For `describe.each`. */
export const bothRealms = ['user', 'admin'] as const

/** An account of either realm. */
export type Person = { id: string; userName: string }
type Columns = { totpEnabled?: boolean; totpDeferrals?: number }

/**
 * What the tests of the second factor do over and over: half sessions, enrolled accounts, typed codes, looks at rows.
 * The API is asked for at each use, because a test file starts it before its tests.
 */
export function secondFactorHands(apiOf: () => PeopleApi) {
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
      make: ({ totpEnabled = true }: Columns = {}) => aUser(apiOf(), { totpEnabled }),
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
      make: ({ totpEnabled = true, ...columns }: Columns = {}) =>
        anAdmin(apiOf(), { totpEnabled, ...columns }),
      kinds: { valid: 'TOTPValidAdmin', invalid: 'TOTPInvalidAdmin', login: 'LoginAdmin', name: 'AdminName' },
    },
  } as const

  /** A browser after the right password. */
  async function half(
    realm: RealmName,
    { userName }: Person,
    place = apiOf(),
    peer?: string,
  ): Promise<Browser> {
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
    await update(realm, person, {
      totpSecret: apiOf().deps.sealer.seal(seed, place),
      totpConfirmedAt: new Date(),
    })
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

  /** Makes a change between the proof of a code and the session's transaction: holds the account until that waits. */
  async function meanwhile<Answer>(
    realm: RealmName,
    { id }: Person,
    change: (tx: Kysely<DB>) => Promise<unknown>,
    act: () => Promise<Answer>,
  ): Promise<Answer> {
    const { answer } = await apiOf()
      .db.transaction()
      .execute(async (tx) => {
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
      apiOf().db,
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
    const browser = await half(realm, person, apiOf(), peer)
    for (let round = 0; round < times; round += 1)
      expect((await verify(realm, browser, wrongCode(seed))).status).toBe(422)
  }

  const holdWaits = () =>
    apiOf()
      .db.updateTable('failureCounters')
      .set({ blockedUntil: new Date(Date.now() + 600_000) })
      .where('blockedUntil', 'is not', null)
      .execute()

  const releaseWaits = () => apiOf().db.updateTable('failureCounters').set({ blockedUntil: null }).execute()

  const fillAddress = (realm: RealmName, peer: string) =>
    apiOf()
      .db.updateTable('failureCounters')
      .set({ failures: 300, windowStartedAt: new Date() })
      .where('bucket', '=', `address ${realm} ${peer}`)
      .execute()

  const counterOf = (realm: RealmName, { id }: Person) =>
    apiOf()
      .db.selectFrom('failureCounters')
      .select('failures')
      .where('bucket', '=', `code ${realm} ${id}`)
      .executeTakeFirst()

  /** Seconds that a wait was set to. */
  async function waitOf(realm: RealmName, { id }: Person): Promise<number> {
    const row = await apiOf()
      .db.selectFrom('failureCounters')
      .select(['blockedUntil', 'windowStartedAt'])
      .where('bucket', '=', `code ${realm} ${id}`)
      .executeTakeFirstOrThrow()
    return ((row.blockedUntil?.getTime() ?? 0) - row.windowStartedAt.getTime()) / 1000
  }

  function withCookie(realm: RealmName, token: string, peer?: string): Browser {
    const browser = apiOf().browser(peer)
    browser.jar.set(realms[realm].cookie, token)
    return browser
  }

  function deviceOf(realm: RealmName, browser: Browser, peer: string): Browser {
    const device = apiOf().browser(peer)
    device.jar.set(realms[realm].device, browser.jar.get(realms[realm].device) ?? 'none')
    return device
  }

  const update = (realm: RealmName, { id }: Person, columns: Partial<Row>, db = apiOf().db) =>
    db.updateTable(realms[realm].table).set(columns).where('id', '=', id).execute()

  const rowOf = (realm: RealmName, { id }: Person): Promise<Row & { totpDeferrals?: number }> =>
    apiOf().db.selectFrom(realms[realm].table).selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  const pendingSince = (realm: RealmName, person: Person, seconds: number) =>
    update(realm, person, { totpPendingAt: new Date(Date.now() - seconds * 1000) })

  const recoveryRowsOf = (realm: RealmName, { id }: Person) =>
    apiOf().db.selectFrom('recoveryCodes').selectAll().where(ownerOf(realm), '=', id).execute()

  const aPasskey = (realm: RealmName, { id }: Person, db = apiOf().db) =>
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
  async function endSessionOf(realm: RealmName, browser: Browser, db = apiOf().db): Promise<void> {
    const tokenHash = hashToken(browser.jar.get(realms[realm].cookie) ?? '')
    await db
      .updateTable(realm === 'user' ? 'sessions' : 'adminSessions')
      .set({ endedAt: new Date(), endedReason: 'sessionEnded' })
      .where('tokenHash', '=', tokenHash)
      .execute()
  }

  /** Kinds of what was written down of somebody, without the ends of sessions. */
  const kindsOf = async ({ userName }: Person): Promise<string[]> =>
    (await auditOf(apiOf(), userName)).map(({ kind }) => kind).filter((kind) => kind !== 'SessionEnded')

  return {
    realms,
    half,
    enrolled,
    enrolledHere,
    verify,
    secretOf,
    methodsOf,
    meanwhile,
    failCodes,
    holdWaits,
    releaseWaits,
    fillAddress,
    counterOf,
    waitOf,
    withCookie,
    deviceOf,
    update,
    rowOf,
    pendingSince,
    recoveryRowsOf,
    aPasskey,
    endSessionOf,
    kindsOf,
  }
}

/** The code of a seed, so many steps from now. */
export const codeOf = (seed: string, off = 0): string =>
  generateSync({ secret: seed, epoch: Math.floor(Date.now() / 1000) + off * 30 })

/** Six digits that are none of the codes around now. */
export function wrongCode(seed: string): string {
  const right = [-2, -1, 0, 1, 2].map((off) => codeOf(seed, off))
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code)) ?? ''
  )
}

/** Waits until the step that is shown lasts long enough for a slow machine. */
export async function middleOfStep(): Promise<void> {
  const left = 30_000 - (Date.now() % 30_000)
  if (left < 6000) await wait(left + 100)
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

const ownerOf = (realm: RealmName) => (realm === 'user' ? 'userId' : 'adminId')

import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { toClientKey } from '../platform/http/ip-address.ts'
import type { SignInClient } from '../sessions/session.service.ts'
import type { Realm } from '../sessions/session-cookie.ts'
import {
  clearCounter,
  countInWindow,
  type FailureWindow,
  type GrowingWait,
  returnAttempt,
  takeAttempt,
} from './failure-counter.store.ts'
import { knownDeviceOf } from './known-device.service.ts'

/**
 * Passwords. One account from one address, or from one known device: three failures are free, then 2, 4, 8 … s up to
 * a quarter of an hour. A stranger elsewhere has counters of his own, so he can't shut the owner out (decision 33).
 */
const passwordWait: GrowingWait = { freeFailures: 3, longestSeconds: 900, forgottenAfterSeconds: 3600 }

/**
 * Codes of the second step. One account from wherever, or one known device of it: after the tenth failure waits begin
 * and grow to an hour. Whoever tries has the password, so addresses don't divide the attempts, and he is remembered
 * for a day: once warned, 24 of a million codes a day.
 */
const codeWait: GrowingWait = { freeFailures: 9, longestSeconds: 3600, forgottenAfterSeconds: 86_400 }

/** One address (IPv6: one /64) over all accounts. Wide, because an office shares one; only failures count. */
const addressWindow: FailureWindow = { failures: 300, seconds: 300 }

/** Whose credential is tried, and from where. */
type Attempted = { realm: Realm; userName: string; client: Pick<SignInClient, 'address' | 'deviceTokens'> }

/** Where an attempt is counted. */
type Buckets = { wait: GrowingWait; attempts: string; address: string | null }

/**
 * Lets somebody try a password and counts it if it was wrong. Counters are shared by all replicas.
 *
 * What counts is whether the password was right, not whether it let anybody in: a disabled account's right password
 * is no failure. A browser on which this account signed in completely before has a counter of its own, in place of
 * all others: neither a stranger nor a neighbour can fill it.
 *
 * @throws err.tooManyRequests with the seconds to wait; nothing was tried then.
 */
export async function countFailures<Verdict extends { isRight: boolean }>(
  { db }: Pick<Deps, 'db'>,
  who: Attempted,
  attempt: () => Promise<Verdict>,
): Promise<Verdict> {
  const address = toClientKey(who.client.address)
  const shared = `account ${who.realm} ${digest(who.userName.toLowerCase(), address)}`
  return count(
    db.grants,
    await choose(db.grants, who, { kind: 'password', wait: passwordWait, shared }),
    attempt,
  )
}

/** The same for a code of the second step, which only somebody with the first one is asked for. */
export async function countCodeFailures<Verdict extends { isRight: boolean }>(
  { db }: Pick<Deps, 'db'>,
  who: Attempted & { id: string },
  attempt: () => Promise<Verdict>,
): Promise<Verdict> {
  const buckets = await choose(db.grants, who, { kind: 'code', wait: codeWait, shared: codeBucket(who) })
  return count(db.grants, buckets, attempt)
}

/**
 * The same for an API key. Keys can't be guessed; this keeps whoever tries from filling the audit log. Each key has
 * its own counter, so that a wrong one on one host of an office doesn't keep out the right ones of the others.
 */
export async function countKeyFailures<Verdict extends { isRight: boolean }>(
  { db }: Pick<Deps, 'db'>,
  { keyHash, address }: { keyHash: string; address: string },
  attempt: () => Promise<Verdict>,
): Promise<Verdict> {
  const from = toClientKey(address)
  const buckets = {
    wait: passwordWait,
    attempts: `key ${digest(keyHash, from)}`,
    address: `address key ${from}`,
  }
  return count(db.grants, buckets, attempt)
}

/** Lets codes of an account be tried anew from everywhere: its second factor is another one from now on. */
export async function forgetCodeFailures(
  tx: Kysely<DB>,
  account: { realm: Realm; id: string },
): Promise<void> {
  await clearCounter(tx, codeBucket(account))
}

async function choose(
  db: Kysely<DB>,
  { realm, userName, client }: Attempted,
  { kind, wait, shared }: { kind: 'password' | 'code'; wait: GrowingWait; shared: string },
): Promise<Buckets> {
  const device = await knownDeviceOf(db, { realm, userName, token: client.deviceTokens[realm] })
  return device === undefined
    ? { wait, attempts: shared, address: `address ${realm} ${toClientKey(client.address)}` }
    : { wait, attempts: `device ${kind} ${realm} ${device}`, address: null }
}

async function count<Verdict extends { isRight: boolean }>(
  db: Kysely<DB>,
  { wait, attempts, address }: Buckets,
  attempt: () => Promise<Verdict>,
): Promise<Verdict> {
  const window = address === null ? null : { ...addressWindow, bucket: address }
  refuseFor(await takeAttempt(db, { bucket: attempts, wait, window }))

  const verdict = await attempt().catch(async (error: unknown) => {
    await returnAttempt(db, attempts)
    throw error
  })
  if (verdict.isRight) await clearCounter(db, attempts)
  else if (address !== null) await countInWindow(db, address, addressWindow)
  return verdict
}

function refuseFor(seconds: number): void {
  if (seconds > 0) throw apiError('err.tooManyRequests', { retryAfterSeconds: seconds })
}

const codeBucket = ({ realm, id }: { realm: Realm; id: string }): string => `code ${realm} ${id}`

/** Names are what people type, sometimes a password: the table keeps none. */
function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

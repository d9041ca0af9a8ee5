import { createHash } from 'node:crypto'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { toClientKey } from '../platform/http/ip-address.ts'
import type { Realm } from '../sessions/session-cookie.ts'
import {
  clearCounter,
  countInWindow,
  type FailureWindow,
  type GrowingWait,
  readWindowWait,
  returnAttempt,
  takeAttempt,
} from './failure-counter.store.ts'

/**
 * One account from one address: three failures are free, then 2, 4, 8 … s up to a quarter of an hour.
 * A stranger elsewhere has counters of his own, so he can't shut the owner out (decision 33).
 */
const accountWait: GrowingWait = { freeFailures: 3, longestSeconds: 900 }

/** One address (IPv6: one /64) over all accounts. Wide, because an office shares one; only failures count. */
const addressWindow: FailureWindow = { failures: 300, seconds: 300 }

/**
 * Lets somebody try a credential and counts it if it was wrong. Counters are shared by all replicas.
 *
 * What counts is whether the credential was right, not whether it let anybody in: a disabled account's right
 * password is no failure.
 *
 * @throws err.tooManyRequests with the seconds to wait; nothing was tried then.
 */
export async function countFailures<Verdict extends { isRight: boolean }>(
  { db }: Pick<Deps, 'db'>,
  who: { realm: Realm; userName: string; address: string },
  attempt: () => Promise<Verdict>,
): Promise<Verdict> {
  const address = toClientKey(who.address)
  const addressBucket = `address ${who.realm} ${address}`
  const accountBucket = `account ${who.realm} ${digest(who.userName.toLowerCase(), address)}`
  refuseFor(await readWindowWait(db.grants, addressBucket, addressWindow))
  refuseFor(await takeAttempt(db.grants, accountBucket, accountWait))

  const verdict = await attempt().catch(async (error: unknown) => {
    await returnAttempt(db.grants, accountBucket)
    throw error
  })
  if (verdict.isRight) await clearCounter(db.grants, accountBucket)
  else await countInWindow(db.grants, addressBucket, addressWindow)
  return verdict
}

function refuseFor(seconds: number): void {
  if (seconds > 0) throw apiError('err.tooManyRequests', { retryAfterSeconds: seconds })
}

/** Names are what people type, sometimes a password: the table keeps none. */
function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

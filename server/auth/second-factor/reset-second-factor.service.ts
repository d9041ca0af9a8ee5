import type { Kysely } from 'kysely'
import type { DB } from '../../platform/database.types.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { forgetCodeFailures } from '../failure-limits.ts'
import { deleteSecondFactor } from './second-factor.store.ts'

/**
 * Takes every second factor of an account away: the code generator's secret, one that is being set up, recovery
 * codes, passkeys. That the account must use one stays, and so do the deferrals it has used: its owner enrols at the
 * next sign-in. Specification README "TOTP flags".
 *
 * Only what the caller's transaction does with it: the caller ends the sessions and writes `ResetTOTP`, and refuses
 * whoever would reset the own one.
 */
export async function resetSecondFactor(
  tx: Kysely<DB>,
  account: { realm: Realm; id: string },
): Promise<void> {
  await deleteSecondFactor(tx, account)
  await forgetCodeFailures(tx, account)
}

import type { Kysely } from 'kysely'
import { userAllowance } from '#machines/licence.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { lockLicenceLimits } from '../sessions/licence-limits.query.ts'
import { countUsers } from './user.store.ts'

/**
 * Refuses another user at the licence's limit and its overage. The licence's row is locked until the transaction
 * ends, so that two can't both take the last place. Without a licence no limit holds.
 *
 * @throws err.userLimitReached
 */
export async function checkUserAllowance(tx: Kysely<DB>): Promise<void> {
  const licence = await lockLicenceLimits(tx)
  if (licence !== null && !userAllowance(licence, await countUsers(tx)).canCreate)
    throw apiError('err.userLimitReached')
}

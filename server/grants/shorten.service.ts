import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { shortenStanding } from './shorten.store.ts'

/**
 * A knoc's MaximumGrantDuration became shorter: what is open ends as if it had been granted under the new one, at once
 * where that is past. A longer one moves no end: the end of a grant is decided when it is given (specification README
 * "End of a grant"), and only taking time away goes on afterwards. Within `rights.change` of that knoc; null is no
 * limit.
 */
export async function shortenKnocGrants(
  tx: Kysely<DB>,
  aclId: string,
  { before, after }: { before: number | null; after: number | null },
): Promise<void> {
  if (after !== null && (before === null || after < before)) await shortenStanding(tx, aclId, after)
}

import type { Kysely } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Whose rights a change touches. Ids of users, sessions and ACLs; `everybody` for the licence. */
export type RightsScope = {
  users?: readonly string[]
  sessions?: readonly string[]
  acls?: readonly string[]
  everybody?: true
}

/** Why a grant ended, as stored and audited. */
export type EndReason =
  | 'revoked'
  | 'expired'
  | 'failed'
  | 'logout'
  | 'sessionEnded'
  | 'sessionLimit'
  | 'sessionExtended'
  | 'addressChanged'
  | 'userChanged'
  | 'groupChanged'
  | 'knocChanged'
  | 'knocDeleted'
  | 'licenceRemoved'
  | 'repaired'

/**
 * The one way to change anything a right depends on.
 *
 * `change` opens a READ COMMITTED transaction on the grants pool, locks the scope's subjects exclusively in id order,
 * runs `act` (the change itself with its audit events), ends every standing grant of the scope that `live_grants`
 * no longer holds, recomputes the touched entries through the one locking function, commits, and then hands the
 * orders over and tells the sessions. What `act` throws rolls all of it back. Last, sessions that had a changed knoc
 * open get it at the addresses for which it opens now, to the end they had (`goOn`): a change moves open doors, it opens
 * none that were shut.
 *
 * Lock order everywhere: users, sessions, ACLs (each by id), then entries, nothing after (decisions 1 and 3).
 */
export type Rights = {
  change<Result>(
    scope: RightsScope,
    reason: EndReason,
    act: (tx: Kysely<DB>) => Promise<Result>,
  ): Promise<Result>
}

import { type Kysely, sql } from 'kysely'
import type { Licence } from '#machines/licence.ts'
import type { DB } from '../platform/database.types.ts'

type LimitsRow = Omit<Licence, 'expiresAt'> & { expiresAt: Date }

/** The limits of the licence in force, null without one. They hold until it is removed, past its end too. */
export async function findLicenceLimits(db: Kysely<DB>): Promise<Licence | null> {
  const { rows } = await sql<LimitsRow>`${limitsInForce}`.execute(db)
  return toLicence(rows[0])
}

/**
 * The same, and nobody replaces that licence until the transaction ends. Looked for twice, because a licence that is
 * replaced at this moment is gone for the first look and its successor is there only for a second one.
 */
export async function lockLicenceLimits(tx: Kysely<DB>): Promise<Licence | null> {
  for (let look = 0; look < 2; look += 1) {
    const { rows } = await sql<LimitsRow>`${limitsInForce} for no key update`.execute(tx)
    if (rows.length > 0) return toLicence(rows[0])
  }
  return null
}

const limitsInForce = sql`
  select user_limit, session_limit, overage_percentage, expires_at from licences where removed_at is null`

const toLicence = (row: LimitsRow | undefined): Licence | null =>
  row === undefined ? null : { ...row, expiresAt: row.expiresAt.getTime() }

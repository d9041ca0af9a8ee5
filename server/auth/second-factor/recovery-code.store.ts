import { type Kysely, sql } from 'kysely'
import type { DB } from '../../platform/database.types.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import type { AccountKey } from './second-factor.store.ts'

/** Gives an account new recovery codes, in place of all it had. */
export async function replaceRecoveryCodes(
  tx: Kysely<DB>,
  { realm, id }: AccountKey,
  hashes: readonly string[],
): Promise<void> {
  await sql`delete from recovery_codes where ${owner(realm)} = ${id}`.execute(tx)
  await sql`
    insert into recovery_codes (${owner(realm)}, code_hash)
    select ${id}::uuid, unnest(${[...hashes]}::text[])`.execute(tx)
}

/** Whether a recovery code is one of an account's, and unused. */
export async function hasRecoveryCode(db: Kysely<DB>, account: AccountKey, hash: string): Promise<boolean> {
  const { rows } = await sql`
    select id from recovery_codes
    where ${owner(account.realm)} = ${account.id} and code_hash = ${hash} and used_at is null`.execute(db)
  return rows.length > 0
}

/** Uses a recovery code up; false when it was used already, by whatever replica. */
export async function useRecoveryCode(tx: Kysely<DB>, account: AccountKey, hash: string): Promise<boolean> {
  const { rows } = await sql`
    update recovery_codes set used_at = statement_timestamp()
    where ${owner(account.realm)} = ${account.id} and code_hash = ${hash} and used_at is null
    returning id`.execute(tx)
  return rows.length > 0
}

/** How many unused recovery codes an account has. */
export async function countRecoveryCodes(db: Kysely<DB>, { realm, id }: AccountKey): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from recovery_codes
    where ${owner(realm)} = ${id} and used_at is null`.execute(db)
  return rows[0]?.count ?? 0
}

const owner = (realm: Realm) => sql.ref(realm === 'user' ? 'user_id' : 'admin_id')

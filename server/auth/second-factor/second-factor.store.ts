import { type Kysely, sql } from 'kysely'
import type { DB } from '../../platform/database.types.ts'
import type { Realm } from '../../sessions/session-cookie.ts'

/** Which account of which realm. */
export type AccountKey = { realm: Realm; id: string }

/** Deletes secret, pending secret, recovery codes and passkeys of an account; that it must use one stays. */
export async function deleteSecondFactor(tx: Kysely<DB>, { realm, id }: AccountKey): Promise<void> {
  await sql`
    update ${accounts(realm)} set totp_secret = null, totp_confirmed_at = null, totp_last_step = null,
      totp_pending_secret = null, totp_pending_at = null
    where id = ${id}`.execute(tx)
  await sql`delete from recovery_codes where ${owner(realm)} = ${id}`.execute(tx)
  await sql`delete from passkeys where ${owner(realm)} = ${id}`.execute(tx)
}

const accounts = (realm: Realm) => sql.table(realm === 'user' ? 'users' : 'admins')
const owner = (realm: Realm) => sql.ref(realm === 'user' ? 'user_id' : 'admin_id')

import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Any fixed number that nothing else uses: replicas that start together make one first admin. */
const firstAdminLock = 4_210_002

/** Takes the lock under which the first admin is made, until the transaction ends. */
export async function lockFirstAdmin(tx: Kysely<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${firstAdminLock})`.execute(tx)
}

/** Whether there is any administrator. */
export async function hasAdmins(db: Kysely<DB>): Promise<boolean> {
  return (await db.selectFrom('admins').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Inserts an owner with a password. */
export async function insertOwner(
  tx: Kysely<DB>,
  admin: { name: string; userName: string; passwordHash: string },
): Promise<void> {
  await tx
    .insertInto('admins')
    .values({ ...admin, authType: 'local', role: 'owner' })
    .execute()
}

/** Gives an administrator a password and lets him sign in with it, whatever he signed in with before. */
export async function resetAdminRow(
  tx: Kysely<DB>,
  userName: string,
  passwordHash: string,
): Promise<{ id: string; userName: string } | undefined> {
  return tx
    .updateTable('admins')
    .set({
      passwordHash,
      authType: 'local',
      loginEnabled: true,
      lastModifiedAt: sql<Date>`clock_timestamp()`,
      lastModifiedBy: 'command line',
    })
    .where(sql<boolean>`lower(user_name) = lower(${userName})`)
    .returning(['id', 'userName'])
    .executeTakeFirst()
}

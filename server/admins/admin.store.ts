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

/** Any fixed number that nothing else uses: changes of administrators happen one after another. */
const adminChangeLock = 4_210_003

/**
 * Keeps every other change of administrators waiting until the transaction ends, so that of two owners who disable
 * each other at the same moment one is left.
 */
export async function lockAdmins(tx: Kysely<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${adminChangeLock})`.execute(tx)
}

/** A new administrator's columns. */
export type NewAdmin = {
  name: string
  userName: string
  authType: string
  /** LDAP: the distinguished name. */
  thirdPartyAuth: string | null
  role: string
  passwordHash: string | null
  totpEnabled: boolean
  loginEnabled: boolean
  lastModifiedBy: string
}

/** Inserts an administrator; undefined when the name is taken. */
export async function insertAdmin(tx: Kysely<DB>, admin: NewAdmin): Promise<string | undefined> {
  const row = await tx
    .insertInto('admins')
    .values(admin)
    .onConflict((conflict) => conflict.expression(sql`lower(user_name)`).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Columns of an administrator that another may change; absent ones stay. */
export type AdminChanges = Partial<Omit<NewAdmin, 'userName' | 'authType' | 'lastModifiedBy'>>

/** Writes changed columns and marks the row as modified. */
export async function updateAdminRow(
  tx: Kysely<DB>,
  id: string,
  { changes, by }: { changes: AdminChanges; by: string },
): Promise<void> {
  await tx
    .updateTable('admins')
    .set({ ...changes, lastModifiedAt: sql<Date>`clock_timestamp()`, lastModifiedBy: by })
    .where('id', '=', id)
    .execute()
}

/** Deletes an administrator with sessions, passkeys, recovery codes and known devices; the name is free at once. */
export async function deleteAdminRow(tx: Kysely<DB>, id: string): Promise<void> {
  await tx.deleteFrom('admins').where('id', '=', id).execute()
}

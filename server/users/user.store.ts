import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A new user's columns. */
export type NewUser = {
  name: string
  company: string | null
  userName: string
  authType: string
  /** LDAP: the distinguished name; OIDC: `issuer subject`. */
  thirdPartyAuth?: string | null
  passwordHash: string | null
  loginEnabled: boolean
  /** Must use a second factor; absent = no. */
  totpEnabled?: boolean
  sessionMinutes: number
  sessionLimit: number | null
  validUntil: Date | null
  lastModifiedBy: string
}

/** Inserts a user; undefined when the name is taken. */
export async function insertUser(tx: Kysely<DB>, user: NewUser): Promise<string | undefined> {
  const row = await tx
    .insertInto('users')
    .values(user)
    .onConflict((conflict) =>
      conflict.expression(sql`lower(user_name)`).where('deletedAt', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Columns of a user that an administrator may change; absent ones stay. */
export type UserChanges = Partial<Omit<NewUser, 'userName' | 'authType' | 'lastModifiedBy'>>

/** Writes changed columns and marks the row as modified. */
export async function updateUserRow(
  tx: Kysely<DB>,
  id: string,
  changes: UserChanges,
  by: string,
): Promise<void> {
  await tx
    .updateTable('users')
    .set({ ...changes, lastModifiedAt: sql<Date>`clock_timestamp()`, lastModifiedBy: by })
    .where('id', '=', id)
    .execute()
}

/** A change of memberships: ids that were really added or removed. */
export type MembershipChange = { added: string[]; removed: string[] }

/** Makes the user's own knocs those given, as differences in one statement (decision 17). */
export async function replaceUserAcls(
  tx: Kysely<DB>,
  userId: string,
  aclIds: readonly string[],
): Promise<MembershipChange> {
  const { rows } = await sql<{ id: string; change: 'added' | 'removed' }>`
    with removed as (
      delete from user_acls where user_id = ${userId} and acl_id <> all (${[...aclIds]}::uuid[])
      returning acl_id),
    added as (
      insert into user_acls (user_id, acl_id)
      select ${userId}::uuid, a.id from acls a
      where a.id = any (${[...aclIds]}::uuid[]) and a.deleted_at is null
      on conflict do nothing
      returning acl_id)
    select acl_id as id, 'removed' as change from removed
    union all select acl_id, 'added' from added`.execute(tx)
  const changed = (change: string) => rows.filter((row) => row.change === change).map(({ id }) => id)
  return { added: changed('added'), removed: changed('removed') }
}

/**
 * Marks a user as deleted: gone from every list, its name free again, its password and second factor forgotten.
 * The row stays for the doors that have yet to be seen closed.
 */
export async function markUserDeleted(tx: Kysely<DB>, id: string, by: string): Promise<void> {
  await sql`
    update users set deleted_at = clock_timestamp(), password_hash = null, totp_secret = null,
      totp_pending_secret = null, last_modified_at = clock_timestamp(), last_modified_by = ${by}
    where id = ${id}`.execute(tx)
  await sql`delete from user_acls where user_id = ${id}`.execute(tx)
  await sql`delete from group_members where user_id = ${id}`.execute(tx)
  await sql`delete from recovery_codes where user_id = ${id}`.execute(tx)
  await sql`delete from passkeys where user_id = ${id}`.execute(tx)
  await sql`delete from known_devices where user_id = ${id}`.execute(tx)
  await sql`
    update api_keys set deleted_at = clock_timestamp()
    where user_id = ${id} and deleted_at is null`.execute(tx)
}

/** How many users there are, of any AuthType. */
export async function countUsers(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from users where deleted_at is null`.execute(db)
  return rows[0]?.count ?? 0
}

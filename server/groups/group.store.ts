import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { isUniqueViolation } from '../platform/database-errors.ts'
import type { ListChange } from './list-change.ts'

/** Inserts a group; undefined when the name is taken. */
export async function insertGroup(
  tx: Kysely<DB>,
  group: { name: string; description: string | null; type: string; lastModifiedBy: string },
): Promise<string | undefined> {
  const row = await tx
    .insertInto('groups')
    .values(group)
    .onConflict((conflict) =>
      conflict.expression(sql`lower(name)`).where('deletedAt', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Locks a group until the transaction ends. */
export async function lockGroup(tx: Kysely<DB>, id: string): Promise<void> {
  await sql`select id from groups where id = ${id} for no key update`.execute(tx)
}

/** Writes a group's columns; false when the name is taken. An absent description stays. */
export async function updateGroupRow(
  tx: Kysely<DB>,
  id: string,
  group: { name: string; description?: string | null; lastModifiedBy: string },
): Promise<boolean> {
  const update = tx
    .updateTable('groups')
    .set({ ...group, lastModifiedAt: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .execute()
  return update.then(
    () => true,
    (error: unknown) => {
      if (isUniqueViolation(error, 'groups_name')) return false
      throw error
    },
  )
}

/**
 * Adds and removes members in one statement; whoever is in or out already stays so, and members by claim stay what
 * they are. Users are share-locked, so that nobody joins who is deleted at this moment.
 */
export async function changeMembers(tx: Kysely<DB>, groupId: string, change: ListChange): Promise<void> {
  await sql`
    with removed as (
      delete from group_members
      where group_id = ${groupId} and source = 'admin' and user_id = any (${change.removed}::uuid[]))
    insert into group_members (group_id, user_id)
    select ${groupId}::uuid, u.id from users u
    where u.id = any (${change.added}::uuid[]) and u.deleted_at is null
    order by u.id for share
    on conflict do nothing`.execute(tx)
}

/** The same for the group's knocs. */
export async function changeAcls(tx: Kysely<DB>, groupId: string, change: ListChange): Promise<void> {
  await sql`
    with removed as (
      delete from group_acls where group_id = ${groupId} and acl_id = any (${change.removed}::uuid[]))
    insert into group_acls (group_id, acl_id)
    select ${groupId}::uuid, a.id from acls a
    where a.id = any (${change.added}::uuid[]) and a.deleted_at is null
    on conflict do nothing`.execute(tx)
}

/** Marks a group as deleted and takes its memberships away; its name is free at once. */
export async function markGroupDeleted(tx: Kysely<DB>, id: string, by: string): Promise<void> {
  await sql`
    update groups set deleted_at = clock_timestamp(), last_modified_at = clock_timestamp(), last_modified_by = ${by}
    where id = ${id}`.execute(tx)
  await sql`delete from group_members where group_id = ${id}`.execute(tx)
  await sql`delete from group_acls where group_id = ${id}`.execute(tx)
}

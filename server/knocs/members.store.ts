import { type Kysely, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'

/** How a list of members changed. */
export type MemberChange = { added: string[]; removed: string[] }

/**
 * Makes an ACL's users exactly these, as a difference in one statement (decision 17).
 *
 * @throws err.invalidField, Extra the place in the list, for one that isn't there or that SAML made.
 */
export async function setUsers(
  tx: Kysely<DB>,
  aclId: string,
  userIds: readonly string[],
): Promise<MemberChange> {
  const { rows: wrong } = await sql<{ place: number }>`
    select w.place::int - 1 as place from unnest(${[...userIds]}::uuid[]) with ordinality as w (id, place)
    left join users u on u.id = w.id and u.deleted_at is null
    where (u.id is null or u.auth_type = 'SAML')
      and not exists (select from user_acls m where m.acl_id = ${aclId} and m.user_id = w.id)
    order by w.place limit 1`.execute(tx)
  checkPlace(wrong, 'UserIDs')
  const { rows } = await sql<Moved>`
    with removed as (
      delete from user_acls where acl_id = ${aclId} and user_id <> all (${[...userIds]}::uuid[])
      returning user_id
    ), added as (
      insert into user_acls (acl_id, user_id) select distinct ${aclId}::uuid, id from unnest(${[...userIds]}::uuid[]) as w (id)
      on conflict do nothing returning user_id
    )
    select user_id as id, false as is_added from removed union all select user_id, true from added`.execute(
    tx,
  )
  return toChange(rows)
}

/** The same for its groups. */
export async function setGroups(
  tx: Kysely<DB>,
  aclId: string,
  groupIds: readonly string[],
): Promise<MemberChange> {
  const { rows: wrong } = await sql<{ place: number }>`
    select w.place::int - 1 as place from unnest(${[...groupIds]}::uuid[]) with ordinality as w (id, place)
    left join groups g on g.id = w.id and g.deleted_at is null
    where g.id is null
    order by w.place limit 1`.execute(tx)
  checkPlace(wrong, 'GroupIDs')
  const { rows } = await sql<Moved>`
    with removed as (
      delete from group_acls where acl_id = ${aclId} and group_id <> all (${[...groupIds]}::uuid[])
      returning group_id
    ), added as (
      insert into group_acls (acl_id, group_id) select distinct ${aclId}::uuid, id from unnest(${[...groupIds]}::uuid[]) as w (id)
      on conflict do nothing returning group_id
    )
    select group_id as id, false as is_added from removed union all select group_id, true from added`.execute(
    tx,
  )
  return toChange(rows)
}

type Moved = { id: string; isAdded: boolean }

const toChange = (rows: readonly Moved[]): MemberChange => ({
  added: rows.filter((row) => row.isAdded).map((row) => row.id),
  removed: rows.filter((row) => !row.isAdded).map((row) => row.id),
})

function checkPlace([wrong]: readonly { place: number }[], field: string): void {
  if (wrong !== undefined) throw apiError('err.invalidField', { extra: `${field}.${wrong.place}` })
}

import { type Kysely, type RawBuilder, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { type Page, type SortColumns, toLikePattern, toPageSql } from '../platform/page.ts'
import type { ListQuery } from '../platform/wire.schema.ts'

/** A group as the console reads it. */
export type GroupView = {
  id: string
  name: string
  description: string | null
  type: 'dynamic' | 'local' | 'saml'
  aclIds: string[]
  /** All members, however they came to be. */
  userIds: string[]
  /** Those of them whose claims made them members: they come and go with their sign-ins alone. */
  claimedUserIds: string[]
  lastModifiedAt: Date
}

/** A page of the groups, with search over name and description, in the order asked for. */
export async function listGroups(db: Kysely<DB>, query: ListQuery): Promise<Page<GroupView>> {
  const { order, limits } = toPageSql(query, { columns, fallback: 'Name', id: sql`g.id` })
  const found = sql`from groups g where g.deleted_at is null ${matches(query.search)}`
  const rows = await selectGroups(db, { page: sql`select g.id ${found} order by ${order} ${limits}`, order })
  if (query.limit === undefined) return { rows, total: rows.length }
  const count = await sql<{ total: number }>`select count(*) as total ${found}`.execute(db)
  return { rows, total: count.rows[0]?.total ?? 0 }
}

/** One group; throws err.notFound. */
export async function getGroup(db: Kysely<DB>, id: string): Promise<GroupView> {
  const page = sql`select id from groups where id = ${id} and deleted_at is null`
  const [group] = await selectGroups(db, { page, order: sql`g.id` })
  if (group === undefined) throw apiError('err.notFound')
  return group
}

const matches = (search: string | undefined): RawBuilder<unknown> => {
  if (search === undefined) return sql``
  const pattern = toLikePattern(search)
  return sql`and (g.name ilike ${pattern} or g.description ilike ${pattern})`
}

/** A deleted user is in no group any more; a deleted knoc may still be named by one. */
const columns: SortColumns = {
  Name: sql`lower(g.name)`,
  Type: sql`g.type`,
  Description: sql`lower(g.description)`,
  LastModifiedAt: sql`g.last_modified_at`,
  KnocCount: sql`(
    select count(*) from group_acls m join acls a on a.id = m.acl_id and a.deleted_at is null
    where m.group_id = g.id)`,
  UserCount: sql`(select count(*) from group_members m where m.group_id = g.id)`,
}

async function selectGroups(
  db: Kysely<DB>,
  { page, order }: { page: RawBuilder<unknown>; order: RawBuilder<unknown> },
): Promise<GroupView[]> {
  const { rows } = await sql<GroupView>`
    with page as materialized (${page})
    select g.id, g.name, g.description, g.type, g.last_modified_at,
      array(
        select m.acl_id from group_acls m join acls a on a.id = m.acl_id and a.deleted_at is null
        where m.group_id = g.id order by m.acl_id) as acl_ids,
      array(select m.user_id from group_members m where m.group_id = g.id order by m.user_id) as user_ids,
      array(
        select m.user_id from group_members m
        where m.group_id = g.id and m.source = 'claim' order by m.user_id) as claimed_user_ids
    from page join groups g on g.id = page.id
    order by ${order}`.execute(db)
  return rows
}

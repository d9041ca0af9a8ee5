import { type Kysely, type RawBuilder, sql } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { type Page, type SortColumns, toLikePattern, toPageSql } from '../platform/page.ts'
import type { ListQuery } from '../platform/wire.schema.ts'
import type { AuthType } from './account.schema.ts'

/** A user as the console reads it. */
export type UserView = {
  id: string
  name: string
  company: string | null
  userName: string
  authType: AuthType
  sessionMinutes: number
  sessionLimit: number | null
  totpEnabled: boolean
  totpVerified: boolean
  thirdPartyAuth: string | null
  validUntil: Date | null
  loginEnabled: boolean
  lastLoginAt: Date | null
  createdAt: Date
  lastModifiedAt: Date
  hasActiveSession: boolean
  licensed: boolean
  /** Knocs given to the user directly. */
  aclIds: string[]
}

/** A page of the users, with search over name, company and user name, in the order asked for. */
export async function listUsers(db: Kysely<DB>, query: ListQuery): Promise<Page<UserView>> {
  const { found, order, limits } = toListSql(query)
  const rows = await selectUsers(db, { page: sql`select u.id ${found} order by ${order} ${limits}`, order })
  const count = await sql<{ total: number }>`select count(*) as total ${found}`.execute(db)
  return { rows, total: count.rows[0]?.total ?? 0 }
}

/** Ids of all users that are found, in the order asked for: 100,000 of them are read in a moment. */
export async function listUserIds(db: Kysely<DB>, query: ListQuery): Promise<string[]> {
  const { found, order, limits } = toListSql(query)
  const { rows } = await sql<{ id: string }>`select u.id ${found} order by ${order} ${limits}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Those of some users who are there still, in the order of their ids. */
export async function listUsersById(db: Kysely<DB>, ids: readonly string[]): Promise<UserView[]> {
  const page = sql`
    select u.id, p.place from unnest(${[...ids]}::uuid[]) with ordinality as p (id, place)
    join users u on u.id = p.id and u.deleted_at is null`
  return selectUsers(db, { page, order: sql`page.place` })
}

/** One user; throws err.notFound. */
export async function getUser(db: Kysely<DB>, id: string): Promise<UserView> {
  const page = sql`select id from users where id = ${id} and deleted_at is null`
  const [user] = await selectUsers(db, { page, order: sql`u.id` })
  if (user === undefined) throw apiError('err.notFound')
  return user
}

/** The groups of a user that exist. */
export async function listUserGroups(
  db: Kysely<DB>,
  userId: string,
): Promise<{ id: string; name: string; description: string | null; type: string }[]> {
  return db
    .selectFrom('groupMembers as m')
    .innerJoin('groups as g', 'g.id', 'm.groupId')
    .where('m.userId', '=', userId)
    .where('g.deletedAt', 'is', null)
    .select(['g.id', 'g.name', 'g.description', 'g.type'])
    .orderBy(sql`lower(g.name)`)
    .execute()
}

/** What a user may have, and how it came by it. */
export async function listUserAcls(
  db: Kysely<DB>,
  userId: string,
): Promise<{ id: string; description: string; url: string; isDirect: boolean; groups: string[] }[]> {
  const { rows } = await sql<{
    id: string
    description: string
    url: string
    isDirect: boolean
    groups: string[]
  }>`
    with given as (
      select acl_id, null::text as group_name from user_acls where user_id = ${userId}
      union all
      select a.acl_id, g.name
      from group_members m
      join groups g on g.id = m.group_id and g.deleted_at is null
      join group_acls a on a.group_id = g.id
      where m.user_id = ${userId})
    select a.id, a.description, coalesce(a.url, '') as url, bool_or(given.group_name is null) as is_direct,
      coalesce(array_agg(given.group_name order by lower(given.group_name))
        filter (where given.group_name is not null), '{}') as groups
    from given join acls a on a.id = given.acl_id and a.deleted_at is null
    group by a.id
    order by lower(a.description), a.id`.execute(db)
  return rows
}

function toListSql(query: ListQuery) {
  const page = toPageSql(query, { columns, fallback: 'Name', id: sql`u.id` })
  return { ...page, found: sql`from users u where u.deleted_at is null ${matches(query.search)}` }
}

const matches = (search: string | undefined): RawBuilder<unknown> => {
  if (search === undefined) return sql``
  const pattern = toLikePattern(search)
  return sql`and (u.name ilike ${pattern} or u.company ilike ${pattern} or u.user_name ilike ${pattern})`
}

const activeSessions = sql`
  sessions s where s.ended_at is null and s.ends_at > statement_timestamp() and s.stage = 'complete'`

const columns: SortColumns = {
  Name: sql`lower(u.name)`,
  Company: sql`lower(u.company)`,
  UserName: sql`lower(u.user_name)`,
  AuthType: sql`u.auth_type`,
  Duration: sql`u.session_minutes`,
  ValidUntil: sql`u.valid_until`,
  LastLogin: sql`u.last_login_at`,
  CreatedAt: sql`u.created_at`,
  LastModifiedAt: sql`u.last_modified_at`,
  ActiveSession: sql`(u.id in (select s.user_id from ${activeSessions}))`,
}

/** What stands around the users of a page is gathered for the whole page at once. */
async function selectUsers(
  db: Kysely<DB>,
  { page, order }: { page: RawBuilder<unknown>; order: RawBuilder<unknown> },
): Promise<UserView[]> {
  const { rows } = await sql<UserView>`
    with page as materialized (${page}),
    active as (
      select distinct s.user_id from ${activeSessions} and s.user_id in (select id from page)),
    given as (
      select m.user_id, array_agg(m.acl_id order by m.acl_id) as acl_ids
      from user_acls m join acls a on a.id = m.acl_id and a.deleted_at is null
      where m.user_id in (select id from page)
      group by m.user_id)
    select u.id, u.name, u.company, u.user_name, u.auth_type, u.session_minutes, u.session_limit, u.totp_enabled,
      u.totp_confirmed_at is not null as totp_verified, u.third_party_auth, u.valid_until, u.login_enabled, u.last_login_at, u.created_at, u.last_modified_at, u.licensed,
      active.user_id is not null as has_active_session, coalesce(given.acl_ids, '{}') as acl_ids
    from page join users u on u.id = page.id
    left join active on active.user_id = u.id
    left join given on given.user_id = u.id
    order by ${order}`.execute(db)
  return rows
}

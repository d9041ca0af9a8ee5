import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type AclRow, rangesOf, toAclRecord } from '../acls/acl-record.query.ts'
import { refreshOf } from '../agents/list-refresh.query.ts'
import { noAgentId } from '../backends/backend.schema.ts'
import type { Sealed } from '../backends/sealing.schema.ts'
import { toWireConfig } from '../backends/wire-config.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { etagOf } from '../platform/http/etag.ts'
import { type Page, type SortColumns, toLikePattern, toPage, toPageSql } from '../platform/page.ts'
import type { ListQuery } from '../platform/wire.schema.ts'
import type { KnocDetail, KnocFirewall, KnocRow } from './knoc.schema.ts'

/** A page of the knocs an administrator sees, with search over description, backend and agent. */
export async function listKnocs(db: Kysely<DB>, query: ListQuery): Promise<Page<KnocRow>> {
  const { order, limits } = toPageSql(query, { columns, fallback: 'Name', id: sql`a.id` })
  const pattern = query.search === undefined ? null : toLikePattern(query.search)
  const rows = await selectKnocs(
    db,
    sql`
      select a.id, count(*) over () as total, row_number() over (order by ${order}) as place
      from acls a join backends b on b.id = a.backend_id left join agents g on g.id = b.agent_id
      where a.deleted_at is null and not a.hide_from_admins and (${pattern}::text is null
        or a.description ilike ${pattern} or b.name ilike ${pattern} or g.name ilike ${pattern}
        or exists (select ${firewallsOf} and (fb.name ilike ${pattern} or fg.name ilike ${pattern})))
      order by place ${limits}`,
  )
  return toPage(rows, toRow)
}

/** One knoc as its update page needs it, with the version to name when it is written; throws err.notFound. */
export async function getKnoc(db: Kysely<DB>, id: string): Promise<{ knoc: KnocDetail; etag: string }> {
  const row = await getRow(db, id)
  const [childId] = row.parentId === null ? row.children : []
  const written = {
    ...toParts(row, row.parentId === null ? row : await getRow(db, row.parentId)),
    ...(childId !== undefined && { Child: toParts(await getRow(db, childId), row) }),
    ...(await readMembers(db, row.parentId ?? row.id)),
  }
  // What others change besides (counts, links, names) is not part of the version.
  return { knoc: { ...toRow(row), ...written }, etag: etagOf(written) }
}

async function getRow(db: Kysely<DB>, id: string): Promise<Row> {
  const [row] = await selectKnocs(
    db,
    sql`select id, 1::bigint as total, 1 as place from acls where id = ${id} and deleted_at is null`,
  )
  if (row === undefined) throw apiError('err.notFound')
  return row
}

/** Backend and ACL as they are written by this id. `whole` is the parent, whose fields a child shows as its own. */
const toParts = (row: Row, whole: Row): Pick<KnocDetail, 'Backend' | 'ACL'> => ({
  Backend: { AgentID: row.agentId, Config: toWireConfig(row.backend) },
  ACL: { ID: row.id, ...toAclRecord(whole).fields, Config: { [row.backend.type]: row.config } },
})

/** The children `f` of an ACL `a` that tell a firewall to fetch its list, each on its backend `fb` with its agent `fg`. */
const firewallsOf = sql`from acls f
  join backends fb on fb.id = f.backend_id and fb.type = 'panos'
  join agents fg on fg.id = fb.agent_id
  where f.parent_id = coalesce(a.parent_id, a.id) and f.deleted_at is null`

const userCount = sql`(select count(*) from user_acls m join users u on u.id = m.user_id
  where m.acl_id = coalesce(a.parent_id, a.id) and u.deleted_at is null)`

const columns: SortColumns = {
  Name: sql`lower(a.description)`,
  UserCount: userCount,
  AgentName: sql`coalesce(lower(g.name), (select min(lower(fg.name)) ${firewallsOf}))`,
  LastModifiedAt: sql`a.last_modified_at`,
}

type Row = AclRow & {
  total: number
  children: string[]
  firewalls: KnocFirewall[]
  backend: { id: string; name: string; type: string; config: Record<string, unknown>; sealed: Sealed }
  agentId: string | null
  agentName: string | null
  agentOnline: boolean
  userCount: number
  groupCount: number
  openCount: number
  unsettledCount: number
  lastModifiedAt: Date
  lastModifiedBy: string | null
}

/** Whether the agent under this alias has a link to a replica that lives. */
const isLinked = (agent: string) => sql`exists (select from replicas r
  where r.id = ${sql.table(agent)}.link_replica and r.seen_at > now() - interval '6 seconds')`

/** Counts of entries are those of the knoc's lists: a list that two knocs share counts for both. */
async function selectKnocs(db: Kysely<DB>, page: RawBuilder<unknown>): Promise<Row[]> {
  const { rows } = await sql<Row>`
    with page as (${page})
    select page.total, a.*, ${rangesOf(sql`a.id`)} as ranges,
      array(select c.id from acls c where c.parent_id = a.id and c.deleted_at is null order by c.created_at, c.id) as children,
      coalesce((
        select jsonb_agg(jsonb_build_object('ACLID', f.id, 'Type', fb.type, 'Hostname', fb.config ->> 'Hostname',
          'EDLName', f.config ->> 'EDLName', 'AgentID', fg.id, 'AgentName', fg.name,
          'AgentOnline', ${isLinked('fg')}, 'Refresh', (
            select ${refreshOf('lr')} from acl_targets ft join list_refreshes lr on lr.target_id = ft.target_id
            where ft.acl_id = f.id limit 1)) order by f.created_at, f.id) ${firewallsOf}), '[]') as firewalls,
      jsonb_build_object('id', b.id, 'name', b.name, 'type', b.type, 'config', b.config, 'sealed', b.sealed) as backend,
      b.agent_id, g.name as agent_name,
      ${isLinked('g')} as agent_online,
      ${userCount} as user_count,
      (select count(*) from group_acls m join groups o on o.id = m.group_id
        where m.acl_id = coalesce(a.parent_id, a.id) and o.deleted_at is null) as group_count,
      (select count(*) from entries e where e.desired = 'open'
        and e.target_id in (select t.target_id from acl_targets t where t.acl_id = a.id)) as open_count,
      (select count(*) from entries e where e.applied_generation < e.generation
        and e.target_id in (select t.target_id from acl_targets t where t.acl_id = a.id)) as unsettled_count
    from page
    join acls a on a.id = page.id
    join backends b on b.id = a.backend_id
    left join agents g on g.id = b.agent_id
    order by page.place`.execute(db)
  return rows
}

function toRow(row: Row): KnocRow {
  const { fields, config } = toAclRecord(row)
  return {
    ID: row.id,
    Name: fields.Description,
    ParentID: row.parentId,
    Children: row.children,
    HideFromAdmins: fields.HideFromAdmins,
    HideFromUsers: fields.HideFromUsers,
    BackendID: row.backend.id,
    BackendName: row.backend.name,
    BackendType: row.backend.type,
    AgentID: row.agentId ?? noAgentId,
    AgentName: row.agentName,
    AgentOnline: row.agentOnline,
    BackendConfig: toWireConfig(row.backend),
    AclConfig: { [row.backend.type]: config },
    Firewalls: row.firewalls,
    URL: fields.URL,
    Category: fields.Category,
    Icon: fields.Icon,
    UserCount: row.userCount,
    GroupCount: row.groupCount,
    OpenCount: row.openCount,
    UnsettledCount: row.unsettledCount,
    LastModifiedAt: row.lastModifiedAt.toISOString(),
    LastModifiedBy: row.lastModifiedBy,
  }
}

/** Memberships hang on the parent; users that are deleted don't show. */
async function readMembers(db: Kysely<DB>, aclId: string): Promise<Pick<KnocDetail, 'UserIDs' | 'GroupIDs'>> {
  const { rows } = await sql<{ userIds: string[]; groupIds: string[] }>`
    select array(select m.user_id from user_acls m join users u on u.id = m.user_id
        where m.acl_id = ${aclId} and u.deleted_at is null order by m.user_id) as user_ids,
      array(select m.group_id from group_acls m join groups g on g.id = m.group_id
        where m.acl_id = ${aclId} and g.deleted_at is null order by m.group_id) as group_ids`.execute(db)
  return { UserIDs: rows[0]?.userIds ?? [], GroupIDs: rows[0]?.groupIds ?? [] }
}

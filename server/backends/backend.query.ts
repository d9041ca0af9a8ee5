import { type Kysely, sql } from 'kysely'
import type { PassivePlusPart } from '../acls/acl.schema.ts'
import { passivePlusPart } from '../acls/passive-plus.query.ts'
import type { DB } from '../platform/database.types.ts'
import { type Page, type SortColumns, toLikePattern, toPage, toPageSql } from '../platform/page.ts'
import type { ListQuery } from '../platform/wire.schema.ts'
import { type BackendRow, noAgentId } from './backend.schema.ts'
import type { Sealed } from './sealing.schema.ts'
import { toWireConfig } from './wire-config.ts'

/** A page of the backends, with search over name, type and agent. */
export async function listBackends(db: Kysely<DB>, query: ListQuery): Promise<Page<BackendRow>> {
  const { order, limits } = toPageSql(query, { columns, fallback: 'Name', id: sql`b.id` })
  const pattern = query.search === undefined ? null : toLikePattern(query.search)
  const { rows } = await sql<Row>`
    select count(*) over () as total, b.id, b.name, b.type, b.agent_id, g.name as agent_name, b.config, b.sealed,
      b.needs_credentials, b.last_modified_at, b.last_modified_by,
      (select count(*) from acls a where a.backend_id = b.id and a.deleted_at is null) as acl_count,
      (select min(${passivePlusPart('a', sql`b.type`)}) from acls a
        where a.backend_id = b.id and a.deleted_at is null) as passive_plus
    from backends b left join agents g on g.id = b.agent_id
    where b.deleted_at is null and (${pattern}::text is null
      or b.name ilike ${pattern} or b.type ilike ${pattern} or g.name ilike ${pattern})
    order by ${order} ${limits}`.execute(db)
  return toPage(rows, toRow)
}

const columns: SortColumns = {
  Name: sql`lower(b.name)`,
  Type: sql`b.type`,
  AgentName: sql`lower(g.name)`,
  LastModifiedAt: sql`b.last_modified_at`,
}

type Row = {
  total: number
  id: string
  name: string
  type: string
  agentId: string | null
  agentName: string | null
  config: Record<string, unknown>
  sealed: Sealed
  needsCredentials: boolean
  lastModifiedAt: Date
  lastModifiedBy: string | null
  aclCount: number
  passivePlus: PassivePlusPart
}

const toRow = (row: Row): BackendRow => ({
  ID: row.id,
  Name: row.name,
  Type: row.type,
  AgentID: row.agentId ?? noAgentId,
  AgentName: row.agentName,
  Config: toWireConfig(row),
  NeedsCredentials: row.needsCredentials,
  ACLCount: row.aclCount,
  PassivePlus: row.passivePlus,
  LastModifiedAt: row.lastModifiedAt.toISOString(),
  LastModifiedBy: row.lastModifiedBy,
})

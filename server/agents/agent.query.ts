import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Capabilities } from '#machines/protocol.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { type Page, type SortColumns, toLikePattern, toPage, toPageSql } from '../platform/page.ts'
import type { ListQuery } from '../platform/wire.schema.ts'

/** An agent as the console reads it, with what stands around it. */
export type AgentView = {
  id: string
  name: string
  lastSeenAt: Date | null
  online: boolean
  version: string | null
  externalIp: string | null
  capabilities: Capabilities | null
  backends: { ID: string; Name: string; Type: string }[]
  enrolledAt: Date | null
  conflict: boolean
  debts: number
  lastModifiedAt: Date
  tokenSealed: string | null
  tokenExpiresAt: Date | null
  /** By the database's clock, which decides at enrolment too. */
  tokenIsValid: boolean
}

/** A page of the agents, with search over name, version and address, in the order asked for. */
export async function listAgents(db: Kysely<DB>, query: ListQuery): Promise<Page<AgentView>> {
  const { order, limits } = toPageSql(query, { columns, fallback: 'Name', id: sql`a.id` })
  const pattern = query.search === undefined ? null : toLikePattern(query.search)
  return selectAgents(
    db,
    sql`
      select a.id, count(*) over () as total, row_number() over (order by ${order}) as place
      from agents a
      where a.deleted_at is null and (${pattern}::text is null
        or a.name ilike ${pattern} or a.version ilike ${pattern} or host(a.external_ip) ilike ${pattern})
      order by place ${limits}`,
  )
}

/** One agent; throws err.notFound. */
export async function getAgent(db: Kysely<DB>, id: string): Promise<AgentView> {
  const { rows } = await selectAgents(
    db,
    sql`select id, 1::bigint as total, 1 as place from agents where id = ${id} and deleted_at is null`,
  )
  const [agent] = rows
  if (agent === undefined) throw apiError('err.notFound')
  return agent
}

/** Numbers of a version, so that 2.10 comes after 2.9. */
const versionNumbers = sql`string_to_array(substring(a.version from '^[0-9]{1,9}(?:\\.[0-9]{1,9}){0,3}'), '.')::int[]`

const columns: SortColumns = {
  Name: sql`lower(a.name)`,
  LastSeen: sql`a.last_seen_at`,
  Version: versionNumbers,
  ExternalIP: sql`a.external_ip`,
  LastModifiedAt: sql`a.last_modified_at`,
}

/**
 * Debts are doors that wait to be seen closed: ordered closed and not yet settled, or still open on a list that
 * drains. A clone that tried within the hour shows as a conflict.
 */
async function selectAgents(db: Kysely<DB>, page: RawBuilder<unknown>): Promise<Page<AgentView>> {
  const { rows } = await sql<AgentView & { total: number }>`
    with page as (${page})
    select page.total, a.id, a.name, a.last_seen_at, a.version, host(a.external_ip) as external_ip, a.capabilities,
      a.enrolled_at, a.last_modified_at, a.token_sealed, a.token_expires_at,
      coalesce(a.token_expires_at > now(), false) as token_is_valid,
      coalesce(a.conflict_at > now() - interval '1 hour', false) as conflict,
      a.public_key is not null and exists (select from replicas r
        where r.id = a.link_replica and r.seen_at > now() - interval '6 seconds') as online,
      coalesce((
        select jsonb_agg(jsonb_build_object('ID', b.id, 'Name', b.name, 'Type', b.type) order by lower(b.name), b.id)
        from backends b where b.agent_id = a.id and b.deleted_at is null), '[]') as backends,
      (select count(*) from targets t join entries e on e.target_id = t.id
        where t.agent_id = a.id and t.state <> 'forgotten'
          and (e.desired = 'closed' and e.applied_generation < e.generation
            or e.desired = 'open' and t.state = 'draining')) as debts
    from page join agents a on a.id = page.id
    order by page.place`.execute(db)
  return toPage(rows, ({ total: _total, ...agent }) => agent)
}

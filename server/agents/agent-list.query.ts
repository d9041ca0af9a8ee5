import { type Kysely, sql } from 'kysely'
import { overdueAfterSeconds } from '../alarms/alarm.query.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { type Page, type SortColumns, toLikePattern, toPage, toPageSql } from '../platform/page.ts'
import type { ListQuery } from '../platform/wire.schema.ts'

import type { AgentDebt, AgentDrift, AgentList, AgentLists } from './agent-list.schema.ts'
import { refreshOf } from './list-refresh.query.ts'

/** Findings that the agent's page shows. */
const shownDrifts = 20

/** Debts answered when nobody says how many; an agent may have 100,000. */
const usualDebts = 100

/** An agent, deleted ones included: what it owes doesn't go with it. Throws err.notFound. */
export async function getAgentHead(db: Kysely<DB>, id: string): Promise<AgentLists['Agent']> {
  const { rows } = await sql<AgentLists['Agent']>`
    select a.id as "ID", a.name as "Name", a.version as "Version", a.deleted_at is not null as "Deleted",
      to_jsonb(a.last_seen_at) #>> '{}' as "LastSeen",
      coalesce(a.conflict_at > now() - interval '1 hour', false) as "Conflict",
      a.public_key is not null and a.deleted_at is null and exists (select from replicas r
        where r.id = a.link_replica and r.seen_at > now() - interval '6 seconds') as "Online"
    from agents a where a.id = ${id}`.execute(db)
  const [agent] = rows
  if (agent === undefined) throw apiError('err.notFound')
  return agent
}

/** The name of a list, as its canonical key has it: without the agent's id. A firewall's: its own name for it, and which. */
const listName = sql`case when t.type = 'panos'
  then concat_ws(' · ', t.list_config ->> 'EDLName', t.backend_config ->> 'Hostname', t.list_config ->> 'SerialNumber')
  else regexp_replace(t.key, '^' || t.type || ':(' || t.agent_id || ':)?', '') end`

/** The lists an agent looks after: those in use and those that drain, by name. */
export async function listListsOfAgent(db: Kysely<DB>, agentId: string): Promise<AgentList[]> {
  const { rows } = await sql<AgentList>`
    select t.id as "ID", t.type as "Type", ${listName} as "Name", t.family as "Family",
      t.state = 'draining' as "Draining", t.expiry = 'native' as "EndsByItself",
      coalesce((
        select jsonb_agg(jsonb_build_object('ID', p.id, 'Name', p.description) order by lower(p.description), p.id)
        from acl_targets at join acls k on k.id = at.acl_id and k.deleted_at is null
        join acls p on p.id = coalesce(k.parent_id, k.id)
        where at.target_id = t.id and (t.family is null or at.family = t.family)), '[]') as "Knocs",
      (select count(*) from entries e where e.target_id = t.id and e.desired = 'open') as "Open",
      (select jsonb_build_object('CheckedAt', r.checked_at, 'Desired', r.desired, 'Actual', r.actual,
          'Foreign', r."foreign", 'Error', r.error)
        from target_reports r where r.target_id = t.id) as "Look",
      (select ${refreshOf('r')} from list_refreshes r where r.target_id = t.id) as "Refresh",
      (select count(*) from entries e where e.target_id = t.id
        and (e.desired = 'closed' and e.applied_generation < e.generation
          or e.desired = 'open' and t.state = 'draining')) as "Debts",
      (select s.value ->> 'cut' from jsonb_array_elements(a.capabilities #> '{ipset,ipsets}') s
        where t.type = 'ipset' and s.value ->> 'name' = t.list_config ->> 'SetName' limit 1) as "Cut"
    from targets t join agents a on a.id = t.agent_id
    where t.agent_id = ${agentId} and (t.state = 'active' or t.state = 'draining' and t.drained_at is null)
    order by lower(t.key), t.created_at, t.id`.execute(db)
  return rows.map((row) => ({ ...row, Knocs: uniqueById(row.Knocs) }))
}

/** A list of both families belongs to a knoc twice. */
const uniqueById = <Row extends { ID: string }>(rows: readonly Row[]): Row[] => [
  ...new Map(rows.map((row) => [row.ID, row])).values(),
]

/** The newest findings on an agent's lists, those of lists that are gone included. */
export async function listDriftOfAgent(db: Kysely<DB>, agentId: string): Promise<AgentDrift[]> {
  const { rows } = await sql<AgentDrift>`
    select to_jsonb(d.at) #>> '{}' as "At", ${listName} as "ListName", d.detail ->> 'kind' as "Kind",
      (d.detail ->> 'count')::int as "Count", d.detail -> 'sample' as "Sample",
      (d.detail ->> 'repaired')::boolean as "Repaired"
    from targets t
    cross join lateral (
      select id, at, detail from audit_events
      where kind = 'Drift' and detail ->> 'targetId' = t.id::text
      order by id desc limit ${shownDrifts}) d
    where t.agent_id = ${agentId}
    order by d.id desc limit ${shownDrifts}`.execute(db)
  return rows
}

const debtColumns: SortColumns = {
  Address: sql`e.address`,
  Since: sql`e.wanted_at`,
  Attempts: sql`e.attempts`,
  ListName: listName,
}

/** A page of an agent's debts, the oldest first, with search over address, list and user. */
export async function listDebtsOfAgent(
  db: Kysely<DB>,
  agentId: string,
  query: ListQuery,
): Promise<Page<AgentDebt>> {
  const { order, limits } = toPageSql(
    { ...query, limit: query.limit ?? usualDebts },
    { columns: debtColumns, fallback: 'Since', id: sql`e.id` },
  )
  const pattern = query.search === undefined ? null : toLikePattern(query.search)
  const { rows } = await sql<AgentDebt & { total: number }>`
    select count(*) over () as total, e.id as "ID", host(e.address) as "Address", t.id as "ListID",
      ${listName} as "ListName", to_jsonb(e.wanted_at) #>> '{}' as "Since", e.user_name as "UserName",
      e.attempts as "Attempts", e.error_text as "LastError",
      case when e.attempts > 0 then to_jsonb(e.retry_at) #>> '{}' end as "NextTry",
      case when t.expiry = 'native'
        then to_jsonb(e.held_until + make_interval(secs => ${overdueAfterSeconds})) #>> '{}' end as "EndsByItselfAt"
    from targets t join entries e on e.target_id = t.id
    where t.agent_id = ${agentId} and t.state <> 'forgotten'
      and (e.desired = 'closed' and e.applied_generation < e.generation
        or e.desired = 'open' and t.state = 'draining')
      and (${pattern}::text is null or host(e.address) ilike ${pattern} or ${listName} ilike ${pattern}
        or e.user_name ilike ${pattern})
    order by ${order} ${limits}`.execute(db)
  return toPage(rows, ({ total: _total, ...debt }) => debt)
}

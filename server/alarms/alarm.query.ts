import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { isDriven } from '../refreshes/due-refresh.query.ts'
import type { AlarmKind } from './alarm.schema.ts'

/**
 * How long after its end a door counts as overdue, in seconds: an agent closes within a quarter of a second, the
 * kernel within one, and a link is given up after six.
 */
export const overdueAfterSeconds = 6

/** An agent that was seen so lately, in seconds, may be moving to another replica. */
const awayAfterSeconds = 10

/** How long a device may go without being told of a change on its list, in seconds: some tries, and a reboot. */
const untoldAfterSeconds = 180

/** Agents named in an alarm. */
const namedAgents = 3

/** What the tables say of one kind of alarm. */
export type FoundAlarm = {
  kind: Exclude<AlarmKind, 'queueDegraded'>
  count: number
  ended: number
  agents: { ID: string; Name: string }[]
  agentCount: number
}

/**
 * Doors an agent that is away may hold past their end. `held_until` is the end the agent knew; a native list's kernel
 * has kept it. An entry that was opened and closed while the agent was away never stood.
 */
const overdueDoors = sql`
  select t.agent_id, count(*) as count,
    count(*) filter (where t.expiry = 'native' and e.desired = 'closed'
      and e.held_until < statement_timestamp() - make_interval(secs => ${overdueAfterSeconds})) as ended
  from agents_now a
  join targets t on t.agent_id = a.id and t.state <> 'forgotten'
  join entries e on e.target_id = t.id
  where not a.online and (
    e.desired = 'open' and e.until < statement_timestamp() - make_interval(secs => ${overdueAfterSeconds})
    or e.desired = 'closed' and e.applied_generation < e.generation
      and e.wanted_at < statement_timestamp() - make_interval(secs => ${overdueAfterSeconds})
      and (e.applied_desired = 'open'
        or e.held_since <= a.last_seen_at + make_interval(secs => ${awayAfterSeconds})))
  group by t.agent_id`

/** Doors whose newest order, or the one before it, could not be closed. Every try is a new order. */
const failedCloses = sql`
  from targets t join entries e on e.target_id = t.id
  where t.agent_id is not null and t.state <> 'forgotten'
    and e.desired = 'closed' and e.applied_generation < e.generation and e.attempts > 0`

/**
 * Devices that could not be told for a while that their list changed, because they refuse or their agent is away. They
 * fetch it at their own interval; until then what was taken off it may stand there.
 */
const untoldDevices = sql`
  select t.agent_id, count(*) as count, count(*) filter (where not exists (
    select from entries e where e.target_id = r.list_id and e.desired = 'closed'
      and e.applied_generation < e.generation and e.applied_desired = 'open')) as ended
  from list_refreshes r
  join targets t on t.id = r.target_id
  join agents_now a on a.id = t.agent_id and a.deleted_at is null
  where ${isDriven} and (
    r.failing_since < statement_timestamp() - make_interval(secs => ${untoldAfterSeconds})
    or statement_timestamp() - make_interval(secs => ${untoldAfterSeconds}) > (
      select e.ordered_at from entries e where e.target_id = r.list_id and e.generation > r.generation
      order by e.generation limit 1))
  group by t.agent_id`

/** Agents with what a hello, a replica's heartbeat and a clone say of them. */
const agentsNow = sql`
  select a.id, a.name, a.deleted_at, a.last_seen_at, a.enrolled_at,
    coalesce(a.conflict_at > statement_timestamp() - interval '1 hour', false) as conflict,
    a.public_key is not null and a.deleted_at is null and exists (select from replicas r
      where r.id = a.link_replica and r.seen_at > statement_timestamp() - interval '6 seconds') as online
  from agents a`

/** Everything that is wrong now, one row for each kind, in one statement over indexes. */
export async function listFoundAlarms(db: Kysely<DB>): Promise<FoundAlarm[]> {
  const { rows } = await sql<FoundAlarm>`
    with agents_now as materialized (${agentsNow}),
    found (kind, agent_id, count, ended) as (
      select 'closeFailed', t.agent_id, count(*), 0 ${failedCloses} group by t.agent_id
      union all select 'overdue', agent_id, count, ended from (${overdueDoors}) o
      union all select 'refreshFailed', agent_id, count, ended from (${untoldDevices}) u
      union all select 'agentConflict', id, 1, 0 from agents_now where conflict and deleted_at is null
      union all select 'needsCredentials', agent_id, count(*), 0 from backends
        where needs_credentials and deleted_at is null group by agent_id
      union all select 'agentAway', a.id, count(*), 0
        from agents_now a
        join targets t on t.agent_id = a.id and t.state <> 'forgotten'
        join entries e on e.target_id = t.id and e.desired = 'open' and e.until > statement_timestamp()
        where not a.online and a.deleted_at is null and a.enrolled_at is not null
          and coalesce(a.last_seen_at < statement_timestamp() - make_interval(secs => ${awayAfterSeconds}), true)
        group by a.id
      union all select 'foreignEntries', t.agent_id, sum(r."foreign"), 0
        from target_reports r join targets t on t.id = r.target_id and t.agent_id is not null
        where r."foreign" > 0 and (t.state = 'active' or t.state = 'draining' and t.drained_at is null)
        group by t.agent_id)
    select f.kind, sum(f.count)::bigint as count, sum(f.ended)::bigint as ended, count(*) as agent_count,
      to_jsonb((array_agg(jsonb_build_object('ID', a.id, 'Name', a.name)
        order by f.count desc, lower(a.name), a.id))[1:${sql.lit(namedAgents)}]) as agents
    from found f join agents_now a on a.id = f.agent_id
    group by f.kind`.execute(db)
  return rows
}

/** The doors that wait, as metrics count them. */
export type DoorCounts = {
  closeFailed: number
  listRefreshFailed: number
  debts: number
  overdue: number
  openEntries: number
  ordersUnsettled: number
  sessions: number
  agentsOnline: number
  agentsAway: number
  agentsAwaiting: number
}

/** Every gauge of the metrics, in one statement. Deleted agents' doors count: nobody has seen them closed. */
export async function countDoors(db: Kysely<DB>): Promise<DoorCounts> {
  const { rows } = await sql<DoorCounts>`
    with agents_now as materialized (${agentsNow})
    select
      (select count(*) ${failedCloses}) as close_failed,
      (select count(*) from list_refreshes r join targets t on t.id = r.target_id
        where ${isDriven} and r.error_code is not null) as list_refresh_failed,
      (select count(*) from targets t join entries e on e.target_id = t.id
        where t.agent_id is not null and t.state <> 'forgotten'
          and (e.desired = 'closed' and e.applied_generation < e.generation
            or e.desired = 'open' and t.state = 'draining')) as debts,
      (select coalesce(sum(count), 0)::bigint from (${overdueDoors}) o) as overdue,
      (select count(*) from entries where desired = 'open') as open_entries,
      (select count(*) from targets t join entries e on e.target_id = t.id
        where t.agent_id is not null and t.state <> 'forgotten'
          and e.applied_generation < e.generation) as orders_unsettled,
      (select count(*) from sessions
        where ended_at is null and ends_at > statement_timestamp() and stage = 'complete') as sessions,
      (select count(*) from agents_now where online) as agents_online,
      (select count(*) from agents_now
        where deleted_at is null and not online and enrolled_at is not null) as agents_away,
      (select count(*) from agents_now where deleted_at is null and enrolled_at is null) as agents_awaiting`.execute(
    db,
  )
  const row = rows[0]
  if (row === undefined) throw new Error('The database counted nothing.')
  return row
}

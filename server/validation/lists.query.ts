import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A replica that was not seen for this long is dead, in seconds; as the gateway counts. */
const replicaGoneSeconds = 6

/** An agent with lists, and whether anybody can ask it. */
export type ValidatedAgent = {
  id: string
  name: string
  version: string | null
  deleted: boolean
  /** A living replica holds its link. */
  linked: boolean
  /** A replica that is dead holds its link. */
  orphaned: boolean
  lastSeenAt: Date | null
  /**
   * One target for each list that is in use or drains: targets of one list are one list on the host. What a device only
   * fetches from the server is none: nobody has opened anything there.
   */
  targetIds: string[]
}

/** Every agent that has to do with open doors: by its lists, or by entries that are open or not seen closed. */
export async function listValidatedAgents(db: Kysely<DB>): Promise<ValidatedAgent[]> {
  const { rows } = await sql<ValidatedAgent>`
    select a.id, a.name, a.version, a.deleted_at is not null as deleted, a.last_seen_at,
      a.link_replica is not null and coalesce(r.is_alive, false) as linked,
      a.link_replica is not null and not coalesce(r.is_alive, false) as orphaned,
      array(
        select distinct on (t.type, t.key) t.id from targets t
        where t.agent_id = a.id and (t.state = 'active' or t.state = 'draining' and t.drained_at is null)
          and not exists (select from list_refreshes r where r.target_id = t.id)
        order by t.type, t.key, t.state, t.created_at desc) as target_ids
    from agents a
    left join lateral (
      select r.seen_at > clock_timestamp() - make_interval(secs => ${replicaGoneSeconds}) as is_alive
      from replicas r where r.id = a.link_replica
    ) r on true
    where exists (
      select from targets t where t.agent_id = a.id and (
        t.state = 'active' or t.state = 'draining' and t.drained_at is null
        or exists (select from entries e where e.target_id = t.id
          and (e.desired = 'open' or e.applied_generation < e.generation))))
    order by a.name, a.id`.execute(db)
  return rows
}

/** Whether any server runs. */
export async function hasLivingReplica(db: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql<{ living: boolean }>`
    select exists (select from replicas
      where seen_at > clock_timestamp() - make_interval(secs => ${replicaGoneSeconds})) as living`.execute(db)
  return rows[0]?.living ?? false
}

/** How a list was answered, and what is at stake on it. */
export type AnsweredList = {
  targetId: string
  list: string
  state: 'listed' | 'unlistable' | 'failed' | null
  error: string | null
  /** Entries ordered open, and entries whose newest order isn't answered. */
  open: number
  owed: number
  /** What stands there. */
  listed: number
}

/** Every list an agent was asked for; `state` is null for those it didn't answer. */
export async function listAnswers(db: Kysely<DB>, validationId: string): Promise<AnsweredList[]> {
  const { rows } = await sql<AnsweredList>`
    select t.id as target_id, ${listName} as list, l.state, l.error,
      (select count(*)::integer from validation_entries a where a.validation_id = v.id and a.target_id = t.id) as listed,
      s.open, s.owed
    from validations v
    cross join unnest(v.target_ids) as asked (id)
    join targets t on t.id = asked.id
    left join validation_lists l on l.validation_id = v.id and l.target_id = t.id
    cross join lateral (
      select count(*) filter (where e.desired = 'open')::integer as open,
        count(*) filter (where e.applied_generation < e.generation)::integer as owed
      from targets o join entries e on e.target_id = o.id
      where o.agent_id = t.agent_id and o.type = t.type and o.key = t.key
        and (e.desired = 'open' or e.applied_generation < e.generation)
    ) s
    where v.id = ${validationId}
    order by t.key, t.id`.execute(db)
  return rows
}

/** A list's key as people know it: without the id of its agent, which stands beside it. For a target `t`. */
export const listName = sql<string>`replace(t.key, coalesce(t.agent_id || ':', ''), '')`

/** Names of the knocs that use each target. */
export async function nameKnocs(db: Kysely<DB>, targetIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ targetId: string; knocs: string }>`
    select at.target_id, string_agg(distinct a.description, ', ') as knocs
    from acl_targets at join acls a on a.id = at.acl_id and a.deleted_at is null
    where at.target_id = any (${[...targetIds]}::uuid[])
    group by at.target_id`.execute(db)
  return new Map(rows.map((row) => [row.targetId, row.knocs]))
}

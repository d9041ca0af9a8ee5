import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/**
 * How long after an order was numbered its transaction may still commit, in seconds. Far longer than any does: its
 * statements end after 5 s, and so does a connection that idles in one after 10.
 */
export const lateSeconds = 60

/** A device is told at most this often of one list, in seconds, however much changes on it. */
const betweenSeconds = 1

/** The code of a failure that only another version of the agent ends. */
export const tooOldCode = 'agentTooOld'

/** The sum of the generations of a list's entries, from after `from` up to `to`. */
const sumOfGenerations = (from: unknown, to: unknown) => sql`(
  select coalesce(sum(e.generation), 0)::bigint from entries e
  where e.target_id = r.list_id and e.generation > ${from} and e.generation <= ${to})`

/** The newest generation on a list: one step into the index, as a comparison with each is not. */
const newestGeneration = sql`(select max(e.generation) from entries e where e.target_id = r.list_id)`

/** The device's list `t` of a row `r` is still driven: in use, or waiting for its device to be told of the end. */
export const isDriven = sql`(t.state = 'active' or t.state = 'draining' and t.drained_at is null)`

/**
 * The device of a row `r` was not told of all that changed on its list, with its own list `t`.
 *
 * A generation is drawn before its transaction commits, so one below the newest may appear later. It then adds to the
 * sum of those that were there, which nothing else does: an entry that is ordered anew leaves with a generation above
 * the newest, and counts by that. `closeWindows` ends the looking when no transaction can be late any more.
 */
export const isBehind = sql`(
  r.refreshed_at is null and t.state = 'active'
  or ${newestGeneration} > r.generation
  or ${sumOfGenerations(sql`r.window_start`, sql`r.generation`)} > r.window_sum)`

/** When a device may be told again; null at once. */
const mayBeAt = sql`greatest(r.asked_at + make_interval(secs => ${sql.lit(betweenSeconds)}), r.retry_at)`

/** Agents of these that have a device to tell now. One pass over the children, whoever's they are. */
export const agentsWithDueRefreshes = (agentIds: readonly string[]) => sql`
  select distinct t.agent_id from list_refreshes r join targets t on t.id = r.target_id
  where t.agent_id = any (${[...agentIds]}::uuid[]) and ${isDriven}
    and coalesce(${mayBeAt} <= statement_timestamp(), true) and ${isBehind}`

/** A device that has to be told, and what it will have been told of. */
export type DueRefresh = {
  targetId: string
  /** The newest generation on the list; 0 while nothing was ever on it. */
  generation: number
  windowStart: number
  windowSum: number
  /** When this was read, by the database's clock. */
  askedAt: Date
  /** How long the device has to be left alone yet, in milliseconds. */
  waitMs: number
  /** The last try failed like this; null when it didn't. */
  errorCode: string | null
}

/**
 * The devices of an agent that weren't told of all that changed on their lists, read at this moment. A wait for a
 * younger agent is over: whoever asks has one, or leaves it at that.
 */
export async function listDueRefreshes(db: Kysely<DB>, agentId: string): Promise<DueRefresh[]> {
  const { rows } = await dueRefreshesOf(agentId).execute(db)
  return rows
}

/** The one SELECT. For tests that look at its plan. */
export const dueRefreshesOf = (agentId: string): RawBuilder<DueRefresh> => sql`
    select r.target_id, newest.generation, since.generation as window_start,
      ${sumOfGenerations(sql`since.generation`, sql`newest.generation`)} as window_sum,
      statement_timestamp() as asked_at, r.error_code,
      case when r.error_code = ${tooOldCode} then 0
        else coalesce(greatest(0, ceil(extract(epoch from ${mayBeAt} - statement_timestamp()) * 1000)), 0) end::float8 as wait_ms
    from list_refreshes r
    join targets t on t.id = r.target_id
    cross join lateral (select coalesce(${newestGeneration}, 0) as generation offset 0) newest
    cross join lateral (
      select coalesce((
        select e.generation from entries e
        where e.target_id = r.list_id and e.ordered_at < statement_timestamp() - make_interval(secs => ${lateSeconds})
        order by e.generation desc limit 1), 0) as generation offset 0) since
    where t.agent_id = ${agentId} and ${isDriven} and ${isBehind}`

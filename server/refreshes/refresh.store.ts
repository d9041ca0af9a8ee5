import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { type DueRefresh, isBehind, lateSeconds, tooOldCode } from './due-refresh.query.ts'

/** Longest wait before a device that could not be told is told again, in seconds; for ever. */
const longestRetrySeconds = 60

/** How the telling of a device ended. */
export type RefreshAnswer = {
  atMs: number
  error: { code: string; text: string } | null
}

/** A device's row as it was before an answer, and whose it is. */
export type AnsweredRefresh = {
  listId: string
  errorBefore: string | null
  agentName: string
  listKey: string
  /** Its knoc; null when that is deleted. */
  description: string | null
}

/**
 * Writes down how the telling of a device ended, if the link still holds the agent and the device is this agent's;
 * undefined when it doesn't or isn't.
 */
export async function saveAnswer(
  tx: Kysely<DB>,
  link: { agentId: string; linkEpoch: number },
  asked: DueRefresh,
  { atMs, error }: RefreshAnswer,
): Promise<AnsweredRefresh | undefined> {
  const outcome =
    error === null
      ? sql`generation = ${asked.generation}, window_start = ${asked.windowStart}, window_sum = ${asked.windowSum},
          asked_at = ${asked.askedAt}, refreshed_at = least(${new Date(atMs)}::timestamptz, clock_timestamp()),
          error_code = null, error_text = null, failing_since = null, attempts = 0, retry_at = null`
      : sql`error_code = ${error.code}, error_text = ${error.text}, attempts = r.attempts + 1,
          failing_since = coalesce(r.failing_since, clock_timestamp()),
          retry_at = case when ${error.code}::text = ${tooOldCode} then 'infinity' else clock_timestamp()
            + make_interval(secs => least(power(2, least(r.attempts, 10)), ${longestRetrySeconds})) end`
  const { rows } = await sql<AnsweredRefresh>`
    with answered as materialized (
      select r.target_id, r.error_code as error_before, a.name as agent_name, t.key as list_key
      from list_refreshes r
      join targets t on t.id = r.target_id and t.state <> 'forgotten'
      join agents a on a.id = t.agent_id and a.id = ${link.agentId} and a.link_epoch = ${link.linkEpoch}
      where r.target_id = ${asked.targetId}
      for update of r)
    update list_refreshes r set ${outcome}
    from answered n where r.target_id = n.target_id
    returning r.list_id, n.error_before, n.agent_name, n.list_key, (
      select min(a.description) from acl_targets held join acls a on a.id = held.acl_id
      where held.target_id = r.list_id) as description`.execute(tx)
  return rows[0]
}

/** Where no transaction can be late any more, and none was, nobody has to look for one again: see `isBehind`. */
export async function closeWindows(db: Kysely<DB>): Promise<void> {
  await sql`
    update list_refreshes r set window_start = r.generation, window_sum = 0
    from targets t
    where t.id = r.target_id and r.window_start < r.generation
      and r.asked_at < statement_timestamp() - make_interval(secs => ${lateSeconds}) and not ${isBehind}`.execute(
    db,
  )
}

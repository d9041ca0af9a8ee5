import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Counters without a failure for this long are removed: longer than any wait is remembered. */
const removedAfterSeconds = 86_400
/** Old counters removed with each counted failure, so that the table stays as small as a day's failures. */
const removedAtOnce = 10

/** How waits grow: none for the first failures, then doubling; without a failure for so long it begins anew. */
export type GrowingWait = { freeFailures: number; longestSeconds: number; forgottenAfterSeconds: number }

/**
 * Counts an attempt before it is made, so that many at once can't all be the first; `returnAttempt` or
 * `clearCounter` take it back.
 *
 * @returns the seconds still to wait, and nothing was counted; 0 when the attempt may be made.
 */
export async function takeAttempt(
  db: Kysely<DB>,
  bucket: string,
  { freeFailures, longestSeconds, forgottenAfterSeconds }: GrowingWait,
): Promise<number> {
  const isForgotten = sql`
    (c.window_started_at < statement_timestamp() - make_interval(secs => ${forgottenAfterSeconds}))`
  const taken = await sql`
    insert into failure_counters as c (bucket, failures, window_started_at)
    values (${bucket}, 1, statement_timestamp())
    on conflict (bucket) do update set
      failures = case when ${isForgotten} then 1 else c.failures + 1 end,
      window_started_at = statement_timestamp(),
      blocked_until = case when not ${isForgotten} and c.failures >= ${freeFailures} then
        statement_timestamp() + make_interval(secs =>
          least(${longestSeconds}, 2 ^ least(c.failures + 1 - ${freeFailures}, 30))) end
    where c.blocked_until is null or c.blocked_until <= statement_timestamp()
    returning bucket`.execute(db)
  if (taken.rows.length > 0) return 0
  const { rows } = await sql<{ wait: number }>`
    select ceil(extract(epoch from blocked_until - statement_timestamp()))::int as wait
    from failure_counters where bucket = ${bucket}`.execute(db)
  return Math.max(1, rows[0]?.wait ?? 1)
}

/** Takes back an attempt that was never decided. */
export async function returnAttempt(db: Kysely<DB>, bucket: string): Promise<void> {
  await sql`
    update failure_counters set failures = greatest(0, failures - 1), blocked_until = null
    where bucket = ${bucket}`.execute(db)
}

/** Forgets a counter: the right credential was shown. */
export async function clearCounter(db: Kysely<DB>, bucket: string): Promise<void> {
  await db.deleteFrom('failureCounters').where('bucket', '=', bucket).execute()
}

/** So many failures within so many seconds. */
export type FailureWindow = { failures: number; seconds: number }

/** Seconds until a window that is full is over; 0 when it isn't full. */
export async function readWindowWait(
  db: Kysely<DB>,
  bucket: string,
  { failures, seconds }: FailureWindow,
): Promise<number> {
  const { rows } = await sql<{ wait: number }>`
    select ceil(extract(epoch from
      window_started_at + make_interval(secs => ${seconds}) - statement_timestamp()))::int as wait
    from failure_counters where bucket = ${bucket} and failures >= ${failures}`.execute(db)
  return Math.max(0, rows[0]?.wait ?? 0)
}

/** Counts a failure in its window, or begins a new one; removes a few counters that nobody needs any more. */
export async function countInWindow(
  db: Kysely<DB>,
  bucket: string,
  { seconds }: FailureWindow,
): Promise<void> {
  const isOver = sql`(c.window_started_at <= statement_timestamp() - make_interval(secs => ${seconds}))`
  await sql`
    insert into failure_counters as c (bucket, failures, window_started_at)
    values (${bucket}, 1, statement_timestamp())
    on conflict (bucket) do update set
      failures = case when ${isOver} then 1 else c.failures + 1 end,
      window_started_at = case when ${isOver} then statement_timestamp() else c.window_started_at end`.execute(
    db,
  )
  await sql`
    delete from failure_counters where bucket in (
      select bucket from failure_counters
      where window_started_at < statement_timestamp() - make_interval(secs => ${removedAfterSeconds})
      order by window_started_at limit ${removedAtOnce} for update skip locked)`.execute(db)
}

import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Counters without a failure for this long are removed: longer than any wait is remembered. */
const removedAfterSeconds = 86_400
/** Old counters removed with each counted failure, so that the table stays as small as a day's failures. */
const removedAtOnce = 10

/** How waits grow: none for the first failures, then doubling; without a failure for so long it begins anew. */
export type GrowingWait = { freeFailures: number; longestSeconds: number; forgottenAfterSeconds: number }

/** So many failures within so many seconds. */
export type FailureWindow = { failures: number; seconds: number }

/** Where an attempt is counted: in a bucket of its own, unless the window of another is full. */
export type AttemptBuckets = {
  bucket: string
  wait: GrowingWait
  /** Null: no other bucket is looked at. */
  window: (FailureWindow & { bucket: string }) | null
}

/**
 * Counts an attempt before it is made, so that many at once can't all be the first; `returnAttempt` or
 * `clearCounter` take it back. One statement, because every sign-in begins with it.
 *
 * @returns the seconds still to wait, and nothing was counted; 0 when the attempt may be made.
 */
export async function takeAttempt(db: Kysely<DB>, { bucket, wait, window }: AttemptBuckets): Promise<number> {
  const { freeFailures, longestSeconds, forgottenAfterSeconds } = wait
  const isForgotten = sql`
    (c.window_started_at < statement_timestamp() - make_interval(secs => ${forgottenAfterSeconds}))`
  const { rows } = await sql<{ isTaken: boolean; full: number; blocked: number }>`
    with full_window as (
      select ${secondsLeft(sql`window_started_at + make_interval(secs => ${window?.seconds ?? 0})`)} as wait
      from failure_counters where bucket = ${window?.bucket ?? null} and failures >= ${window?.failures ?? 0}),
    taken as (
    insert into failure_counters as c (bucket, failures, window_started_at)
    select ${bucket}, 1, statement_timestamp() where not exists (select from full_window where wait > 0)
    on conflict (bucket) do update set
      failures = case when ${isForgotten} then 1 else c.failures + 1 end,
      window_started_at = statement_timestamp(),
      blocked_until = case when not ${isForgotten} and c.failures >= ${freeFailures} then
        statement_timestamp() + make_interval(secs =>
          least(${longestSeconds}, 2 ^ least(c.failures + 1 - ${freeFailures}, 30))) end
    where c.blocked_until is null or c.blocked_until <= statement_timestamp()
    returning bucket)
    select exists (select from taken) as is_taken, coalesce((select wait from full_window), 0) as full,
      coalesce((select ${secondsLeft(sql`blocked_until`)} from failure_counters where bucket = ${bucket}), 0)
        as blocked`.execute(db)
  const { isTaken = false, full = 0, blocked = 0 } = rows[0] ?? {}
  // Not taken and no wait to be seen: the attempt that blocked the bucket came at the same moment.
  return isTaken ? 0 : Math.max(1, full, blocked)
}

/** Whole seconds until an instant, rounded up. */
const secondsLeft = (instant: RawBuilder<unknown>) =>
  sql`ceil(extract(epoch from ${instant} - statement_timestamp()))::int`

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

/** Seconds until a window that is full is over; 0 when it isn't full. */
export async function readWindowWait(
  db: Kysely<DB>,
  bucket: string,
  { failures, seconds }: FailureWindow,
): Promise<number> {
  const { rows } = await sql<{ wait: number }>`
    select ${secondsLeft(sql`window_started_at + make_interval(secs => ${seconds})`)} as wait
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

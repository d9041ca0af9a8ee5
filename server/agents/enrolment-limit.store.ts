import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** So many wrong tokens from one address (IPv6: one /64) in so many seconds; right ones count for nothing. */
const limit = { failures: 20, seconds: 300 }

/** Seconds until an address may try a token again; 0 when it may. */
export async function readEnrolmentWait(db: Kysely<DB>, client: string): Promise<number> {
  const { rows } = await sql<{ wait: number }>`
    select ceil(extract(epoch from window_started_at + make_interval(secs => ${limit.seconds}) - now()))::int as wait
    from failure_counters where bucket = ${bucketOf(client)} and failures >= ${limit.failures}`.execute(db)
  return Math.max(0, rows[0]?.wait ?? 0)
}

/** Counts a wrong token. */
export async function countEnrolmentFailure(db: Kysely<DB>, client: string): Promise<void> {
  const isOver = sql`c.window_started_at <= now() - make_interval(secs => ${limit.seconds})`
  await sql`
    insert into failure_counters as c (bucket, failures) values (${bucketOf(client)}, 1)
    on conflict (bucket) do update set
      failures = case when ${isOver} then 1 else c.failures + 1 end,
      window_started_at = case when ${isOver} then now() else c.window_started_at end`.execute(db)
}

const bucketOf = (client: string): string => `enrolment ${client}`

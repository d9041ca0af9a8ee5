import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Longer than an hour nobody waits: the server was switched off, and no setting could bridge it. */
const longestSeconds = 3_600
/** What happened longer ago says nothing of today's installation. */
const keptDays = 365

/** Writes down that a replica was without the database for so long, until now. The longest of each day is kept. */
export async function noteTruthGap(
  db: Kysely<DB>,
  { replica, seconds }: { replica: string; seconds: number },
): Promise<void> {
  await sql`
    insert into truth_gaps (day, seconds, ended_at, replica)
    select current_date, ${seconds}, clock_timestamp(), ${replica}
    where ${seconds}::real <= ${longestSeconds}
    on conflict (day) do update set seconds = excluded.seconds, ended_at = excluded.ended_at, replica = excluded.replica
      where truth_gaps.seconds < excluded.seconds`.execute(db)
  await sql`delete from truth_gaps where day < current_date - ${keptDays}::int`.execute(db)
}

/** How long no replica at all was there before this one: null when another is, or this is the first start. */
export async function readSecondsWithoutReplica(db: Kysely<DB>): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    select extract(epoch from clock_timestamp() - max(seen_at))::float8 as seconds from replicas`.execute(db)
  return rows[0]?.seconds ?? null
}

import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** The longest time a replica was without the database, or all of them away, seen here within a year; whole seconds up. */
export async function readLongestTruthGap(
  db: Kysely<DB>,
): Promise<{ seconds: number; endedAt: Date } | undefined> {
  const { rows } = await sql<{ seconds: number; endedAt: Date }>`
    select ceil(seconds)::int as seconds, ended_at from truth_gaps order by seconds desc limit 1`.execute(db)
  return rows[0]
}

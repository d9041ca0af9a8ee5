import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Whether the writable database answers. */
export async function isDatabaseWritable(db: Kysely<DB>): Promise<boolean> {
  try {
    const { rows } = await sql<{ recovering: boolean }>`select pg_is_in_recovery() as recovering`.execute(db)
    return rows[0]?.recovering === false
  } catch {
    return false
  }
}

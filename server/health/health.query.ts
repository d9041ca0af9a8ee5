import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Whether the database answers, and takes writes. */
export async function isDatabaseWritable(db: Kysely<DB>): Promise<boolean> {
  try {
    // Also on in a recovery.
    const { rows } = await sql<{ readOnly: string }>`
      select current_setting('transaction_read_only') as read_only`.execute(db)
    return rows[0]?.readOnly === 'off'
  } catch {
    return false
  }
}

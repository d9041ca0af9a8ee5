import { type Kysely, sql } from 'kysely'
import { listFamily } from '../acls/passive-plus.query.ts'
import { listSharers } from '../backends/target.service.ts'
import type { DB } from '../platform/database.types.ts'

/**
 * ACLs whose rights a change of a knoc may touch: its own, parent and child, those on the same backends, and all that
 * keep entries on a list of one of these.
 */
export async function listTouchedAcls(db: Kysely<DB>, id: string): Promise<string[]> {
  const family = await listFamily(db, [id])
  const { rows } = await sql<{ id: string }>`
    select distinct other.id
    from acls own join acls other on other.backend_id = own.backend_id and other.deleted_at is null
    where own.id = any (${family}::uuid[])`.execute(db)
  return listSharers(db, [...new Set([...family, ...rows.map((row) => row.id)])])
}

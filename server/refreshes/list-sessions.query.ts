import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Most sessions told at once; the others' polls find it. */
const atMost = 1_000

/** Sessions with an entry on a list that waits to be read, or to be seen gone from it. */
export async function listWaitingSessions(db: Kysely<DB>, listId: string): Promise<string[]> {
  const { rows } = await sql<{ sessionId: string }>`
    select distinct g.session_id
    from entries e
    join acl_targets held on held.target_id = e.target_id and held.family = family(e.address)
    join grants g on g.acl_id = held.acl_id and g.address = e.address
      and (g.ended_at is null or e.desired = 'closed' and g.ended_at > statement_timestamp() - interval '1 day')
    where e.target_id = ${listId} and e.applied_generation < e.generation
    limit ${atMost}`.execute(db)
  return rows.map((row) => row.sessionId)
}

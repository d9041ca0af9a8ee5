import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** Most sessions told at once; the others' polls find it. */
const atMost = 2_000

/** Sessions with a standing grant on any list of these agents. */
export async function listAgentSessions(db: Kysely<DB>, agentIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ sessionId: string }>`
    select distinct g.session_id
    from targets t
    join acl_targets at on at.target_id = t.id
    join grants g on g.acl_id = at.acl_id and g.ended_at is null
    where t.agent_id = any (${[...agentIds]}::uuid[])
    limit ${atMost}`.execute(db)
  return rows.map((row) => row.sessionId)
}

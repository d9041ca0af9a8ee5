import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A command that was killed holds its agents for this long after the time it gave them, in seconds. */
const leftBehindSeconds = 5

/** Asks an agent what stands on its lists; undefined while another validation of this agent is under way. */
export async function requestListings(
  db: Kysely<DB>,
  { agentId, targetIds, seconds }: { agentId: string; targetIds: readonly string[]; seconds: number },
): Promise<string | undefined> {
  await sql`
    delete from validations where agent_id = ${agentId}
      and expires_at < clock_timestamp() - make_interval(secs => ${leftBehindSeconds})`.execute(db)
  const { rows } = await sql<{ id: string }>`
    insert into validations (agent_id, target_ids, expires_at)
    values (${agentId}, ${[...targetIds]}::uuid[], clock_timestamp() + make_interval(secs => ${seconds}))
    on conflict (agent_id) do nothing
    returning id`.execute(db)
  return rows[0]?.id
}

/** How far a request is. `gone`: somebody else took the agent, because the time was over long ago. */
export type RequestState = 'waiting' | 'finished' | 'expired' | 'tooOld' | 'linkLost' | 'gone'

/** Looks at a request of one's own. */
export async function readRequest(db: Kysely<DB>, id: string): Promise<RequestState> {
  const { rows } = await sql<{ state: RequestState }>`
    select coalesce(refusal, case when finished_at is not null then 'finished'
      when expires_at < clock_timestamp() then 'expired' else 'waiting' end) as state
    from validations where id = ${id}`.execute(db)
  return rows[0]?.state ?? 'gone'
}

/** Removes a request and what was answered. */
export async function dropRequest(db: Kysely<DB>, id: string): Promise<void> {
  await sql`delete from validations where id = ${id}`.execute(db)
}

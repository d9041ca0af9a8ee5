import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** A list that drains, locked, with how many of its doors were never seen closed. */
export async function lockDrainingList(
  tx: Kysely<DB>,
  { agentId, listId }: { agentId: string; listId: string },
): Promise<{ key: string; agentName: string; draining: boolean; doors: number } | undefined> {
  const { rows } = await sql<{ key: string; agentName: string; draining: boolean; doors: number }>`
    select t.key, a.name as agent_name, t.state = 'draining' and t.drained_at is null as draining,
      (select count(*) from entries e where e.target_id = t.id
        and (e.desired = 'open' or e.applied_generation < e.generation)) as doors
    from targets t join agents a on a.id = t.agent_id
    where t.id = ${listId} and t.agent_id = ${agentId} and t.state <> 'forgotten'
    for update of t`.execute(tx)
  return rows[0]
}

/** Gives a list up: nothing is ordered on it any more, and its doors are nobody's debt. */
export async function markListForgotten(tx: Kysely<DB>, listId: string, reason: string): Promise<void> {
  await sql`
    update targets set state = 'forgotten', drained_at = clock_timestamp(), forgotten_reason = ${reason}
    where id = ${listId}`.execute(tx)
  await sql`
    delete from entries where id in (
      select id from entries where target_id = ${listId} order by target_id, address for update)`.execute(tx)
}

import { type Kysely, sql } from 'kysely'
import type { DriftReport, TargetDescription } from '#machines/protocol.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { DB } from '../platform/database.types.ts'
import { isBehind } from '../refreshes/due-refresh.query.ts'

type TargetReport = {
  targetId: string
  checkedAtMs: number
  desired: number
  actual: number
  foreign: number
  error: string | null
}

/** Keeps each target's last look, for the agent's page; only targets of that agent. */
export async function saveTargetReports(
  db: Kysely<DB>,
  agentId: string,
  reports: readonly TargetReport[],
): Promise<void> {
  await sql`
    insert into target_reports (target_id, checked_at, desired, actual, "foreign", error)
    select t.id, least(r.checked_at, clock_timestamp()), r.desired, r.actual, r.foreign_count, r.error
    from unnest(
      ${reports.map((row) => row.targetId)}::uuid[],
      ${reports.map((row) => new Date(row.checkedAtMs).toISOString())}::timestamptz[],
      ${reports.map((row) => row.desired)}::int[], ${reports.map((row) => row.actual)}::int[],
      ${reports.map((row) => row.foreign)}::int[], ${reports.map((row) => row.error)}::text[]
    ) as r (target_id, checked_at, desired, actual, foreign_count, error)
    join targets t on t.id = r.target_id and t.agent_id = ${agentId}
    on conflict (target_id) do update set checked_at = excluded.checked_at, desired = excluded.desired,
      actual = excluded.actual, "foreign" = excluded.foreign, error = excluded.error`.execute(db)
}

/** Writes down what the agent found different from its orders. */
export async function saveDrift(
  db: Kysely<DB>,
  agentId: string,
  drifts: readonly DriftReport[],
): Promise<void> {
  const agent = await db.selectFrom('agents').select('name').where('id', '=', agentId).executeTakeFirst()
  await writeAudit(
    db,
    drifts.map((drift) => ({
      kind: 'Drift',
      fields: { AgentName: agent?.name ?? agentId, Description: drift.kind },
      detail: { ...drift },
    })),
  )
}

/**
 * Draining targets whose last entry is seen closed are done with: the agent forgets them, the console too. A device
 * that fetches a deleted list has to be told first that it is empty.
 * @returns targets the agent should no longer know, as the list of those that remain changed.
 */
export async function finishDrained(db: Kysely<DB>): Promise<Pick<TargetDescription, 'id'>[]> {
  const { rows } = await sql<{ id: string }>`
    update targets t set drained_at = clock_timestamp()
    where t.state = 'draining' and t.drained_at is null and not exists (
      select from entries e where e.target_id = t.id
        and (e.desired = 'open' or e.applied_generation < e.generation))
      and not exists (select from list_refreshes r where r.target_id = t.id and ${isBehind})
    returning t.id`.execute(db)
  return rows
}

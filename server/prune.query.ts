import { type Kysely, sql } from 'kysely'
import type { DB } from './platform/database.types.ts'

/** Rows one round removes of each kind; a full round is followed by the next at once. */
const batch = 1_000

/**
 * Removes what has served: entries seen closed a day ago that nobody holds, ended grants and sessions of 90 days,
 * old requests, sightings, counters and readers of lists. What the audit log tells stays. Generations are never reused, so an entry
 * that comes back later is a new one (decision 6).
 */
export async function pruneOnce(db: Kysely<DB>): Promise<boolean> {
  const statements = [
    sql`delete from entries where id in (
      select id from entries where desired = 'closed' and applied_generation = generation
        and ordered_at < now() - interval '1 day' limit ${batch} for update skip locked)`,
    // A list is read as a whole: what was taken off it and nobody ever read, or reads any more, is no debt.
    sql`delete from entries where id in (
      select e.id from entries e join targets t on t.id = e.target_id
      where t.agent_id is null and e.desired = 'closed' and e.applied_generation < e.generation
        and e.ordered_at < now() - case when e.applied_desired = 'open' then interval '90 days' else interval '1 day' end
      limit ${batch} for update of e skip locked)`,
    sql`delete from list_reads where read_at < now() - interval '90 days'`,
    sql`delete from grants where id in (
      select id from grants where ended_at < now() - interval '90 days' limit ${batch})`,
    sql`delete from sessions where id in (
      select s.id from sessions s where s.ended_at < now() - interval '90 days'
        and not exists (select from grants g where g.session_id = s.id) limit ${batch})`,
    sql`delete from admin_sessions where id in (
      select id from admin_sessions where ended_at < now() - interval '90 days' limit ${batch})`,
    sql`delete from identity_requests where expires_at < now()`,
    sql`delete from used_assertions where expires_at < now()`,
    sql`delete from validations where expires_at < now() - interval '1 minute'`,
    sql`delete from address_sightings where seen_at < now() - interval '1 minute'`,
    sql`delete from failure_counters where window_started_at < now() - interval '1 day'
      and coalesce(blocked_until, '-infinity') < now()`,
  ]
  let more = false
  for (const statement of statements) {
    const { numAffectedRows = 0n } = await statement.execute(db)
    more ||= numAffectedRows >= BigInt(batch)
  }
  return more
}

/** Forgets replicas that were not seen for 30 days; their names, so that their queues can go too. */
export async function pruneReplicas(db: Kysely<DB>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from replicas where seen_at < now() - interval '30 days' returning id`.execute(db)
  return rows.map((row) => row.id)
}

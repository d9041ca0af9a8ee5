import { type Kysely, sql } from 'kysely'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { Log } from '../platform/log.ts'
import type { RightsDeps } from './create-rights.ts'
import type { EntryKey } from './entry-key.ts'
import type { Rights } from './rights.ts'
import { settleEntries } from './settle-entries.ts'

/** Differences one round repairs; a full round is followed by the next at once. */
const batch = 500

/**
 * Compares what the rights say with what is written, and repairs it: standing grants that no longer live, entries
 * open without a live grant, live grants whose entry is not open (decision 3).
 *
 * It should find nothing, ever: a repair is a fault somewhere else. The count is `knoc_liveness_repairs_total`,
 * and tests expect it to stay 0. Ends by time and what a large change left are the sweep's and not looked at here.
 */
export function createAuditor(deps: RightsDeps & { rights: Rights; reads: Kysely<DB>; log: Log }) {
  let repairs = 0

  /** One full comparison; the number of repairs it made. */
  async function audit(): Promise<number> {
    const dead = await listDeadGrants(deps.reads)
    if (dead.length > 0) await deps.rights.change({ sessions: dead }, 'repaired', async () => undefined)
    const keys = await listWrongEntries(deps.reads, { unsettled: false })
    const orders = await inTransaction(deps.db, (tx) => settleEntries(tx, keys))
    deps.gateway.nudge(orders)
    const found = dead.length + orders.length
    repairs += found
    if (found > 0)
      deps.log.error({ sessions: dead.length, entries: orders.length }, 'the auditor had to repair access')
    return found
  }

  return {
    audit,
    /** One comparison; whether there may be more to repair. */
    round: async () => (await audit()) >= batch,
    repairsTotal: () => repairs,
  }
}

// Both looks go through whole tables, and have no parameters, so that they are planned for the tables as they are: a
// plan that a connection kept from when they were small takes for ever.

/** Sessions with a standing grant that does not live though its time has not come. */
export async function listDeadGrants(db: Kysely<DB>): Promise<string[]> {
  const { rows } = await sql<{ sessionId: string }>`
    select distinct g.session_id from grants g
    where g.ended_at is null and g.ends_at > statement_timestamp()
      and not exists (select from live_grants l where l.id = g.id offset 0)
    limit ${sql.lit(batch)}`.execute(db)
  return rows.map((row) => row.sessionId)
}

/**
 * Entries open without a live grant, and live grants whose entry is not open.
 *
 * @param unsettled whether those count that a large change has left, and that wait to be settled.
 */
export async function listWrongEntries(
  db: Kysely<DB>,
  { unsettled }: { unsettled: boolean },
): Promise<EntryKey[]> {
  const { rows } = await sql<EntryKey>`
    (select e.target_id, host(e.address) as address from entries e
      where e.desired = 'open' and e.until > statement_timestamp() and not exists (
        select from acl_targets t join live_grants l on l.acl_id = t.acl_id
        where t.target_id = e.target_id and t.family = family(e.address) and l.address = e.address)
        and (${sql.lit(unsettled)} or not exists (
          select from unsettled_entries u where u.target_id = e.target_id and u.address = e.address))
      limit ${sql.lit(batch)})
    union
    (select t.target_id, host(l.address) from live_grants l
      join acl_targets t on t.acl_id = l.acl_id and t.family = family(l.address)
      where not exists (
        select from entries e where e.target_id = t.target_id and e.address = l.address and e.desired = 'open')
        and (${sql.lit(unsettled)} or not exists (
          select from unsettled_entries u where u.target_id = t.target_id and u.address = l.address))
      limit ${sql.lit(batch)})`.execute(db)
  return rows
}

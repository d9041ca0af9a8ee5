import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import { type EntryKey, toColumns } from './entry-key.ts'
import { entriesATransaction, type OrderRef, settleEntries } from './settle-entries.ts'

/** Leaves entries of a change to be settled after its commit. Runs before it settles any itself: nothing is locked after entries. */
export async function leaveUnsettled(tx: Kysely<DB>, keys: readonly EntryKey[]): Promise<void> {
  if (keys.length === 0) return
  const { targetIds, addresses } = toColumns(keys)
  await sql`
    insert into unsettled_entries (target_id, address)
    select * from unnest(${targetIds}::uuid[], ${addresses}::inet[])`.execute(tx)
}

/**
 * Settles as many of the entries that were left as one transaction may lock, the oldest first. Those that somebody
 * else has in hand are passed over, so that everybody can help. `materialized`: a subquery may be run once a row, and
 * then takes more than its limit.
 *
 * @returns how many were taken, and what has to be told after the commit.
 */
export async function settleUnsettled(tx: Kysely<DB>): Promise<{ taken: number; orders: OrderRef[] }> {
  const { rows } = await sql<EntryKey>`
    with due as materialized (
      select id from unsettled_entries order by id limit ${entriesATransaction} for update skip locked)
    delete from unsettled_entries u using due where u.id = due.id
    returning u.target_id, host(u.address) as address`.execute(tx)
  return { taken: rows.length, orders: await settleEntries(tx, rows) }
}

import { type Kysely, sql } from 'kysely'
import { writeAudit } from '../audit/audit.store.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { RightsDeps } from './create-rights.ts'
import type { EntryKey } from './entry-key.ts'
import { type OrderRef, settleEntries } from './settle-entries.ts'
import { settleUnsettled } from './unsettled-entries.ts'

/** Rows of each kind one round takes; a full round is followed by the next at once. */
const batch = 200

/**
 * One round of the sweep, run by every replica every 250 ms: closes what has reached its end, orders extensions
 * that may not wait longer, orders again what failed, and settles what a large change left. Ends are the database's
 * clock; each kind of work is one transaction that takes its rows with SKIP LOCKED, so replicas share it (design §1).
 *
 * @returns whether a batch was full, so that there may be more.
 */
export async function sweepOnce({ db, gateway, events }: RightsDeps): Promise<boolean> {
  const rounds = [endSessions, endGrants, orderAgain, settleLeft] as const
  let more = false
  for (const round of rounds) {
    const { rows, orders, sessionIds } = await inTransaction(db, round)
    gateway.nudge(orders)
    events.publish(sessionIds)
    more ||= rows >= batch
  }
  return more
}

type Round = { rows: number; orders: OrderRef[]; sessionIds: string[] }

/** Sessions of both realms past their end. Their grants end no later, so the next round finds those. */
async function endSessions(tx: Kysely<DB>): Promise<Round> {
  const ended = await sql<{ id: string; userName: string }>`
    with due as (
      select id from sessions where ended_at is null and ends_at <= statement_timestamp()
      order by ends_at limit ${batch} for update skip locked)
    update sessions s set ended_at = s.ends_at, ended_reason = 'expired'
    from due, users u where s.id = due.id and u.id = s.user_id
    returning s.id, u.user_name`.execute(tx)
  await sql`
    update admin_sessions set ended_at = ends_at, ended_reason = 'expired'
    where id in (
      select id from admin_sessions where ended_at is null and ends_at <= statement_timestamp()
      order by ends_at limit ${batch} for update skip locked)`.execute(tx)
  await writeAudit(
    tx,
    ended.rows.map(({ userName }) => ({
      kind: 'SessionEnded',
      fields: { UserName: userName },
      detail: { reason: 'expired' },
    })),
  )
  return { rows: ended.rows.length, orders: [], sessionIds: ended.rows.map(({ id }) => id) }
}

/** Grants past their end, and the entries they held. */
async function endGrants(tx: Kysely<DB>): Promise<Round> {
  const { rows } = await sql<{
    id: string
    sessionId: string
    userName: string
    description: string
    address: string
    aclId: string
  }>`
    with due as (
      select id from grants where ended_at is null and ends_at <= statement_timestamp()
      order by ends_at limit ${batch} for update skip locked)
    update grants g set ended_at = statement_timestamp(), ended_reason = 'expired'
    from due, users u, acls a
    where g.id = due.id and u.id = g.user_id and a.id = g.acl_id
    returning g.id, g.session_id, u.user_name, a.description, host(g.address) as address, g.acl_id`.execute(
    tx,
  )
  await writeAudit(
    tx,
    rows.map((grant) => ({
      kind: 'GrantExpired',
      fields: { UserName: grant.userName, AclDescription: grant.description, IpAddress: grant.address },
      detail: { grantId: grant.id, aclId: grant.aclId },
    })),
  )
  const keys = await sql<EntryKey>`
    select distinct t.target_id, host(g.address) as address
    from grants g join acl_targets t on t.acl_id = g.acl_id and t.family = family(g.address)
    where g.id = any (${rows.map(({ id }) => id)}::uuid[])`.execute(tx)
  const orders = await settleEntries(tx, keys.rows)
  return { rows: rows.length, orders, sessionIds: [...new Set(rows.map((row) => row.sessionId))] }
}

/**
 * Open entries past their end, extensions that are due, and orders that failed and may be tried again. Nothing is
 * locked by the reading: two replicas that find the same entry take turns at it, and the second finds it done.
 */
async function orderAgain(tx: Kysely<DB>): Promise<Round> {
  const due = await sql<EntryKey & { failed: boolean }>`
    (select target_id, host(address) as address, false as failed from entries
      where desired = 'open' and until <= statement_timestamp() order by until limit ${batch})
    union
    (select target_id, host(address), false from entries
      where order_at <= statement_timestamp() order by order_at limit ${batch})
    union
    (select target_id, host(address), true from entries
      where applied_generation < generation and failed_generation = generation
        and retry_at <= statement_timestamp() limit ${batch})`.execute(tx)
  const failed = due.rows.filter((row) => row.failed)
  const orders = await settleEntries(
    tx,
    due.rows.filter((row) => !row.failed),
  )
  const again = await settleEntries(tx, failed, { reorder: true })
  return { rows: due.rows.length, orders: [...orders, ...again], sessionIds: [] }
}

/** Entries that were too many for the transaction in which their rights changed, and whose process died since. */
async function settleLeft(tx: Kysely<DB>): Promise<Round> {
  const { taken, orders } = await settleUnsettled(tx)
  return { rows: taken, orders, sessionIds: [] }
}

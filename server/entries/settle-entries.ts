import { type Kysely, sql } from 'kysely'
import { type DesiredEntry, desiredEntry, type EntryPlan, type Holder, planEntry } from '#machines/access.ts'
import type { DB } from '../platform/database.types.ts'
import { planAnew } from '../platform/prepared-statements.ts'
import { type EntryKey, toColumns, toLockOrder } from './entry-key.ts'

/** Most entries one transaction may lock (decision 1). */
export const entriesATransaction = 1_000

/** From here on planning costs nothing beside the work. */
export const manyEntries = 100

/** One new order, as the delivery is told of it. */
export type OrderRef = {
  entryId: string
  /** Null for a list that no agent keeps. */
  agentId: string | null
  /** Of a list that no agent keeps: the agents that have devices fetch it; null for others. */
  refresherIds: readonly string[] | null
  desired: 'open' | 'closed'
  generation: number
}

/**
 * The one function that writes what entries are ordered to be.
 *
 * Runs in a READ COMMITTED transaction, after every change of a right in it and with nothing locked afterwards:
 * locks the entries in one order, only then reads the live grants, computes, writes. Two last holders who leave
 * together therefore see each other, and the second one closes the door (decision 1).
 *
 * At most `entriesATransaction` keys. `reorder` gives a new generation even where nothing changed, for entries
 * whose last order failed.
 */
export async function settleEntries(
  tx: Kysely<DB>,
  keys: readonly EntryKey[],
  { reorder = false }: { reorder?: boolean } = {},
): Promise<OrderRef[]> {
  const ordered = toLockOrder(keys)
  if (ordered.length > entriesATransaction)
    throw new Error(`${ordered.length} entries in one transaction; ${entriesATransaction} at most.`)
  if (ordered.length === 0) return []
  if (ordered.length > manyEntries) await planAnew(tx)

  const locked = await lockEntries(tx, ordered)
  const { holders, nowMs } = await readHolders(tx, ordered)
  const changes = locked.flatMap((row) => {
    const desired = desiredEntry(holders.get(keyOf(row)) ?? [], nowMs)
    const plan = planEntry(toOrdered(row), desired, nowMs)
    if (plan.kind !== 'unchanged') return [{ row, plan }]
    return reorder && row.failedGeneration === row.generation
      ? [{ row, plan: { kind: 'order', order: desired } as const }]
      : []
  })
  const ordering = new Set(changes.map(({ row }) => row.id))
  await remember(tx, [
    ...changes.flatMap(toRemembered),
    ...locked.filter((row) => row.orderAt !== null && !ordering.has(row.id)).map(toSettled),
  ])
  return order(tx, changes.flatMap(toOrder))
}

type LockedEntry = {
  id: string
  targetId: string
  address: string
  agentId: string | null
  desired: 'open' | 'closed'
  until: Date | null
  orderedUntil: Date | null
  orderedAt: Date
  silenceSeconds: number | null
  silentUntil: Date | null
  cut: boolean
  orderAt: Date | null
  generation: number
  failedGeneration: number | null
}

/** Rows that are missing are made first, settled and closed, so that making one orders nothing. */
async function lockEntries(tx: Kysely<DB>, keys: readonly EntryKey[]): Promise<LockedEntry[]> {
  const { targetIds, addresses } = toColumns(keys)
  const { rows } = await sql<LockedEntry>`
    select e.id, e.target_id, host(e.address) as address, t.agent_id, e.desired, e.until, e.ordered_until, e.ordered_at,
      e.order_at, e.silence_seconds, e.silent_until, e.cut, e.generation, e.failed_generation
    from lock_entries(${targetIds}::uuid[], ${addresses}::inet[]) e
    join targets t on t.id = e.target_id`.execute(tx)
  return rows
}

/**
 * For each entry the live grant with the latest end of each knoc that uses the target: silence and cutting are
 * the knoc's, so this is all the arithmetic needs, and it costs the same for one holder and for five thousand
 * behind one address (decision 26).
 */
async function readHolders(
  tx: Kysely<DB>,
  keys: readonly EntryKey[],
): Promise<{ holders: Map<string, Holder[]>; nowMs: number }> {
  const { targetIds, addresses } = toColumns(keys)
  const { rows } = await sql<HolderRow>`
    select k.target_id, host(k.address) as address, g.id as grant_id, g.created_at, g.ends_at,
      g.silence_seconds, g.cut_connections, g.user_name, now.at as now
    from (select statement_timestamp() as at) now
    left join (
      unnest(${targetIds}::uuid[], ${addresses}::inet[]) as k (target_id, address)
      join acl_targets t on t.target_id = k.target_id and t.family = family(k.address)
      cross join lateral (
        select * from live_grants l
        where l.acl_id = t.acl_id and l.address = k.address
        order by l.ends_at desc
        limit 1
      ) g
    ) on true`.execute(tx)
  const holders = new Map<string, Holder[]>()
  for (const row of rows) {
    if (row.grantId === null) continue
    const list = holders.get(keyOf(row)) ?? []
    holders.set(keyOf(row), [...list, toHolder(row)])
  }
  return { holders, nowMs: rows[0]?.now.getTime() ?? Number.NaN }
}

type HolderRow = {
  targetId: string
  address: string
  grantId: string | null
  createdAt: Date
  endsAt: Date
  silenceSeconds: number | null
  cutConnections: boolean
  userName: string
  now: Date
}

const toHolder = (row: HolderRow): Holder => ({
  grantId: row.grantId ?? '',
  openedAt: row.createdAt.getTime(),
  endsAt: row.endsAt.getTime(),
  silenceSeconds: row.silenceSeconds,
  cut: row.cutConnections,
  userName: row.userName,
})

const keyOf = (key: EntryKey): string => `${key.targetId}|${key.address}`

const toOrdered = (row: LockedEntry) => ({
  desired: row.desired,
  until: row.until?.getTime() ?? 0,
  orderedUntil: row.orderedUntil?.getTime() ?? 0,
  orderedAt: row.orderedAt.getTime(),
  silence:
    row.silenceSeconds === null
      ? null
      : { afterSeconds: row.silenceSeconds, until: row.silentUntil?.getTime() ?? 0 },
  cut: row.cut,
  generation: row.generation,
})

type Change = { row: LockedEntry; plan: EntryPlan }
type Order = { row: LockedEntry; desired: DesiredEntry }

/** An extension that was due and is no longer wanted: nobody has to look again. */
const toSettled = (row: LockedEntry): Remembered => ({
  id: row.id,
  until: row.until?.getTime() ?? null,
  orderAt: null,
})

type Remembered = { id: string; until: number | null; orderAt: number | null }

const toRemembered = ({ row, plan }: Change): Remembered[] =>
  plan.kind === 'remember' ? [{ id: row.id, until: plan.until, orderAt: plan.orderAt }] : []

const toOrder = ({ row, plan }: Change): Order[] =>
  plan.kind === 'order' ? [{ row, desired: plan.order }] : []

/** A later end that the agent need not know yet. */
async function remember(tx: Kysely<DB>, later: readonly Remembered[]): Promise<void> {
  if (later.length === 0) return
  await sql`
    update entries e set until = c.until, order_at = c.order_at
    from unnest(
      ${later.map((row) => row.id)}::uuid[],
      ${later.map((row) => toIso(row.until))}::timestamptz[],
      ${later.map((row) => toIso(row.orderAt))}::timestamptz[]
    ) as c (id, until, order_at)
    where e.id = c.id`.execute(tx)
}

/** New orders, each with a generation of its own. A close keeps what the door was opened with, for the driver. */
async function order(tx: Kysely<DB>, orders: readonly Order[]): Promise<OrderRef[]> {
  if (orders.length === 0) return []
  const open = orders.map(({ desired }) => (desired.desired === 'open' ? desired : null))
  const untils = open.map((entry) => (entry === null ? null : toIso(entry.until)))
  const { rows } = await sql<OrderRef>`
    update entries e set
      desired = c.desired, until = c.until, ordered_until = c.until, ordered_at = statement_timestamp(),
      order_at = null, silence_seconds = c.silence_seconds, silent_until = c.silent_until,
      cut = coalesce(c.cut, e.cut), user_name = coalesce(c.user_name, e.user_name),
      generation = nextval('generations'), retry_at = statement_timestamp(),
      wanted_at = case when e.desired = c.desired then e.wanted_at else statement_timestamp() end,
      held_since = case when c.desired = 'open' then coalesce(e.held_since, statement_timestamp()) else e.held_since end,
      held_until = greatest(e.held_until, c.until),
      attempts = case when e.desired = c.desired then e.attempts else 0 end,
      error_code = case when e.desired = c.desired then e.error_code end,
      error_text = case when e.desired = c.desired then e.error_text end
    from unnest(
      ${orders.map(({ row }) => row.id)}::uuid[],
      ${orders.map(({ desired }) => desired.desired)}::text[],
      ${untils}::timestamptz[],
      ${open.map((entry) => entry?.silence?.afterSeconds ?? null)}::int[],
      ${open.map((entry) => (entry?.silence ? toIso(entry.silence.until) : null))}::timestamptz[],
      ${open.map((entry) => entry?.cut ?? null)}::boolean[],
      ${open.map((entry) => entry?.userName ?? null)}::text[]
    ) as c (id, desired, until, silence_seconds, silent_until, cut, user_name), targets t
    where e.id = c.id and t.id = e.target_id
    returning e.id as entry_id, t.agent_id, e.desired, e.generation,
      case when t.agent_id is null then array(
        select d.agent_id from list_refreshes r join targets d on d.id = r.target_id
        where r.list_id = t.id) end as refresher_ids`.execute(tx)
  return rows
}

const toIso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

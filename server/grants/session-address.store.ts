import { type Kysely, sql } from 'kysely'
import type { HeldAddress } from '#machines/address-move.ts'
import type { DB } from '../platform/database.types.ts'

/** A session's addresses, those lately left included, and the database's time of the look. */
export async function listSessionAddresses(
  tx: Kysely<DB>,
  sessionId: string,
): Promise<{ addresses: HeldAddress[]; nowMs: number }> {
  const { rows } = await sql<AddressRow>`
    select host(a.address) as address, family(a.address) as family, a.source, a.first_seen_at, a.last_seen_at,
      a.left_at, a.doubted_at, now.at as now
    from (select statement_timestamp() as at) now
    left join session_addresses a on a.session_id = ${sessionId}`.execute(tx)
  return {
    addresses: rows.flatMap((row) =>
      row.address === null ? [] : [toHeld({ ...row, address: row.address })],
    ),
    nowMs: rows[0]?.now.getTime() ?? 0,
  }
}

/** Stores the addresses as the rules left them; what they forgot goes. */
export async function saveSessionAddresses(
  tx: Kysely<DB>,
  sessionId: string,
  addresses: readonly HeldAddress[],
): Promise<void> {
  await sql`
    with kept as (
      insert into session_addresses
        (session_id, address, source, first_seen_at, last_seen_at, left_at, doubted_at)
      select ${sessionId}::uuid, * from unnest(
        ${addresses.map((row) => row.address)}::inet[],
        ${addresses.map((row) => row.source)}::text[],
        ${addresses.map((row) => toIso(row.firstSeenAt))}::timestamptz[],
        ${addresses.map((row) => toIso(row.seenAt))}::timestamptz[],
        ${addresses.map((row) => toIso(row.leftAt))}::timestamptz[],
        ${addresses.map((row) => toIso(row.doubtedAt))}::timestamptz[])
      on conflict (session_id, address) do update set source = excluded.source,
        last_seen_at = excluded.last_seen_at, left_at = excluded.left_at, doubted_at = excluded.doubted_at
      returning address)
    delete from session_addresses
    where session_id = ${sessionId}::uuid and address not in (select address from kept)`.execute(tx)
}

type AddressRow = {
  address: string | null
  family: 4 | 6
  source: string
  firstSeenAt: Date
  lastSeenAt: Date
  leftAt: Date | null
  doubtedAt: Date | null
  now: Date
}

const toHeld = (row: AddressRow & { address: string }): HeldAddress => ({
  address: row.address,
  family: row.family,
  source: row.source === 'own' ? 'own' : 'discovered',
  firstSeenAt: row.firstSeenAt.getTime(),
  seenAt: row.lastSeenAt.getTime(),
  leftAt: row.leftAt?.getTime() ?? null,
  doubtedAt: row.doubtedAt?.getTime() ?? null,
})

const toIso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

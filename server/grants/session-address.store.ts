import { type Kysely, sql } from 'kysely'
import type { AddressSource, HeldAddress } from '#machines/address-move.ts'
import type { DB } from '../platform/database.types.ts'

/** A session's addresses, those lately left included, and the database's time of the look. */
export async function listSessionAddresses(
  tx: Kysely<DB>,
  sessionId: string,
): Promise<{ addresses: HeldAddress[]; nowMs: number }> {
  const { rows } = await sql<AddressRow>`
    select host(a.address) as address, family(a.address) as family, a.source, a.acl_ids, a.first_seen_at, a.last_seen_at,
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
        (session_id, address, source, acl_ids, first_seen_at, last_seen_at, left_at, doubted_at)
      select ${sessionId}::uuid, address, source, acl_ids::uuid[], first_seen_at, last_seen_at, left_at, doubted_at
      from unnest(
        ${addresses.map((row) => row.address)}::inet[],
        ${addresses.map((row) => row.source)}::text[],
        ${addresses.map((row) => toList(row.onlyFor))}::text[],
        ${addresses.map((row) => toIso(row.firstSeenAt))}::timestamptz[],
        ${addresses.map((row) => toIso(row.seenAt))}::timestamptz[],
        ${addresses.map((row) => toIso(row.leftAt))}::timestamptz[],
        ${addresses.map((row) => toIso(row.doubtedAt))}::timestamptz[])
        as a (address, source, acl_ids, first_seen_at, last_seen_at, left_at, doubted_at)
      on conflict (session_id, address) do update set source = excluded.source, acl_ids = excluded.acl_ids,
        last_seen_at = excluded.last_seen_at, left_at = excluded.left_at, doubted_at = excluded.doubted_at
      returning address)
    delete from session_addresses
    where session_id = ${sessionId}::uuid and address not in (select address from kept)`.execute(tx)
}

/** An own address was seen again and nothing else has changed: only this one row is touched, so no lock is needed. */
export async function renewOwnAddress(
  db: Kysely<DB>,
  { sessionId, address }: { sessionId: string; address: string },
): Promise<void> {
  await sql`
    update session_addresses
    set last_seen_at = statement_timestamp(), doubted_at = null, source = 'own', acl_ids = null
    where session_id = ${sessionId}::uuid and address = ${address}::inet and left_at is null`.execute(db)
}

type AddressRow = {
  address: string | null
  family: 4 | 6
  source: AddressSource
  aclIds: string[] | null
  firstSeenAt: Date
  lastSeenAt: Date
  leftAt: Date | null
  doubtedAt: Date | null
  now: Date
}

const toHeld = (row: AddressRow & { address: string }): HeldAddress => ({
  address: row.address,
  family: row.family,
  source: row.source,
  onlyFor: row.aclIds,
  firstSeenAt: row.firstSeenAt.getTime(),
  seenAt: row.lastSeenAt.getTime(),
  leftAt: row.leftAt?.getTime() ?? null,
  doubtedAt: row.doubtedAt?.getTime() ?? null,
})

/** PostgreSQL's own spelling of an array: lists of several lengths don't fit into one parameter otherwise. */
const toList = (ids: readonly string[] | null): string | null => (ids === null ? null : `{${ids.join(',')}}`)

const toIso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

import { type Kysely, type RawBuilder, sql } from 'kysely'
import { allowlistKey } from '../backends/definitions/allowlist.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { type AllowlistSettings, toAllowlistSettings } from './allowlist-settings.ts'

/** A passive list as its reader is judged. */
export type Allowlist = {
  id: string
  description: string
  /** Its knoc was deleted: it is empty, so that its readers take off what they have. */
  isDeleted: boolean
  settings: AllowlistSettings
}

/**
 * The list of an ACL, deleted ones included; undefined for everything else.
 *
 * @throws err.serviceUnavailable when this database takes no writes: it may be behind, so nothing it says counts
 * (decision 39).
 */
export async function findAllowlist(db: Kysely<DB>, aclId: string): Promise<Allowlist | undefined> {
  const { rows } = await sql<
    Omit<Allowlist, 'settings' | 'id'> & { id: string | null; config: unknown } & Writable
  >`
    select ${isWritable} as is_writable, a.id, a.description, a.deleted_at is not null as is_deleted, a.config
    from (select 1) one
    left join (acls a join backends b on b.id = a.backend_id and b.type = 'allowlist') on a.id = ${aclId}::uuid`.execute(
    db,
  )
  const row = checkWritable(rows[0])
  if (row.id === null) return undefined
  const { id, description, isDeleted, config } = row
  return { id, description, isDeleted, settings: toAllowlistSettings(config) }
}

/** An entry that the next reading settles: it is carried for the first time, or it is seen to be gone. */
export type UnreadEntry = { id: string; generation: number; isCarried: boolean }

/** A list at one moment of the database's clock. */
export type ListReading = {
  at: Date
  /** One address or CIDR each, sorted; and its end, an instant that is never later than the true one. */
  entries: { address: string; until: string }[]
  unread: UnreadEntry[]
  /** What this consumer was given last, by its ETag; null for the first time. */
  lastTag: string | null
  /** Nothing was noted for this consumer for a while, or somebody's grant came after the last reading noted. */
  isDue: boolean
}

/** A consumer's unchanged readings are noted at most this often, in seconds. */
const noteEverySeconds = 10

/**
 * Everything a reading needs in one SELECT: what stands now by the statement's clock, so that no entry is read past
 * its end whether or not anybody swept it, and what this reading changes (decision 39).
 */
export async function readList(
  db: Kysely<DB>,
  list: Pick<Allowlist, 'id' | 'isDeleted'>,
  consumer: string,
): Promise<ListReading> {
  const { rows } = await toReading(list, consumer).execute(db)
  const { addresses, ends, unread, at, lastTag, isDue } = checkWritable(rows[0])
  const untils = toLines(ends)
  return {
    at,
    entries: toLines(addresses).map((address, index) => ({ address, until: untils[index] ?? '' })),
    unread,
    lastTag,
    isDue,
  }
}

type Row = Omit<ListReading, 'entries'> & { addresses: string | null; ends: string | null } & Writable

/** The one SELECT. For tests that look at its plan. */
export function toReading(
  { id, isDeleted }: Pick<Allowlist, 'id' | 'isDeleted'>,
  consumer: string,
): RawBuilder<Row> {
  // What was on a deleted list stays to be seen gone; its ACL has no list any more.
  const targets = isDeleted
    ? sql`select t.id from targets t where t.key = ${allowlistKey(id)}`
    : sql`select t.target_id from acl_targets t where t.acl_id = ${id}::uuid`
  const isCarried = isDeleted ? sql`false` : sql`(e.desired = 'open' and e.until > statement_timestamp())`
  return sql<Row>`
    select ${isWritable} as is_writable, statement_timestamp() as at, carried.addresses, carried.ends,
      coalesce(unread.entries, '[]') as unread, mine.etag as last_tag,
      coalesce(mine.read_at < statement_timestamp() - make_interval(secs => ${noteEverySeconds}), true)
        or exists (
          select from grants g where g.acl_id = ${id}::uuid and g.ended_at is null and g.created_at > (
            select max(r.read_at) from list_reads r where r.acl_id = ${id}::uuid)) as is_due
    from (
      select string_agg(abbrev(e.address), E'\n' order by e.address) as addresses,
        string_agg(to_char(e.until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), E'\n' order by e.address)
          as ends
      from entries e where e.target_id in (${targets}) and e.desired = 'open' and ${isCarried}) carried
    cross join (
      select jsonb_agg(jsonb_build_object('id', e.id, 'generation', e.generation, 'isCarried', ${isCarried})) as entries
      from entries e where e.target_id in (${targets}) and e.applied_generation < e.generation
        and (e.desired = 'closed' or ${isCarried})) unread
    left join list_reads mine on mine.acl_id = ${id}::uuid and mine.consumer = ${consumer}`
}

type Writable = { isWritable: boolean }

const isWritable = sql`not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'`

function checkWritable<Row extends Writable>(row: Row | undefined): Row {
  if (row?.isWritable !== true)
    throw apiError('err.serviceUnavailable', { detail: 'this database takes no writes' })
  return row
}

const toLines = (text: string | null): string[] => (text === null ? [] : text.split('\n'))

/** Sessions whose grants hold these entries, or lately did. */
export async function listSessionsOf(
  db: Kysely<DB>,
  aclId: string,
  entryIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ sessionId: string }>`
    select distinct g.session_id
    from entries e join grants g on g.acl_id = ${aclId}::uuid and g.address = e.address
    where e.id = any (${[...entryIds]}::uuid[])
      and (g.ended_at is null or g.ended_at > statement_timestamp() - interval '60 seconds')
    limit 1000`.execute(db)
  return rows.map((row) => row.sessionId)
}

/** Whether a key, by its id, is one of a list's readers so far. */
export async function hasRead(db: Kysely<DB>, aclId: string, consumer: string): Promise<boolean> {
  const row = await db
    .selectFrom('listReads')
    .select('aclId')
    .where('aclId', '=', aclId)
    .where('consumer', '=', consumer)
    .executeTakeFirst()
  return row !== undefined
}

import { type Kysely, sql } from 'kysely'
import type { AuditEvent } from '../audit/audit.events.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { entriesATransaction } from '../entries/settle-entries.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { ListReading, UnreadEntry } from './allowlist.query.ts'

/** What a reading leaves behind. */
export type ReadNote = {
  aclId: string
  consumer: string
  /** ETag of the text form, whichever was read. */
  tag: string
  /** Notes the use of the reader's key, and refuses one that was withdrawn meanwhile. */
  useKey: (tx: Kysely<DB>) => Promise<void>
  audit: readonly AuditEvent[]
  requestId: string | null
} & Pick<ListReading, 'at' | 'unread'>

/** A device waits some seconds for its list; it asks again soon. */
const retries = 1

/**
 * Notes that a consumer reads a list, before it gets it: what it carries has been seen there, what it doesn't is seen
 * gone. At most a thousand entries a transaction, the reader himself in the last one.
 */
export async function noteReading(db: Kysely<DB>, note: ReadNote): Promise<void> {
  const { unread } = note
  for (let from = 0; from === 0 || from < unread.length; from += entriesATransaction)
    await inTransaction(
      db,
      async (tx) => {
        await settleRead(tx, note.at, unread.slice(from, from + entriesATransaction))
        if (from + entriesATransaction < unread.length) return
        await note.useKey(tx)
        await noteConsumer(tx, note)
        await writeAudit(tx, note.audit, note.requestId)
      },
      { retries },
    )
}

/**
 * An entry that was ordered anew since the list was read keeps that order unsettled, but was seen as it was read: the
 * reader gets it so. Entries are locked in the order in which they are everywhere.
 */
async function settleRead(tx: Kysely<DB>, at: Date, unread: readonly UnreadEntry[]): Promise<void> {
  if (unread.length === 0) return
  await sql`
    with locked as materialized (
      select e.id, r.generation, r.is_carried
      from unnest(
        ${unread.map(({ id }) => id)}::uuid[], ${unread.map(({ generation }) => generation)}::bigint[],
        ${unread.map(({ isCarried }) => isCarried)}::boolean[]) as r (id, generation, is_carried)
      join entries e on e.id = r.id
      order by e.target_id::text collate "C", host(e.address) collate "C"
      for update of e)
    update entries e set applied_generation = l.generation,
      applied_desired = case when l.is_carried then 'open' else 'closed' end, seen_at = ${at}
    from locked l
    where e.id = l.id and e.applied_generation < l.generation`.execute(tx)
}

async function noteConsumer(tx: Kysely<DB>, { aclId, consumer, tag, at }: ReadNote): Promise<void> {
  await sql`
    insert into list_reads as r (acl_id, consumer, etag, read_at)
    values (${aclId}::uuid, ${consumer}, ${tag}, ${at})
    on conflict (acl_id, consumer) do update set etag = excluded.etag,
      previous_read_at = r.read_at, read_at = greatest(r.read_at, excluded.read_at)`.execute(tx)
}

import { type Kysely, sql } from 'kysely'
import { linkLimits, type Order, type TargetDescription } from '#machines/protocol.ts'
import type { DB } from '../platform/database.types.ts'

/** An order as the link keeps book of it. */
export type PendingOrder = { entryId: string; order: Order }

/** What was sent on this link and waits for its result: not sent again while it is the newest. */
export type Sent = ReadonlyMap<string, number>

/**
 * The next orders for an agent, read at this moment: the newest state of every entry whose newest order is not
 * applied, closes first. One statement a batch (decision 21). An order that failed waits for the sweep, which
 * gives it a new generation.
 */
export async function listOrders(db: Kysely<DB>, agentId: string, sent: Sent): Promise<PendingOrder[]> {
  const { rows } = await sql<EntryRow>`
    select ${entryColumns}
    from targets t
    join entries e on e.target_id = t.id
    left join unnest(${[...sent.keys()]}::uuid[], ${[...sent.values()]}::bigint[]) as s (id, generation)
      on s.id = e.id and s.generation = e.generation
    where t.agent_id = ${agentId} and t.state <> 'forgotten' and e.applied_generation < e.generation
      and e.failed_generation is distinct from e.generation and s.id is null
    order by e.desired = 'closed' desc, e.generation
    limit ${linkLimits.batchOrders}`.execute(db)
  return rows.map((row) => ({ entryId: row.id, order: toOrder(row) }))
}

/** The whole truth of some buckets of a target: its open entries, and how far the sequence was when it was read. */
export async function readBuckets(
  db: Kysely<DB>,
  targetId: string,
  buckets: readonly number[],
): Promise<{ entries: Order[]; asOfGeneration: number }> {
  const { rows } = await sql<EntryRow & { asOf: number }>`
    select ${entryColumns}, (select last_value from generations) as as_of
    from (select 1) one
    left join entries e on e.target_id = ${targetId} and e.bucket = any (${[...buckets]}::smallint[])
      and e.desired = 'open'`.execute(db)
  return {
    entries: rows.filter((row) => row.id !== null).map(toOrder),
    asOfGeneration: rows[0]?.asOf ?? 0,
  }
}

/** A target's 256 digests, as protocol.ts defines them. */
export async function readDigest(db: Kysely<DB>, targetId: string): Promise<string[]> {
  const { rows } = await sql<{ bucket: number; digest: string }>`
    select bucket, lpad(to_hex(bit_xor(
      ('x' || left(md5(host(address) || '|' || generation), 16))::bit(64)::bigint)), 16, '0') as digest
    from entries where target_id = ${targetId} and desired = 'open'
    group by bucket`.execute(db)
  const digests = Array.from({ length: linkLimits.digestBuckets }, () => '0'.repeat(16))
  for (const { bucket, digest } of rows) digests[bucket] = digest
  return digests
}

/** Every target an agent has to look after: those in use and those that drain. */
export async function listTargets(db: Kysely<DB>, agentId: string): Promise<TargetDescription[]> {
  const { rows } = await sql<TargetDescription>`
    select t.id, t.key, t.type, t.family, coalesce(t.backend_id, t.id) as backend_id, t.backend_config as backend,
      t.list_config as list, t.sealed,
      case when (
        select bool_and(a.foreign_entries = 'remove') from acl_targets at
        join acls a on a.id = at.acl_id and a.deleted_at is null where at.target_id = t.id)
      then 'remove' else 'report' end as foreign_entries
    from targets t
    where t.agent_id = ${agentId} and (t.state = 'active' or t.state = 'draining' and t.drained_at is null)
    order by t.created_at, t.id`.execute(db)
  return rows
}

const entryColumns = sql`e.id, e.target_id, host(e.address) as address, e.generation, e.desired, e.ordered_until,
  e.silence_seconds, e.silent_until, e.cut, e.user_name`

type EntryRow = {
  id: string
  targetId: string
  address: string
  generation: number
  desired: 'open' | 'closed'
  orderedUntil: Date | null
  silenceSeconds: number | null
  silentUntil: Date | null
  cut: boolean
  userName: string
}

const toOrder = (row: EntryRow): Order => ({
  targetId: row.targetId,
  address: row.address,
  generation: row.generation,
  desired: row.desired,
  untilMs: row.orderedUntil?.getTime() ?? 0,
  silence:
    row.silenceSeconds === null
      ? null
      : { afterSeconds: row.silenceSeconds, untilMs: row.silentUntil?.getTime() ?? 0 },
  cut: row.cut,
  userName: row.userName,
})

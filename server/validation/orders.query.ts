import { type Kysely, sql } from 'kysely'
import { listDeadGrants, listWrongEntries } from '../entries/auditor.ts'
import type { EntryKey } from '../entries/entry-key.ts'
import { toColumns } from '../entries/entry-key.ts'
import type { DB } from '../platform/database.types.ts'
import { listName } from './lists.query.ts'

/** An end is swept within 250 ms; an entry open for longer past it was left behind. */
const sweptSeconds = 2

/** An entry with what a difference says of it. */
export type OrderedEntry = {
  agentId: string | null
  agent: string | null
  list: string
  targetId: string
  address: string
  desired: 'open' | 'closed'
  generation: number
  userName: string | null
  orderedAt: Date
  until: Date | null
  errorText: string | null
  /** The agent hasn't answered the newest order. */
  owed: boolean
}

const columnsBut = sql`t.agent_id, a.name as agent, ${listName} as list, t.id as target_id, e.desired, e.generation, nullif(e.user_name, '') as user_name, e.ordered_at, e.until,
  e.error_text, e.applied_generation < e.generation as owed`
const entryColumns = sql`${columnsBut}, host(e.address) as address`

/** Entries that are open or whose newest order is not answered, on one agent: of one list, or of all of them. */
export async function listEntriesAtStake(
  db: Kysely<DB>,
  { agentId, targetId = null, limit }: { agentId: string; targetId?: string | null; limit: number },
): Promise<OrderedEntry[]> {
  const { rows } = await sql<OrderedEntry>`
    select ${entryColumns}
    from targets t join entries e on e.target_id = t.id left join agents a on a.id = t.agent_id
    where t.agent_id = ${agentId} and (e.desired = 'open' or e.applied_generation < e.generation)
      and (${targetId}::uuid is null or exists (
        select from targets o where o.id = ${targetId} and o.type = t.type and o.key = t.key))
    order by t.key, e.address limit ${limit}`.execute(db)
  return rows
}

/** Entries whose newest order is not answered by an agent. Nobody answers for lists that no agent keeps. */
export async function listUnsettled(db: Kysely<DB>, limit: number): Promise<OrderedEntry[]> {
  const { rows } = await sql<OrderedEntry>`
    select ${entryColumns}
    from entries e join targets t on t.id = e.target_id join agents a on a.id = t.agent_id
    where e.applied_generation < e.generation
    order by t.key, e.address limit ${limit}`.execute(db)
  return rows
}

/** Entries that are still ordered open though their end is over. */
export async function listOverdue(db: Kysely<DB>, limit: number): Promise<OrderedEntry[]> {
  const { rows } = await sql<OrderedEntry>`
    select ${entryColumns}
    from entries e join targets t on t.id = e.target_id left join agents a on a.id = t.agent_id
    where e.desired = 'open' and e.until < clock_timestamp() - make_interval(secs => ${sweptSeconds})
    order by e.until limit ${limit}`.execute(db)
  return rows
}

/** What the auditor would repair, in one entry: `holder` is who may go through, or null. */
export type WrongEntry = Omit<OrderedEntry, 'generation' | 'orderedAt' | 'desired'> & {
  desired: 'open' | 'closed' | null
  generation: number | null
  orderedAt: Date | null
  holder: string | null
  heldSince: Date | null
}

/** Entries that are not what the live grants say: the auditor's own look, and whose they are. */
export async function listWronglyOrdered(db: Kysely<DB>): Promise<WrongEntry[]> {
  const keys = await listWrongEntries(db, { unsettled: true })
  return keys.length === 0 ? [] : describe(db, keys)
}

async function describe(db: Kysely<DB>, keys: readonly EntryKey[]): Promise<WrongEntry[]> {
  const { targetIds, addresses } = toColumns(keys)
  const { rows } = await sql<WrongEntry>`
    select ${columnsBut}, host(k.address) as address, h.user_name as holder, h.created_at as held_since
    from unnest(${targetIds}::uuid[], ${addresses}::inet[]) as k (target_id, address)
    join targets t on t.id = k.target_id
    left join agents a on a.id = t.agent_id
    left join entries e on e.target_id = k.target_id and e.address = k.address
    left join lateral (
      select l.user_name, l.created_at from acl_targets at join live_grants l on l.acl_id = at.acl_id
      where at.target_id = k.target_id and at.family = family(k.address) and l.address = k.address
      order by l.created_at limit 1
    ) h on true
    order by t.key, k.address`.execute(db)
  return rows
}

/** A session that holds a grant whose right has gone. */
export type DeadGrant = { userName: string; knoc: string; address: string; createdAt: Date }

/** Standing grants that no longer live: the auditor's own look, and whose they are. */
export async function listDeadHolders(db: Kysely<DB>): Promise<DeadGrant[]> {
  const sessions = await listDeadGrants(db)
  if (sessions.length === 0) return []
  const { rows } = await sql<DeadGrant>`
    select u.user_name, a.description as knoc, host(g.address) as address, g.created_at
    from grants g join users u on u.id = g.user_id join acls a on a.id = g.acl_id
    where g.session_id = any (${sessions}::uuid[]) and g.ended_at is null and g.ends_at > statement_timestamp()
      and not exists (select from live_grants l where l.id = g.id offset 0)
    order by u.user_name, a.description, g.address`.execute(db)
  return rows
}

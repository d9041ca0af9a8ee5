import { randomUUID } from 'node:crypto'
import { type InsertObject, type Kysely, sql } from 'kysely'
import type { DB } from '#server/platform/database.types.ts'

/** Rows as a gateway leaves them, without an agent: who is away, what was ordered and what was seen. */

/** An instant so many seconds from now, by the database's clock. */
export const inSeconds = (seconds: number) => sql<Date>`clock_timestamp() + make_interval(secs => ${seconds})`

/** An agent that enrolled; `online` when a replica that lives holds its link. */
export async function anAgentRow(
  db: Kysely<DB>,
  {
    online = false,
    seen = -60,
    ...columns
  }: { online?: boolean; seen?: number } & Partial<InsertObject<DB, 'agents'>> = {},
): Promise<{ id: string; name: string }> {
  if (online)
    await sql`
      insert into replicas (id, host_name, version) values ('living', 'h', '2.0.0')
      on conflict (id) do update set seen_at = now()`.execute(db)
  return db
    .insertInto('agents')
    .values({
      name: `agent-${randomUUID().slice(0, 8)}`,
      publicKey: randomUUID(),
      enrolledAt: inSeconds(-3_600),
      lastSeenAt: inSeconds(online ? 0 : seen),
      linkReplica: online ? 'living' : null,
      ...columns,
    })
    .returning(['id', 'name'])
    .executeTakeFirstOrThrow()
}

/** A list of an agent. */
export async function aList(
  db: Kysely<DB>,
  agentId: string,
  columns: Partial<InsertObject<DB, 'targets'>> = {},
): Promise<string> {
  const name = `set_${randomUUID().slice(0, 8)}`
  const { id } = await db
    .insertInto('targets')
    .values({
      key: `ipset:${agentId}:${name}`,
      agentId,
      type: 'ipset',
      expiry: 'native',
      listConfig: JSON.stringify({ SetName: name }),
      ...columns,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

let made = 0

/** A door of a list that was seen open and stands, unless said otherwise. */
export async function aDoor(
  db: Kysely<DB>,
  targetId: string,
  columns: Partial<InsertObject<DB, 'entries'>> = {},
): Promise<{ id: string; address: string }> {
  made += 1
  return db
    .insertInto('entries')
    .values({
      targetId,
      address: `203.0.113.${made}`,
      desired: 'open',
      until: inSeconds(3_600),
      orderedUntil: inSeconds(3_600),
      heldSince: inSeconds(-600),
      heldUntil: inSeconds(3_600),
      wantedAt: inSeconds(-600),
      generation: 10,
      appliedGeneration: 10,
      appliedDesired: 'open',
      outcome: 'verified',
      seenAt: inSeconds(-600),
      ...columns,
    })
    .returning(['id', 'address'])
    .executeTakeFirstOrThrow()
}

/** What a door that is ordered closed and not seen closed has. */
export const closing = (seconds = -60) => ({
  desired: 'closed' as const,
  until: null,
  orderedUntil: null,
  generation: 11,
  wantedAt: inSeconds(seconds),
})

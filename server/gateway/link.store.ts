import { type Kysely, sql } from 'kysely'
import type { Capabilities } from '#machines/protocol.ts'
import type { DB } from '../platform/database.types.ts'
import { agentsWithDueRefreshes } from '../refreshes/due-refresh.query.ts'

/** A replica that was not seen for this long holds no links, in seconds. */
const replicaGoneSeconds = 6

/** What a hello took over: the new link epoch, and the epoch orders belong to. */
export type TakenLink = { linkEpoch: number; epoch: string; lastGeneration: number; nowMs: number }

/** A hello takes the agent's link: whoever held it before is superseded from this moment on (decision 19). */
export async function takeLink(
  db: Kysely<DB>,
  link: {
    agentId: string
    replica: string
    version: string
    externalIp: string
    capabilities: Capabilities
  },
): Promise<TakenLink | undefined> {
  const { rows } = await sql<{ linkEpoch: number; epoch: string; lastGeneration: number; now: Date }>`
    update agents set link_epoch = link_epoch + 1, link_replica = ${link.replica}, linked_at = now(),
      last_seen_at = now(), version = ${link.version}, external_ip = ${link.externalIp}::inet,
      capabilities = ${JSON.stringify(link.capabilities)}::jsonb
    where id = ${link.agentId} and deleted_at is null
    returning link_epoch, (select epoch::text from installation) as epoch,
      (select last_value from generations) as last_generation, clock_timestamp() as now`.execute(db)
  const row = rows[0]
  return row && { ...row, nowMs: row.now.getTime() }
}

/** The link is gone, unless somebody else holds it by now. */
export async function dropLink(db: Kysely<DB>, agentId: string, linkEpoch: number): Promise<void> {
  await sql`
    update agents set link_replica = null, last_seen_at = now()
    where id = ${agentId} and link_epoch = ${linkEpoch}`.execute(db)
}

/** New capabilities, reported over the link that holds the agent. */
export async function saveCapabilities(
  db: Kysely<DB>,
  { agentId, linkEpoch }: { agentId: string; linkEpoch: number },
  capabilities: Capabilities,
): Promise<void> {
  await sql`
    update agents set capabilities = ${JSON.stringify(capabilities)}::jsonb
    where id = ${agentId} and link_epoch = ${linkEpoch}`.execute(db)
}

/** A replica as it writes itself down. */
export type Replica = { id: string; hostName: string; version: string }

/** What one look at the writable database says of a linked agent. */
export type LinkTruth = {
  agentId: string
  linkEpoch: number
  deleted: boolean
  unsettled: boolean
  /** A device of its has to be told that a list changed. */
  hasDueRefresh: boolean
}

/**
 * One look for all links of a replica: who still holds which link, and who has orders waiting. Its time is the
 * `truthAt` of their next heartbeats (decision 10).
 *
 * It writes that the replica lives in the same statement: a database that takes no writes, because it is read-only,
 * full, or waits for a standby in vain, can revoke nothing, and reading it says nothing.
 */
export async function readTruth(
  db: Kysely<DB>,
  replica: Replica,
  agentIds: readonly string[],
): Promise<{ atMs: number; epoch: string; links: LinkTruth[] }> {
  const { rows } = await sql<{ at: Date; epoch: string; id: string | null } & Omit<LinkTruth, 'agentId'>>`
    with alive as (
      insert into replicas (id, host_name, version)
      values (${replica.id}, ${replica.hostName}, ${replica.version})
      on conflict (id) do update set seen_at = now())
    select clock_timestamp() as at, i.epoch::text as epoch, a.id, a.link_epoch, a.deleted_at is not null as deleted,
      exists (
        select from targets t join entries e on e.target_id = t.id
        where t.agent_id = a.id and e.applied_generation < e.generation
          and e.failed_generation is distinct from e.generation) as unsettled,
      due.agent_id is not null as has_due_refresh
    from installation i left join agents a on a.id = any (${[...agentIds]}::uuid[])
    left join (${agentsWithDueRefreshes(agentIds)}) due on due.agent_id = a.id`.execute(db)
  return {
    atMs: rows[0]?.at.getTime() ?? 0,
    epoch: rows[0]?.epoch ?? '',
    links: rows.flatMap((row) =>
      row.id === null
        ? []
        : [
            {
              agentId: row.id,
              linkEpoch: row.linkEpoch,
              deleted: row.deleted,
              unsettled: row.unsettled,
              hasDueRefresh: row.hasDueRefresh,
            },
          ],
    ),
  }
}

/** LastSeen of linked agents, exact to the interval in which this is called (10 s). */
export async function touchAgents(db: Kysely<DB>, agentIds: readonly string[]): Promise<void> {
  if (agentIds.length === 0) return
  await sql`update agents set last_seen_at = now() where id = any (${[...agentIds]}::uuid[])`.execute(db)
}

/** Links of replicas that live no more are taken from them. Returns the agents that lost theirs. */
export async function freeLinksOfDead(db: Kysely<DB>, replicaId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update agents set link_replica = null
    where link_replica is not null and link_replica <> ${replicaId} and not exists (
      select from replicas r where r.id = agents.link_replica
        and r.seen_at > now() - make_interval(secs => ${replicaGoneSeconds}))
    returning id`.execute(db)
  return rows.map((row) => row.id)
}

/** This replica stops: it holds no links any more. Its row stays, for the licence's count of machines. */
export async function retireReplica(db: Kysely<DB>, replica: string): Promise<void> {
  await sql`update agents set link_replica = null where link_replica = ${replica}`.execute(db)
}

/** Which replicas hold the links of these agents. */
export async function listHolders(
  db: Kysely<DB>,
  agentIds: readonly string[],
): Promise<{ agentId: string; replica: string }[]> {
  const { rows } = await sql<{ agentId: string; replica: string }>`
    select id as agent_id, link_replica as replica from agents
    where id = any (${[...agentIds]}::uuid[]) and link_replica is not null`.execute(db)
  return rows
}

/**
 * The database went back in time: an agent knows a generation that was never handed out here. A new epoch makes
 * every agent take the full state, and the sequence goes past whatever they know (decision 6).
 *
 * @returns the new epoch, or the present one when another replica was first.
 */
export async function renewEpoch(
  db: Kysely<DB>,
  seen: { epoch: string; generation: number },
): Promise<string> {
  await sql`
    update installation set epoch = gen_random_uuid() where epoch::text = ${seen.epoch}
      and (select last_value from generations) < ${seen.generation}`.execute(db)
  await sql`
    select setval('generations', greatest((select last_value from generations), ${seen.generation}))`.execute(
    db,
  )
  const { rows } = await sql<{ epoch: string }>`select epoch::text as epoch from installation`.execute(db)
  return rows[0]?.epoch ?? ''
}

import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'

/** What an enrolment is decided by. */
export type EnrollingAgent = {
  id: string
  name: string
  publicKey: string | null
  sealingKey: string | null
  machineId: string | null
  /** Whether the token's seven days are not over. */
  isInTime: boolean
}

/** The agent a token belongs to, locked, so that two machines with one token come one after the other. */
export async function findAgentByToken(
  tx: Kysely<DB>,
  tokenHash: string,
): Promise<EnrollingAgent | undefined> {
  const { rows } = await sql<EnrollingAgent>`
    select id, name, public_key, sealing_key, machine_id,
      coalesce(token_expires_at > clock_timestamp(), false) as is_in_time
    from agents where token_hash = ${tokenHash} and deleted_at is null
    for no key update`.execute(tx)
  return rows[0]
}

/** Binds an agent to its key pair and machine. The token's hash stays, for the same agent to ask again. */
export async function bindAgent(
  tx: Kysely<DB>,
  agent: { id: string; publicKey: string; sealingKey: string; machineId: string },
): Promise<void> {
  await tx
    .updateTable('agents')
    .set({
      publicKey: agent.publicKey,
      sealingKey: agent.sealingKey,
      machineId: agent.machineId,
      enrolledAt: sql`now()`,
      tokenSealed: null,
      conflictAt: null,
      lastModifiedAt: sql`now()`,
    })
    .where('id', '=', agent.id)
    .execute()
}

/** Who an agent is known to be. */
export type PinnedAgent = { name: string; publicKey: string | null; machineId: string | null }

/** The pinned identity of an agent that isn't deleted. */
export async function findPinnedAgent(db: Kysely<DB>, id: string): Promise<PinnedAgent | undefined> {
  return db
    .selectFrom('agents')
    .select(['name', 'publicKey', 'machineId'])
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
}

/** Oldest nonce that is taken, in seconds. Specification: machines/protocol.ts `challengeSchema`. */
const nonceSeconds = 30

/**
 * Uses a nonce up, in one statement: true once for each, only while it is fresh and newer than the last one used,
 * and only as long as the key is still the pinned one.
 */
export async function useNonce(
  db: Kysely<DB>,
  { agentId, publicKey, drawnAtUs }: { agentId: string; publicKey: string; drawnAtUs: number },
): Promise<boolean> {
  const drawnAt = sql`(timestamptz 'epoch' + ${drawnAtUs}::bigint * interval '1 microsecond')`
  const { rows } = await sql`
    update agents set last_nonce_at = ${drawnAt}
    where id = ${agentId} and deleted_at is null and public_key = ${publicKey}
      and (last_nonce_at is null or last_nonce_at < ${drawnAt})
      and ${drawnAt} between clock_timestamp() - make_interval(secs => ${nonceSeconds}) and clock_timestamp()
    returning id`.execute(db)
  return rows.length > 0
}

/** The database's time in microseconds since 1970. */
export async function readDatabaseTimeUs(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ us: number }>`
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us`.execute(db)
  return rows[0]?.us ?? 0
}

/** A clone keeps trying: its alarm is renewed this often, in minutes. */
const conflictRenewedMinutes = 10

/** Raises the alarm that two machines have one key. True when that is news. */
export async function raiseConflict(tx: Kysely<DB>, agentId: string): Promise<boolean> {
  const { rows } = await sql`
    update agents set conflict_at = now()
    where id = ${agentId}
      and (conflict_at is null or conflict_at < now() - make_interval(mins => ${conflictRenewedMinutes}))
    returning id`.execute(tx)
  return rows.length > 0
}

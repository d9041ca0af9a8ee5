import type { Kysely } from 'kysely'
import type { Capabilities } from '#machines/protocol.ts'
import type { DB } from '../platform/database.types.ts'

/** What others need to know of an agent that is to drive something. */
export type AgentFacts = {
  id: string
  name: string
  version: string | null
  capabilities: Capabilities | null
  /** X25519 public key, SPKI DER in base64; null before the first connection. */
  sealingKey: string | null
}

/** An agent for a backend: it can't be deleted, nor get another key, before the transaction ends. */
export async function findAgentForBackend(tx: Kysely<DB>, id: string): Promise<AgentFacts | undefined> {
  const row = await tx
    .selectFrom('agents')
    .select(['id', 'name', 'version', 'capabilities', 'sealingKey'])
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .forShare()
    .executeTakeFirst()
  return row && { ...row, capabilities: row.capabilities as Capabilities | null }
}

/** Whether there is any agent at all. */
export async function hasAgents(db: Kysely<DB>): Promise<boolean> {
  const row = await db.selectFrom('agents').select('id').where('deletedAt', 'is', null).limit(1).execute()
  return row.length > 0
}

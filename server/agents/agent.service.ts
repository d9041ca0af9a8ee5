import type { Kysely } from 'kysely'
import type { Acting } from '../audit/acting-admin.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { loseSecretsOfAgent } from '../backends/backend.service.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import { hashToken, newId, newToken } from '../platform/random.ts'
import type { Sealer } from '../platform/secrets.ts'
import type { AgentView } from './agent.query.ts'
import type { AgentCreated } from './agent.schema.ts'
import {
  hasBackends,
  insertAgent,
  lockAgent,
  markAgentDeleted,
  renameAgent,
  replaceToken,
  type StoredToken,
} from './agent.store.ts'

/** Registers an agent and draws its enrolment token: 256 bits, good once, for 7 days. Throws err.agentNameTaken. */
export async function createAgent(
  { db, sealer }: Pick<Deps, 'db' | 'sealer'>,
  { name, by, requestId }: Acting & { name: string },
): Promise<AgentCreated> {
  const id = newId()
  const token = newToken()
  await inTransaction(db.grants, async (tx) => {
    await insertAgent(tx, { id, name, token: toStored(sealer, id, token) })
    await tell(tx, 'CreateAgent', { name, by, requestId })
  })
  return { ID: id, Token: token }
}

/** Gives an agent another name. Throws err.notFound, err.agentNameTaken. */
export async function updateAgent(
  { db }: Pick<Deps, 'db'>,
  { id, name, by, requestId }: Acting & { id: string; name: string },
): Promise<void> {
  await inTransaction(db.grants, async (tx) => {
    await lockAgent(tx, id)
    await renameAgent(tx, id, name)
    await tell(tx, 'UpdateAgent', { name, by, requestId })
  })
}

/**
 * Deletes an agent that no backend needs. Told that it is unknown, it closes whatever it still holds open.
 * Throws err.notFound, err.detachBackends.
 */
export async function deleteAgent(
  { db, gateway }: Pick<Deps, 'db' | 'gateway'>,
  { id, by, requestId }: Acting & { id: string },
): Promise<void> {
  await inTransaction(db.grants, async (tx) => {
    const { name } = await lockAgent(tx, id)
    if (await hasBackends(tx, id)) throw apiError('err.detachBackends')
    await markAgentDeleted(tx, id)
    await tell(tx, 'DeleteAgent', { name, by, requestId })
  })
  await gateway.drop(id)
}

/**
 * Draws a new enrolment token; the old one is void at once. An enrolled agent loses its key pair with it, and
 * every secret sealed to that key has to be given again, so this must be confirmed (else err.invalidField,
 * Extra 'Confirm').
 */
export async function renewToken(
  { db, sealer, gateway }: Pick<Deps, 'db' | 'sealer' | 'gateway'>,
  { id, confirm, by, requestId }: Acting & { id: string; confirm: boolean },
): Promise<AgentCreated> {
  const token = newToken()
  await inTransaction(db.grants, async (tx) => {
    const { name, enrolledAt } = await lockAgent(tx, id)
    if (enrolledAt !== null && !confirm) throw apiError('err.invalidField', { extra: 'Confirm' })
    await replaceToken(tx, id, toStored(sealer, id, token))
    if (enrolledAt !== null) await loseSecretsOfAgent(tx, id)
    await tell(tx, 'UpdateAgent', { name, by, requestId, description: 'new enrolment token' })
  })
  await gateway.drop(id)
  return { ID: id, Token: token }
}

/** The token of an agent that has not used it, while it is good; else ''. */
export function openToken(sealer: Sealer, agent: AgentView): string {
  if (agent.tokenSealed === null || agent.enrolledAt !== null || !agent.tokenIsValid) return ''
  return sealer.open(agent.tokenSealed, tokenPlace(agent.id))
}

const tokenPlace = (id: string) => ({ table: 'agents', column: 'token_sealed', id })

const toStored = (sealer: Sealer, id: string, token: string): StoredToken => ({
  hash: hashToken(token),
  sealed: sealer.seal(token, tokenPlace(id)),
})

async function tell(
  tx: Kysely<DB>,
  kind: 'CreateAgent' | 'UpdateAgent' | 'DeleteAgent',
  { name, by, requestId, description }: Acting & { name: string; description?: string },
): Promise<void> {
  const fields = {
    AgentName: name,
    AdminName: by,
    ...(description !== undefined && { Description: description }),
  }
  await writeAudit(tx, [{ kind, fields }], requestId)
}

import type { Kysely } from 'kysely'
import { type AgentFacts, findAgentForBackend, hasAgents } from '../agents/agent-facts.query.ts'
import { checkCapable } from '../agents/compatibility.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import { noAgentId } from './backend.schema.ts'
import { type Backend, getBackend, lockBackend } from './backend.store.ts'
import type { Definition } from './definitions/definition.ts'
import { getDefinition } from './find-definition.ts'

/**
 * The agent that drives a backend, held until the transaction ends; null for kinds that firewalls fetch themselves.
 *
 * @throws err.createAgentBeforeBackend while there is none at all; err.agentIdInvalid for a missing, unknown or
 * needless one. With `mustFit` also what an agent lacks, see `checkCapable`.
 */
export async function takeAgent(
  tx: Kysely<DB>,
  definition: Definition,
  { agentId, mustFit }: { agentId: string | null; mustFit: boolean },
): Promise<AgentFacts | null> {
  const id = agentId === noAgentId ? null : agentId
  if (!definition.needsAgent) {
    if (id !== null) throw apiError('err.agentIdInvalid')
    return null
  }
  if (id === null)
    throw apiError((await hasAgents(tx)) ? 'err.agentIdInvalid' : 'err.createAgentBeforeBackend')
  const agent = await findAgentForBackend(tx, id)
  if (agent === undefined)
    throw apiError((await hasAgents(tx)) ? 'err.agentIdInvalid' : 'err.createAgentBeforeBackend')
  if (mustFit) checkCapable(definition, agent)
  return agent
}

/**
 * A backend with the agent that drives it, both held until the transaction ends; `agentId` names another agent
 * that is to drive it. Agents are locked before backends everywhere.
 *
 * @throws err.notFound; err.changedMeanwhile when the backend was moved between the two; what `takeAgent` throws.
 */
export async function takeBackend(
  tx: Kysely<DB>,
  id: string,
  { mode, agentId }: { mode: 'update' | 'share'; agentId?: string | null | undefined },
): Promise<{ backend: Backend; agent: AgentFacts | null }> {
  const seen = await getBackend(tx, id)
  const wanted = agentId === undefined ? seen.agentId : agentId
  const agent = await takeAgent(tx, getDefinition(seen.type), {
    agentId: wanted,
    mustFit: wanted !== seen.agentId,
  })
  const backend = await lockBackend(tx, id, mode)
  if (backend.agentId !== seen.agentId) throw apiError('err.changedMeanwhile')
  return { backend, agent }
}

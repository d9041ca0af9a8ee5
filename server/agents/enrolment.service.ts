import type { EnrolRequest } from '#machines/protocol.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import { toClientKey } from '../platform/http/ip-address.ts'
import { hashToken } from '../platform/random.ts'
import { findKey } from './agent-keys.ts'
import { countEnrolmentFailure, readEnrolmentWait } from './enrolment-limit.store.ts'
import { bindAgent, findAgentByToken } from './identity.store.ts'

/**
 * Enrols an agent: its token is good once, and the first key pair that brings it is the agent's for good. The same
 * keys again get the same answer, for a reply that was lost; other keys are refused.
 *
 * @throws err.invalidToken for a wrong, used up, expired or deleted one; err.agentKeyMismatch for other keys;
 * err.agentConflict for the same keys on another machine; err.invalidField for what is no such key;
 * err.tooManyRequests after too many failures from one address.
 */
export async function enrolAgent(
  { db }: Pick<Deps, 'db'>,
  request: EnrolRequest,
  { address, requestId }: { address: string; requestId: string | null },
): Promise<{ AgentID: string }> {
  const client = toClientKey(address)
  const waitSeconds = await readEnrolmentWait(db.grants, client)
  if (waitSeconds > 0) throw apiError('err.tooManyRequests', { retryAfterSeconds: waitSeconds })
  const keys = { publicKey: toKey(request, 'PublicKey'), sealingKey: toKey(request, 'SealingKey') }

  const verdict = await inTransaction(db.grants, async (tx) => {
    const agent = await findAgentByToken(tx, hashToken(request.Token))
    if (agent === undefined) return { refused: 'err.invalidToken' } as const
    const fields = { AgentName: agent.name, IpAddress: address }
    if (agent.publicKey === null) {
      if (!agent.isInTime) return { refused: 'err.invalidToken' } as const
      await bindAgent(tx, { id: agent.id, ...keys, machineId: request.MachineID })
      await writeAudit(tx, [{ kind: 'AgentEnrolled', fields }], requestId)
      return { agentId: agent.id }
    }
    const isSameKeys = agent.publicKey === keys.publicKey && agent.sealingKey === keys.sealingKey
    if (isSameKeys && agent.machineId === request.MachineID) return { agentId: agent.id }
    const refused = isSameKeys ? 'err.agentConflict' : 'err.agentKeyMismatch'
    await writeAudit(tx, [{ kind: 'AgentRefused', fields: { ...fields, ErrorMessage: refused } }], requestId)
    return { refused } as const
  })
  if (verdict.refused === undefined) return { AgentID: verdict.agentId }
  await countEnrolmentFailure(db.grants, client)
  throw apiError(verdict.refused)
}

const kinds = { PublicKey: 'ed25519', SealingKey: 'x25519' } as const

function toKey(request: EnrolRequest, field: keyof typeof kinds): string {
  const key = findKey(request[field], kinds[field])
  if (key === undefined) throw apiError('err.invalidField', { extra: field })
  return key
}

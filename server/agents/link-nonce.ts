import { timingSafeEqual } from 'node:crypto'
import type { Sealer } from '../platform/secrets.ts'

/**
 * What an agent signs to open its link: the time it was drawn (microseconds by the database's clock) and proof
 * that this installation drew it for this agent. Nothing is kept of it, so any replica can check it.
 */
export const createNonce = (sealer: Sealer, agentId: string, drawnAtUs: number): string =>
  `${drawnAtUs}.${proofOf(sealer, agentId, drawnAtUs)}`

/** When a nonce was drawn, if it is one of ours for this agent. Age and use are the database's to judge. */
export function readNonce(sealer: Sealer, agentId: string, nonce: string): number | undefined {
  const [, time = '', proof = ''] = /^(\d{1,16})\.([0-9a-f]{64})$/.exec(nonce) ?? []
  if (time === '') return undefined
  const drawnAtUs = Number(time)
  return timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(sealer, agentId, drawnAtUs)))
    ? drawnAtUs
    : undefined
}

const proofOf = (sealer: Sealer, agentId: string, drawnAtUs: number): string =>
  sealer.hmac('agent link nonce', `${agentId}\n${drawnAtUs}`)

import { createPublicKey } from 'node:crypto'
import type { TargetDescription } from '#machines/protocol.ts'
import { hpkeSeal } from '#server/backends/hpke.ts'
import { backendField, deviceOf, isInsecure, sealBindingText } from '#server/backends/sealing.schema.ts'

/** A target with a secret of its backend, sealed to an agent as the server seals. `sealingKey` is SPKI DER in base64. */
export function withSecret(
  target: TargetDescription,
  { name, value, agentId, sealingKey }: { name: string; value: string; agentId: string; sealingKey: string },
): TargetDescription {
  const { backendId, type, backend } = target
  const field = backendField(name)
  const binding = {
    agentId,
    backendId,
    type,
    device: deviceOf(backend),
    insecure: isInsecure(backend),
    field,
  }
  const sealed = hpkeSeal(Buffer.from(value), {
    recipient: createPublicKey({ key: Buffer.from(sealingKey, 'base64'), format: 'der', type: 'spki' }),
    info: Buffer.from(sealBindingText(binding)),
    aad: Buffer.alloc(0),
  })
  return { ...target, sealed: { ...target.sealed, [field]: sealed.toString('base64') } }
}

import type { KeyObject } from 'node:crypto'
import type { TargetDescription } from '#machines/protocol.ts'
import { hpkeOpen } from '#server/backends/hpke.ts'
import { deviceOf, isInsecure, sealBindingText } from '#server/backends/sealing.schema.ts'

/** Opens one sealed field of a target; undefined when it isn't there or was not made for exactly this use. */
export type Unseal = (target: TargetDescription, field: string) => string | undefined

/**
 * Opens with the agent's own key what the server sealed for it. What a value is for is rebuilt from the order itself:
 * a secret pointed at another device, backend, field or agent does not open (decision 15).
 */
export const createUnseal =
  (key: KeyObject, agentId: () => string | null): Unseal =>
  (target, field) => {
    const sealed = target.sealed[field]
    const id = agentId()
    if (sealed === undefined || id === null) return undefined
    const binding = sealBindingText({
      agentId: id,
      backendId: target.backendId,
      type: target.type,
      device: deviceOf(target.backend),
      insecure: isInsecure(target.backend),
      field,
    })
    try {
      const plain = hpkeOpen(Buffer.from(sealed, 'base64'), {
        recipient: key,
        info: Buffer.from(binding),
        aad: Buffer.alloc(0),
      })
      return plain.toString('utf8')
    } catch {
      return undefined
    }
  }

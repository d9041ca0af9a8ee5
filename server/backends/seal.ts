import { createPublicKey } from 'node:crypto'
import { apiError } from '../errors.ts'
import { hpkeSeal } from './hpke.ts'
import { type SealBinding, type Sealed, sealBindingText } from './sealing.schema.ts'

/** To whom and for what a set of secrets is sealed: everything of the binding but the field. */
export type SealFor = Omit<SealBinding, 'field' | 'agentId'> & {
  agent: { id: string; sealingKey: string | null } | null
}

/**
 * Seals values by path to the agent that will use them; from then on the server can't read them.
 *
 * @throws err.agentNeverConnected when there is a secret but no key yet to seal it to.
 */
export function sealFields(plain: Readonly<Record<string, string>>, { agent, ...to }: SealFor): Sealed {
  const fields = Object.entries(plain)
  if (fields.length === 0) return {}
  if (agent === null || agent.sealingKey === null) throw apiError('err.agentNeverConnected')
  const { id: agentId, sealingKey } = agent
  const recipient = createPublicKey({
    key: Buffer.from(sealingKey, 'base64'),
    format: 'der',
    type: 'spki',
  })
  return Object.fromEntries(
    fields.map(([field, value]) => {
      const info = Buffer.from(sealBindingText({ ...to, agentId, field }))
      const sealed = hpkeSeal(Buffer.from(value), { recipient, info, aad: Buffer.alloc(0) })
      return [field, sealed.toString('base64')]
    }),
  )
}

/** A secret whose key is gone: it stands in the place of the sealed value until the secret is given again. */
export const lost = ''

/** Paths of secrets that have to be given again. */
export const listLost = (sealed: Sealed): string[] =>
  Object.keys(sealed).filter((field) => sealed[field] === lost)

import { createPublicKey, verify } from 'node:crypto'
import { hpkeSeal } from '../backends/hpke.ts'

/**
 * An agent's public key in its one spelling (SPKI DER in base64), or undefined when it isn't one of that kind.
 * A sealing key is tried out, so that one of small order, with which everybody shares a secret, is refused.
 */
export function findKey(base64: string, kind: 'ed25519' | 'x25519'): string | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' })
    if (key.asymmetricKeyType !== kind) return undefined
    const none = Buffer.alloc(0)
    if (kind === 'x25519') hpkeSeal(none, { recipient: key, info: none, aad: none })
    return key.export({ format: 'der', type: 'spki' }).toString('base64')
  } catch {
    return undefined
  }
}

/** Whether a text was signed with the private half of a pinned Ed25519 key. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))
}

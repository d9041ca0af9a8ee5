import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Sealer } from '../platform/secrets.ts'

/** A nonce that this installation made: for whom and when, by the database's clock. */
export type KnownNonce = { sessionId: string; issuedAt: Date }

type Signer = Pick<Sealer, 'hmac'>

/**
 * A one-time word that a browser shows to the lookup ports, so that they know whose address they see (decision 8).
 * Nothing is stored for it: it names the session and its time and is signed. It opens nothing by itself, and gives
 * no access to the session.
 */
export function makeNonce(sealer: Signer, { sessionId, issuedAt }: KnownNonce): string {
  const said = [sessionId, issuedAt.getTime().toString(36), randomBytes(6).toString('base64url')].join('.')
  return `${said}.${sign(sealer, said)}`
}

/** Reads one; undefined for whatever this installation did not make. Its age is for the caller to judge. */
export function readNonce(sealer: Signer, nonce: string): KnownNonce | undefined {
  const [, said = '', sessionId = '', time = '', signature = ''] = shape.exec(nonce) ?? []
  if (said === '' || !isSame(signature, sign(sealer, said))) return undefined
  return { sessionId, issuedAt: new Date(Number.parseInt(time, 36)) }
}

const shape = /^(([\da-f-]{36})\.([\da-z]{1,10})\.[\w-]{8})\.([\w-]{43})$/

const sign = (sealer: Signer, said: string): string =>
  Buffer.from(sealer.hmac('lookup nonce', said), 'hex').toString('base64url')

const isSame = (one: string, two: string): boolean =>
  one.length === two.length && timingSafeEqual(Buffer.from(one), Buffer.from(two))

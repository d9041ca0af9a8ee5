import type { ErrorCode } from '../errors.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import { createAddressMatcher } from '../platform/http/ip-address.ts'
import type { ApiKeyFacts } from './api-key.query.ts'

/**
 * Why a key is refused, in the audit log's words, and what its bearer is told. Whether a key that is of no use
 * (any more) ever was one stays with us; what a true key may not is said.
 */
export const keyRefusals = {
  unknown: 'err.invalidApiKey',
  deleted: 'err.invalidApiKey',
  expired: 'err.invalidApiKey',
  wrongPurpose: 'err.apiKeyNotPermitted',
  untrustedProxy: 'err.proxyNotTrusted',
  foreignAddress: 'err.addressNotAllowed',
} as const satisfies Record<string, ErrorCode>
export type KeyRefusal = keyof typeof keyRefusals

/**
 * What keeps a key from being used here, by this client, for this; undefined = nothing does. `scopeOf` names the
 * scope that the call asks for.
 */
export function findKeyRefusal(
  key: ApiKeyFacts | undefined,
  {
    purpose,
    scopeOf,
    client,
  }: { purpose: string; scopeOf: (key: ApiKeyFacts) => string; client: ClientAddress },
): KeyRefusal | undefined {
  if (key === undefined) return 'unknown'
  if (key.isDeleted) return 'deleted'
  if (key.isExpired) return 'expired'
  if (key.purpose !== purpose || !key.scopes.includes(scopeOf(key))) return 'wrongPurpose'
  if (client.viaUntrustedProxy !== false) return 'untrustedProxy'
  return isAllowedFrom(key.allowedFrom, client.address) ? undefined : 'foreignAddress'
}

/** Whether an address is in one of a key's ranges. */
export const isAllowedFrom = (allowedFrom: readonly { prefix: string }[], address: string): boolean =>
  createAddressMatcher(allowedFrom.map(({ prefix }) => prefix))(address)

import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApiKeyFacts } from '../api-keys/api-key.query.ts'
import { findKeyRefusal, isAllowedFrom, type KeyRefusal } from '../api-keys/api-key-check.ts'
import { listPurpose, listScope } from '../api-keys/list-key.service.ts'
import type { ErrorCode } from '../errors.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import type { Allowlist } from './allowlist.query.ts'

/**
 * Why a list isn't given, and what is said: 404 alike for no list and another token, 401 for a key that was looked up
 * and found wrong, 403 for an address. Specification README "Lists without a key".
 */
export const listRefusals = {
  unknownList: 'err.notFound',
  missing: 'err.invalidApiKey',
  unknown: 'err.invalidApiKey',
  deleted: 'err.invalidApiKey',
  expired: 'err.invalidApiKey',
  wrongPurpose: 'err.invalidApiKey',
  untrustedProxy: 'err.proxyNotTrusted',
  foreignAddress: 'err.addressNotAllowed',
} as const satisfies Record<'unknownList' | 'missing' | KeyRefusal, ErrorCode>
export type ListRefusal = keyof typeof listRefusals

/** Who asks for a list, and by which of its tokens. */
export type ListReader = {
  token: string
  client: ClientAddress
  /** What was looked up under the key that was shown; null when none was. */
  key: { facts: ApiKeyFacts | undefined; hasRead: boolean } | null
}

/** What keeps somebody from reading a list; undefined = nothing does. */
export function findListRefusal(
  list: Allowlist | undefined,
  { token, client, key }: ListReader,
): ListRefusal | undefined {
  if (list === undefined || !isSame(list.settings.Token, token)) return 'unknownList'
  const { AllowAccessByIp, AllowedIpAddresses } = list.settings
  if (AllowAccessByIp) {
    if (client.viaUntrustedProxy !== false) return 'untrustedProxy'
    return isAllowedFrom(AllowedIpAddresses, client.address) ? undefined : 'foreignAddress'
  }
  if (key === null) return 'missing'
  const scope = listScope(list.id)
  const facts = withLastingScope(list, key, scope)
  return findKeyRefusal(facts, { purpose: listPurpose, scopeOf: () => scope, client })
}

/** Deleting a knoc takes the scopes that name it; who has read its list has to be told that it is empty now. */
function withLastingScope(
  { isDeleted, settings }: Allowlist,
  { facts, hasRead }: NonNullable<ListReader['key']>,
  scope: string,
): ApiKeyFacts | undefined {
  const isReader = isDeleted && (hasRead || facts?.id === settings.ApiKeyId)
  return facts && isReader ? { ...facts, scopes: [scope] } : facts
}

/** Compares in the same time wherever they differ. */
const isSame = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

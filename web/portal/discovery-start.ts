import type { QueryClient } from '@tanstack/react-query'
import { isFailure } from '../api.ts'
import type { FoundAddress } from './discovery-lookup.ts'
import { knownSession, refreshSession, type UserSession } from './user-session.ts'

/** A nonce is good for 60 s; one that is older than this is not shown to a lookup any more, in milliseconds. */
const nonceGoodForMs = 50_000

/** The session with a nonce that a lookup can still use, its status read anew if need be; null when there is none. */
export async function sessionForLookup(queryClient: QueryClient): Promise<UserSession | null> {
  const known = knownSession(queryClient)
  const session = known && hasFreshNonce(known) ? known : await refreshSession(queryClient)
  return session && session.status.Nonce !== '' ? session : null
}

/** By the server's clock, so that a browser's that was set right in between doesn't matter. */
export function hasFreshNonce({ status, offsetMs }: UserSession, now = Date.now()): boolean {
  const ageMs = now + offsetMs - Date.parse(status.Now)
  return status.Nonce !== '' && ageMs >= 0 && ageMs < nonceGoodForMs
}

/** What is left of `IPs` when the server says which one doesn't count; null when it says something else. */
export function withoutRefused(IPs: readonly FoundAddress[], error: unknown): FoundAddress[] | null {
  if (!isFailure(error, 'err.addressNotSeen') && !isFailure(error, 'err.addressNotGrantable')) return null
  const rest = IPs.filter(({ IP }) => IP !== error.extra)
  return rest.length < IPs.length ? rest : null
}

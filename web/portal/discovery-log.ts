import type { QueryClient } from '@tanstack/react-query'
import { isFailure } from '../api.ts'
import type { FoundAddress, Lookup } from './discovery-lookup.ts'
import { withoutRefused } from './discovery-start.ts'
import { logIps } from './portal-api.ts'
import { refreshSession } from './user-session.ts'

/** Late answers are told in two batches: what came within this time, then the rest. In milliseconds. */
const firstBatchMs = 2_000

/**
 * Tells the server what a lookup finds from now on. Answers whether it took anything.
 *
 * @throws err.sessionExpired: too many addresses, a new sign-in is wanted
 */
export async function logRest(lookup: Lookup, queryClient: QueryClient): Promise<boolean> {
  const soon = await logFound(await lookup.take(sleep(firstBatchMs)), queryClient)
  const late = await logFound(await lookup.take(never), queryClient)
  return soon || late
}

/**
 * Ties found addresses to the session. What the server has not seen is left out, and an address of this page that it
 * doesn't know is re-validated first; any other refusal leaves things as they are, the next lookup comes by itself.
 */
async function logFound(found: readonly FoundAddress[], queryClient: QueryClient): Promise<boolean> {
  let IPs = [...found]
  let hasRevalidated = false
  while (IPs.length > 0) {
    try {
      await logIps(IPs)
      return true
    } catch (error) {
      if (isFailure(error, 'err.sessionExpired')) throw error
      if (isFailure(error, 'err.addressChanged') && !hasRevalidated) {
        hasRevalidated = true
        await refreshSession(queryClient, { isRevalidation: true })
      } else IPs = withoutRefused(IPs, error) ?? []
    }
  }
  return false
}

const never = new Promise<never>(() => {})
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

import type { MiddlewareHandler } from 'hono'
import { apiError } from '../../errors.ts'
import type { Clock } from '../clock.ts'
import type { HttpEnv } from './http-env.ts'
import { toClientKey } from './ip-address.ts'

/** How many requests one client may make. */
export interface RateLimit {
  /** As many at once after a pause. */
  burst: number
  /** As many a minute in the long run. */
  perMinute: number
  /** How many clients are remembered; the ones longest away are forgotten first. */
  mostClients?: number
}

interface Bucket {
  tokens: number
  filledAt: number
}

/**
 * Limits requests by client address (IPv6 by /64), counted in this replica's memory; beyond the limit it
 * answers err.tooManyRequests with Retry-After, Extra the seconds. Needs `clientAddressOf` before it.
 */
export function rateLimit(limit: RateLimit, clock: Clock): MiddlewareHandler<HttpEnv> {
  const take = createBuckets(limit, clock)
  return async function limitRate(c, next) {
    const waitSeconds = take(toClientKey(c.var.client.address))
    if (waitSeconds > 0) throw apiError('err.tooManyRequests', { retryAfterSeconds: waitSeconds })
    await next()
  }
}

/** Token buckets by key: 0 when a token was there and taken, else the whole seconds until the next one. */
function createBuckets(
  { burst, perMinute, mostClients = 20_000 }: RateLimit,
  clock: Clock,
): (key: string) => number {
  const perMillisecond = perMinute / 60_000
  const buckets = new Map<string, Bucket>()
  return function take(key) {
    const now = clock.now().getTime()
    const { tokens, filledAt } = buckets.get(key) ?? { tokens: burst, filledAt: now }
    const filled = Math.min(burst, tokens + Math.max(0, now - filledAt) * perMillisecond)
    const isAllowed = filled >= 1
    // Taken out and put in again, the map stays ordered by last use.
    buckets.delete(key)
    buckets.set(key, { tokens: isAllowed ? filled - 1 : filled, filledAt: now })
    const [oldest] = buckets.size > mostClients ? buckets.keys().take(1) : []
    if (oldest !== undefined) buckets.delete(oldest)
    return isAllowed ? 0 : Math.ceil((1 - filled) / perMillisecond / 1000)
  }
}

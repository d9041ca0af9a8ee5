import { apiError } from '../errors.ts'

const longestQueue = 200
const retryAfterSeconds = 2

/**
 * Lets no more than so many works run at once. 200 may wait, and whoever comes then is told err.serviceUnavailable
 * with Retry-After: a storm must not take the memory or the processor that revokes need (decision 33).
 */
export function createTurns(places: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = places

  return async function inTurn(work) {
    if (free > 0) free -= 1
    else if (waiting.length >= longestQueue) throw apiError('err.serviceUnavailable', { retryAfterSeconds })
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

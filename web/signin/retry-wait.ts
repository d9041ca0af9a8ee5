import { ApiFailure } from '../api.ts'
import { useNow } from '../components/use-now.ts'

/** Whether a refusal names the seconds to wait before the next try (429). */
export const asksToWait = (failure: unknown): failure is ApiFailure =>
  failure instanceof ApiFailure && failure.status === 429 && /^\d+$/.test(failure.extra ?? '')

/** Seconds that a refusal asks to wait still, rounded up; 0 when there is nothing to wait for. */
export function useRetryWait(failure: unknown): number {
  return retryWait(failure, useNow(1_000))
}

/** The same at a moment of the browser's clock, in milliseconds. */
export function retryWait(failure: unknown, now: number): number {
  if (!asksToWait(failure)) return 0
  return Math.max(0, Math.ceil((failure.receivedAt - now) / 1_000 + Number(failure.extra)))
}

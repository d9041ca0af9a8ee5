import { expiresSoonMs } from '#machines/grant-status.ts'
import { useNow } from '../components/use-now.ts'

/** From here the warning is one that can't be overlooked, in milliseconds before the end. */
export const expiresVerySoonMs = 5 * 60_000

/** How near a session's end is: nothing to say, a quiet line, a warning, over. */
export type ExpiryStage = 'far' | 'soon' | 'verySoon' | 'over'

/** The stage with so many milliseconds left. */
export function expiryStage(leftMs: number): ExpiryStage {
  if (leftMs <= 0) return 'over'
  if (leftMs <= expiresVerySoonMs) return 'verySoon'
  return leftMs <= expiresSoonMs ? 'soon' : 'far'
}

/** The time left until a session's end and its stage, read again every second. `offsetMs`: what the server's clock is ahead. */
export function useSessionExpiry({ endsAt, offsetMs }: { endsAt: number; offsetMs: number }): {
  leftMs: number
  stage: ExpiryStage
} {
  const leftMs = endsAt - (useNow(1_000) + offsetMs)
  return { leftMs, stage: expiryStage(leftMs) }
}

import { expiresSoonMs } from './grant-status.ts'

/** How far a session is from its end; the last 15 minutes are `expiringSoon`. Portal §9. */
export type SessionState = 'active' | 'expiringSoon' | 'ended'

/**
 * How far a session that nobody ended is from its end, both instants in milliseconds by the server's clock. A function
 * of time alone: nothing happens to a session between its beginning and its end, a later one is another session.
 */
export function sessionState(endsAt: number, now: number): SessionState {
  if (endsAt <= now) return 'ended'
  return endsAt - now < expiresSoonMs ? 'expiringSoon' : 'active'
}

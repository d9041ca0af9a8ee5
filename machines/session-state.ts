import { expiresSoonMs } from './grant-status.ts'

/** How far a session is from its end. */
export type SessionState = 'active' | 'expiringSoon' | 'ended'

/** A session's state by its row, at a moment. Apart from the machine: a page that counts down needs no more. */
export const toSessionState = (row: {
  endedAt: number | null
  endsAt: number
  now: number
}): SessionState => {
  if (row.endedAt !== null || row.endsAt <= row.now) return 'ended'
  return row.endsAt - row.now < expiresSoonMs ? 'expiringSoon' : 'active'
}

import { expect, test } from 'vitest'
import { expiresSoonMs } from './grant-status.ts'
import { sessionState } from './session-state.ts'

const endsAt = 36_000_000

test.each([
  [0, 'active'],
  [endsAt - expiresSoonMs, 'active'],
  [endsAt - expiresSoonMs + 1, 'expiringSoon'],
  [endsAt - 1, 'expiringSoon'],
  [endsAt, 'ended'],
  [endsAt + 1, 'ended'],
])('a session that ends at 36,000,000 is at %i %s', (now, state) => {
  expect(sessionState(endsAt, now)).toBe(state)
})

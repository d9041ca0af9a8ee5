import { expect, it } from 'vitest'
import { tokenState } from './token-state.ts'

const now = Date.parse('2026-11-21T12:00:00Z')

it.each([
  [{ Token: 'abc', TokenExpires: '2026-11-28T12:00:00Z' }, 'good'],
  [{ Token: 'abc', TokenExpires: null }, 'good'],
  [{ Token: '', TokenExpires: null }, 'used'],
  [{ Token: 'abc', TokenExpires: '2026-11-21T12:00:00Z' }, 'expired'],
  [{ Token: '', TokenExpires: '2026-11-20T12:00:00Z' }, 'expired'],
] as const)('%j is %s', (agent, state) => {
  expect(tokenState(agent, now)).toBe(state)
})

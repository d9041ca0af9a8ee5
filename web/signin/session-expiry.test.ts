import { expect, it } from 'vitest'
import { expiryStage } from './session-expiry.ts'

it.each([
  [15 * 60_000 + 1, 'far'],
  [15 * 60_000, 'soon'],
  [5 * 60_000 + 1, 'soon'],
  [5 * 60_000, 'verySoon'],
  [1, 'verySoon'],
  [0, 'over'],
  [-1, 'over'],
])('with %d ms left a session’s end is %s', (leftMs, stage) => expect(expiryStage(leftMs)).toBe(stage))

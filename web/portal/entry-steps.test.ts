import { expect, it } from 'vitest'
import { ageInSteps, leftInSteps } from './entry-steps.ts'

it('time left runs in minutes, in the last one in seconds, and ends at nothing', () => {
  expect([7_259_999, 60_000, 59_999, 1_000, 999, 0, -5].map(leftInSteps)).toEqual([
    7_200_000, 60_000, 59_000, 1_000, 0, 0, 0,
  ])
})

it('time gone by runs in tenths of a second, in 5 seconds from 10 on, in minutes from one on', () => {
  expect([-5, 0, 449, 9_999, 14_999, 59_999, 60_000, 179_999].map(ageInSteps)).toEqual([
    0, 0, 400, 9_900, 10_000, 55_000, 60_000, 120_000,
  ])
})

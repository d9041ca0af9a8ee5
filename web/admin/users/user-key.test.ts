import { expect, it } from 'vitest'
import { expiryOf } from './user-key.ts'

it('lets a key end 12 or 24 months from now, or never', () => {
  const now = new Date('2026-11-21T12:00:00Z')
  expect(expiryOf('12', now)).toBe('2027-11-21T12:00:00.000Z')
  expect(expiryOf('24', now)).toBe('2028-11-21T12:00:00.000Z')
  expect(expiryOf('never', now)).toBeNull()
})

it('ends on the last day of a month that is too short', () => {
  expect(expiryOf('12', new Date('2028-02-29T12:00:00Z'))).toBe('2029-02-28T12:00:00.000Z')
})

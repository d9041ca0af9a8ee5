import { describe, expect, test } from 'vitest'
import {
  dayMs,
  daysToExpiry,
  expiryConfirmedMs,
  isLicensed,
  type Licence,
  licenceState,
  sessionLimit,
  userAllowance,
  userOverage,
} from './licence.ts'

const expiresAt = 1_000 * dayMs
const licence = (given: Partial<Licence> = {}): Licence => ({
  userLimit: 100,
  sessionLimit: 3,
  overagePercentage: 50,
  expiresAt,
  ...given,
})

describe('the licence', () => {
  test.each([
    { licence: null, now: 0, expirySeenAt: null, state: 'removed' },
    { licence: licence({ expiresAt: null }), now: 9e15, expirySeenAt: null, state: 'active' },
    { licence: licence(), now: expiresAt - 60 * dayMs - 1, expirySeenAt: null, state: 'active' },
    { licence: licence(), now: expiresAt - 60 * dayMs, expirySeenAt: null, state: 'expiring' },
    { licence: licence(), now: expiresAt, expirySeenAt: null, state: 'expiring' },
    { licence: licence(), now: expiresAt + dayMs, expirySeenAt: expiresAt + dayMs, state: 'expiring' },
    {
      licence: licence(),
      now: expiresAt + expiryConfirmedMs - 1,
      expirySeenAt: expiresAt,
      state: 'expiring',
    },
    { licence: licence(), now: expiresAt + expiryConfirmedMs, expirySeenAt: expiresAt, state: 'expired' },
    { licence: licence(), now: expiresAt - 1, expirySeenAt: expiresAt - dayMs, state: 'expiring' },
  ])('is $state at $now, its end first seen at $expirySeenAt', ({ licence, state, ...when }) => {
    expect(licenceState(licence, when)).toBe(state)
  })

  test('allows new grants while active or expiring only', () => {
    expect((['removed', 'active', 'expiring', 'expired'] as const).map(isLicensed)).toEqual([
      false,
      true,
      true,
      false,
    ])
  })

  test('counts whole days to its end', () => {
    expect(daysToExpiry(licence(), expiresAt - 2.5 * dayMs)).toBe(2)
    expect(daysToExpiry(licence(), expiresAt + dayMs)).toBe(0)
    expect(daysToExpiry(licence({ expiresAt: null }), 0)).toBeNull()
  })

  test.each([
    { limit: 100, percentage: 50, overage: 50 },
    { limit: 5, percentage: 50, overage: 2 },
    { limit: 1, percentage: 50, overage: 0 },
    { limit: 33, percentage: 10, overage: 3 },
    { limit: 100, percentage: 0, overage: 0 },
  ])('tolerates $overage above $limit at $percentage %', ({ limit, percentage, overage }) => {
    expect(userOverage(limit, percentage)).toBe(overage)
  })

  test.each([
    {
      users: 99,
      remaining: 51,
      isExceeded: false,
      isFarExceeded: false,
      canCreate: true,
      licensedUsers: null,
    },
    {
      users: 100,
      remaining: 50,
      isExceeded: false,
      isFarExceeded: false,
      canCreate: true,
      licensedUsers: null,
    },
    {
      users: 101,
      remaining: 49,
      isExceeded: true,
      isFarExceeded: false,
      canCreate: true,
      licensedUsers: null,
    },
    {
      users: 130,
      remaining: 20,
      isExceeded: true,
      isFarExceeded: false,
      canCreate: true,
      licensedUsers: null,
    },
    {
      users: 131,
      remaining: 19,
      isExceeded: true,
      isFarExceeded: true,
      canCreate: true,
      licensedUsers: null,
    },
    { users: 149, remaining: 1, isExceeded: true, isFarExceeded: true, canCreate: true, licensedUsers: null },
    {
      users: 150,
      remaining: 0,
      isExceeded: true,
      isFarExceeded: true,
      canCreate: false,
      licensedUsers: null,
    },
    { users: 151, remaining: 0, isExceeded: true, isFarExceeded: true, canCreate: false, licensedUsers: 150 },
  ])(
    'with $users users of 100: remaining $remaining, more may be made: $canCreate',
    ({ users, ...expected }) => {
      expect(userAllowance(licence(), users)).toEqual({ limit: 100, overage: 50, ...expected })
    },
  )

  test('sets no user limit without one, or without a licence', () => {
    for (const none of [null, licence({ userLimit: null })])
      expect(userAllowance(none, 1_000_000)).toMatchObject({ canCreate: true, remaining: null, limit: null })
  })

  test('lets a user have the smaller number of sessions, and any number when nobody says one', () => {
    expect(sessionLimit(licence(), 5)).toBe(3)
    expect(sessionLimit(licence(), 2)).toBe(2)
    expect(sessionLimit(licence(), null)).toBe(3)
    expect(sessionLimit(licence({ sessionLimit: null }), null)).toBeNull()
    expect(sessionLimit(null, 4)).toBe(4)
    expect(sessionLimit(null, null)).toBeNull()
  })
})

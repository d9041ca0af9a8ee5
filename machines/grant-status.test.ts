import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buttonFor,
  canGrant,
  type EntryFacts,
  expiresSoon,
  type GrantFacts,
  isStatusNumber,
  pollStops,
  statuses,
  statusNumbers,
  statusOf,
  toEntryFacts,
} from './grant-status.ts'

const seen: EntryFacts = { desired: 'open', settled: true, outcome: 'verified', seenOpen: true }
const waiting: EntryFacts = { desired: 'open', settled: false, outcome: null, seenOpen: false }
const renewing: EntryFacts = { ...waiting, seenOpen: true }
const failed: EntryFacts = { ...waiting, outcome: 'failed' }
const closing: EntryFacts = { desired: 'closed', settled: false, outcome: null, seenOpen: true }
const unseenClosing: EntryFacts = { ...closing, seenOpen: false }
const closeFailed: EntryFacts = { ...closing, outcome: 'failed' }
const closed: EntryFacts = { desired: 'closed', settled: true, outcome: 'verified', seenOpen: false }

const facts = (given: Partial<GrantFacts> = {}): GrantFacts => ({
  passive: false,
  agentOnline: true,
  live: false,
  everGranted: false,
  grantError: false,
  entries: [],
  ...given,
})
const live = (entries: EntryFacts[], given: Partial<GrantFacts> = {}) =>
  facts({ live: true, entries, ...given })
const over = (entries: EntryFacts[], given: Partial<GrantFacts> = {}) =>
  facts({ everGranted: true, entries, ...given })
const away = { agentOnline: false }
const passive = { passive: true }

describe('the status', () => {
  test.each([
    [4, 'before the first click', facts()],
    [4, 'before the first click, the agent away', facts(away)],
    [2, 'just granted, not ordered yet', live([])],
    [2, 'waiting for the agent to open', live([waiting])],
    [2, 'one address open, one waiting', live([seen, waiting])],
    [3, 'waiting to open, the agent away', live([waiting], away)],
    [0, 'seen open', live([seen])],
    [0, 'reported open by a script', live([{ ...seen, outcome: 'reported' }])],
    [0, 'open while the agent is away', live([seen], away)],
    [0, 'open while a later end is under way', live([renewing])],
    [0, 'open while a later end waits for the agent', live([renewing], away)],
    [0, 'open, and one more address waits for an agent that is away', live([seen, waiting], away)],
    [0, 'open at the new address, the old one still closing', live([seen, closing])],
    [1, 'opening failed', live([failed])],
    [1, 'opening failed at one of two addresses', live([seen, failed])],
    [1, 'no order could be made', live([], { grantError: true })],
    [4, 'a click’s error was shown for 30 s', facts({ grantError: true, everGranted: true })],
    [
      4,
      'a click’s error was shown, what never stood is being cleared',
      over([unseenClosing], { grantError: true }),
    ],
    [8, 'a click’s error was shown, but one address had opened', over([closing], { grantError: true })],
    [8, 'closing', over([closing])],
    [8, 'closing what was ordered and not yet seen', over([unseenClosing])],
    [8, 'a close that waits for the agent', over([closing], away)],
    [10, 'a close that failed', over([closeFailed])],
    [10, 'one of two closes failed', over([closing, closeFailed])],
    [10, 'a close that failed, the agent away since', over([closeFailed], away)],
    [9, 'closed', over([closed])],
    [9, 'revoked, while somebody else behind the address holds the door', over([seen])],
    [9, 'all rows gone', over([])],
    [6, 'published', live([{ ...waiting }], passive)],
    [6, 'published before any row', live([], passive)],
    [5, 'read', live([renewing], passive)],
    [6, 'one of two addresses read', live([renewing, waiting], passive)],
    [8, 'revoked after it was read', over([closing], passive)],
    [9, 'revoked, a list without it was served', over([closed], passive)],
    [9, 'revoked, never read', over([unseenClosing], passive)],
    [9, 'revoked, others still on the list', over([renewing], passive)],
    [6, 'granted again while revoking', live([waiting, closing], passive)],
  ] as const)('is %i: %s', (status, _, given) => {
    expect(statusOf(given)).toBe(status)
  })

  test('is one of the table’s numbers whatever the facts, and 3 only without the agent', () => {
    const entry = fc.record({
      desired: fc.constantFrom('open' as const, 'closed' as const),
      settled: fc.boolean(),
      outcome: fc.constantFrom('verified' as const, 'reported' as const, 'failed' as const, null),
      seenOpen: fc.boolean(),
    })
    const any = fc.record({
      passive: fc.boolean(),
      agentOnline: fc.boolean(),
      live: fc.boolean(),
      everGranted: fc.boolean(),
      grantError: fc.boolean(),
      entries: fc.array(entry, { maxLength: 4 }),
    })
    fc.assert(
      fc.property(any, (given) => {
        const status = statusOf(given)
        expect(isStatusNumber(status)).toBe(true)
        if (status === 3) expect(given.agentOnline).toBe(false)
        if (status === 5 || status === 6) expect(given.passive && given.live).toBe(true)
        if (given.live) expect([8, 9, 10, 4]).not.toContain(status)
        else expect([4, 8, 9, 10]).toContain(status)
      }),
      { seed: 1, numRuns: 2_000 },
    )
  })

  test('an entry’s row is read by the generation of its newest order', () => {
    const row = {
      desired: 'open',
      generation: 7,
      appliedGeneration: 7,
      appliedDesired: 'open',
      failedGeneration: null,
      outcome: 'verified',
    } as const
    expect(toEntryFacts(row)).toEqual(seen)
    expect(toEntryFacts({ ...row, generation: 8 })).toEqual(renewing)
    expect(toEntryFacts({ ...row, generation: 8, desired: 'closed' })).toEqual(closing)
    expect(toEntryFacts({ ...row, generation: 8, desired: 'closed', failedGeneration: 8 })).toEqual(
      closeFailed,
    )
    expect(toEntryFacts({ ...row, generation: 9, desired: 'closed', failedGeneration: 8 })).toEqual(closing)
    expect(
      toEntryFacts({
        ...row,
        appliedGeneration: 0,
        appliedDesired: null,
        failedGeneration: 7,
        outcome: null,
      }),
    ).toEqual(failed)
  })
})

describe('what hangs on it', () => {
  test('the table has every number of the specification but the reserved one', () => {
    expect(Object.keys(statuses).map(Number)).toEqual(statusNumbers)
    expect(isStatusNumber(7)).toBe(false)
  })

  test('grants are taken at 1, 3, 4, 9 and 10, and at 8 by a list', () => {
    expect(statusNumbers.filter((status) => canGrant(status))).toEqual([1, 3, 4, 9, 10])
    expect(statusNumbers.filter((status) => canGrant(status, { passive: true }))).toEqual([1, 3, 4, 8, 9, 10])
  })

  test('the poll goes on at 2 and 8 only', () => {
    expect(statusNumbers.filter((status) => !pollStops(status))).toEqual([2, 8])
  })

  const entry = { clickToGrant: true, disabled: false, expiresAt: null, now: 1_000 }

  test.each([
    [0, 'revoke'],
    [1, 'none'],
    [2, 'pending'],
    [3, 'none'],
    [4, 'grant'],
    [5, 'revoke'],
    [6, 'revoke'],
    [7, 'none'],
    [8, 'revoke'],
    [9, 'grant'],
    [10, 'none'],
  ] as const)('the button at %i is %s', (status, button) => {
    expect(buttonFor({ ...entry, status })).toBe(button)
  })

  test('an end ahead means Revoke, a past one doesn’t', () => {
    expect(buttonFor({ ...entry, status: 9, expiresAt: 1_001 })).toBe('revoke')
    expect(buttonFor({ ...entry, status: 9, expiresAt: 1_000 })).toBe('grant')
    expect(buttonFor({ ...entry, status: 1, expiresAt: 1_001 })).toBe('none')
  })

  test('grey or automatic entries have no button, pending shows through grey', () => {
    for (const status of [0, 4, 5, 6, 8, 9])
      expect(buttonFor({ ...entry, status, disabled: true })).toBe('none')
    expect(buttonFor({ ...entry, status: 2, disabled: true })).toBe('pending')
    for (const status of statusNumbers)
      expect(buttonFor({ ...entry, status, clickToGrant: false })).toBe('none')
  })

  test('the badge turns orange below 15 minutes, not at them, and not after the end', () => {
    expect(expiresSoon(900_000, 0)).toBe(false)
    expect(expiresSoon(899_999, 0)).toBe(true)
    expect(expiresSoon(5, 5)).toBe(false)
    expect(expiresSoon(null, 0)).toBe(false)
  })
})

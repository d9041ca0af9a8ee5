import { describe, expect, test } from 'vitest'
import {
  acceptOrder,
  bucketVerdict,
  closesAt,
  type JournalEntry,
  kernelTimeoutSeconds,
  shouldStand,
  toJournalEntry,
} from './journal.ts'
import { type Order, orderSchema } from './protocol.ts'

const targetId = '11111111-1111-4111-8111-111111111111'
const order = (given: Partial<Order> = {}): Order =>
  orderSchema.parse({
    targetId,
    address: '198.51.100.1',
    generation: 5,
    desired: 'open',
    untilMs: 100_000,
    silence: null,
    cut: true,
    userName: 'ada',
    ...given,
  })
const entry = (given: Partial<JournalEntry> = {}): JournalEntry => ({
  ...toJournalEntry(order(), 'e1'),
  ...given,
})

describe('an order at the agent', () => {
  test('replaces what is older, is refused when older itself, and is not applied twice', () => {
    const current = { epoch: 'e1', generation: 5 }
    expect(acceptOrder(undefined, current)).toBe('accept')
    expect(acceptOrder(current, { epoch: 'e1', generation: 4 })).toBe('stale')
    expect(acceptOrder(current, { epoch: 'e1', generation: 5 })).toBe('duplicate')
    expect(acceptOrder(current, { epoch: 'e1', generation: 6 })).toBe('accept')
  })

  test('counts whatever its generation when the database was restored', () => {
    expect(acceptOrder({ epoch: 'e1', generation: 900 }, { epoch: 'e2', generation: 1 })).toBe('accept')
  })

  test('is kept with all that it says', () => {
    const strict = order({ silence: { afterSeconds: 30, untilMs: 7 } })
    expect(toJournalEntry(strict, 'e1')).toEqual({
      targetId,
      address: '198.51.100.1',
      epoch: 'e1',
      generation: 5,
      desired: 'open',
      until: 100_000,
      silence: { afterSeconds: 30, until: 7 },
      cut: true,
      userName: 'ada',
    })
  })
})

describe('an entry at the agent', () => {
  test('stands until its end, and not at it', () => {
    expect(closesAt(entry(), { truthAt: 0 })).toBe(100_000)
    expect(shouldStand(entry(), { now: 99_999, truthAt: 0 })).toBe(true)
    expect(shouldStand(entry(), { now: 100_000, truthAt: 0 })).toBe(false)
    expect(shouldStand(entry({ desired: 'closed' }), { now: 0, truthAt: 0 })).toBe(false)
  })

  test.each([
    { truthAt: 0, until: 0, closes: 30_000, what: 'closes so long after the last truth' },
    { truthAt: 50_000, until: 0, closes: 80_000, what: 'closes later with each truth' },
    { truthAt: 90_000, until: 0, closes: 100_000, what: 'never outlives its end' },
    { truthAt: 0, until: 60_000, closes: 60_000, what: 'stands for a holder who keeps it' },
    { truthAt: 50_000, until: 60_000, closes: 80_000, what: 'stands for whichever is longer' },
    { truthAt: 0, until: 900_000, closes: 100_000, what: 'never outlives its end for a holder either' },
  ])('in a silence it $what', ({ truthAt, until, closes }) => {
    expect(closesAt(entry({ silence: { afterSeconds: 30, until } }), { truthAt })).toBe(closes)
  })

  test.each([
    { left: 1, seconds: 1 },
    { left: 999, seconds: 1 },
    { left: 1_000, seconds: 1 },
    { left: 1_001, seconds: 2 },
    { left: 0, seconds: 1 },
    { left: -5_000, seconds: 1 },
    { left: 28 * 86_400_000, seconds: 2_147_483 },
  ])('with $left ms left the kernel is told $seconds s', ({ left, seconds }) => {
    expect(kernelTimeoutSeconds(1_000_000 + left, 1_000_000)).toBe(seconds)
  })
})

describe('the whole truth of a bucket', () => {
  const verdict = (orders: Order[], journal: JournalEntry[], asOfGeneration = 10) =>
    bucketVerdict({ epoch: 'e1', asOfGeneration, orders, journal })

  test('closes what it does not name', () => {
    const lost = entry({ address: '198.51.100.9' })
    expect(verdict([order()], [entry(), lost])).toEqual({ upsert: [], close: [lost] })
  })

  test('leaves alone what is younger than itself', () => {
    expect(verdict([], [entry({ generation: 11 })])).toEqual({ upsert: [], close: [] })
    expect(verdict([], [entry({ generation: 10 })]).close).toHaveLength(1)
  })

  test('brings what the journal lacks or has older, never what is older itself', () => {
    expect(verdict([order()], []).upsert).toEqual([order()])
    expect(verdict([order()], [entry({ generation: 4 })]).upsert).toEqual([order()])
    expect(verdict([order()], [entry({ generation: 6, desired: 'closed' })]).upsert).toEqual([])
    expect(verdict([order()], [entry()]).upsert).toEqual([])
  })

  test('does not close twice', () => {
    expect(verdict([], [entry({ desired: 'closed' })])).toEqual({ upsert: [], close: [] })
  })

  test('of a new epoch outranks every generation of the old one', () => {
    const old = entry({ epoch: 'e0', generation: 900 })
    const other = entry({ epoch: 'e0', generation: 901, address: '198.51.100.9' })
    expect(verdict([order({ generation: 1 })], [old, other], 1)).toEqual({
      upsert: [order({ generation: 1 })],
      close: [other],
    })
  })

  test('takes an order that was drawn before it and came after it', () => {
    const [closed] = verdict([], [entry()], 10).close
    expect(closed?.generation).toBe(5)
    expect(acceptOrder(closed, { epoch: 'e1', generation: 9 })).toBe('accept')
    expect(acceptOrder(closed, { epoch: 'e1', generation: 5 })).toBe('duplicate')
  })
})

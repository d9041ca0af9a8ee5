import { describe, expect, test } from 'vitest'
import {
  type DesiredEntry,
  desiredEntry,
  extensionPauseMs,
  grantEnd,
  type Holder,
  type OrderedEntry,
  planEntry,
} from './access.ts'

const minute = 60_000
const holder = (given: Partial<Holder> = {}): Holder => ({
  grantId: 'g1',
  openedAt: 0,
  endsAt: 60 * minute,
  silenceSeconds: null,
  cut: false,
  userName: 'ada',
  ...given,
})
type OpenEntry = Extract<DesiredEntry, { desired: 'open' }>
const open = (given: Partial<OpenEntry> = {}): OpenEntry => ({
  desired: 'open',
  until: 60 * minute,
  silence: null,
  cut: false,
  userName: 'ada',
  ...given,
})
const ordered = (given: Partial<OrderedEntry> = {}): OrderedEntry => ({
  desired: 'open',
  until: 60 * minute,
  orderedUntil: 60 * minute,
  orderedAt: 0,
  silence: null,
  cut: false,
  generation: 1,
  ...given,
})

describe('what has to stand', () => {
  test('nobody, or only people whose time is over, hold no door', () => {
    expect(desiredEntry([], 0)).toEqual({ desired: 'closed' })
    expect(desiredEntry([holder({ endsAt: 5 })], 5)).toEqual({ desired: 'closed' })
  })

  test('a shared door lives until its latest end, under the name of whoever came first', () => {
    const first = holder({ grantId: 'g2', openedAt: 1, endsAt: 10 * minute, userName: 'ada' })
    const second = holder({ grantId: 'g1', openedAt: 2, endsAt: 20 * minute, userName: 'bob' })
    expect(desiredEntry([second, first], 0)).toEqual(open({ until: 20 * minute, userName: 'ada' }))
    expect(desiredEntry([second, first], 10 * minute)).toEqual(open({ until: 20 * minute, userName: 'bob' }))
  })

  test('two who came at the same moment are told apart by their grants', () => {
    const a = holder({ grantId: 'a', userName: 'ada' })
    const b = holder({ grantId: 'b', userName: 'bob' })
    expect(desiredEntry([b, a], 0)).toEqual(desiredEntry([a, b], 0))
  })

  test('its closing cuts connections if one holder wants that', () => {
    expect(desiredEntry([holder(), holder({ cut: true })], 0)).toEqual(open({ cut: true }))
  })

  test.each([
    { who: 'one who keeps', holders: [holder()], silence: null },
    {
      who: 'one who does not',
      holders: [holder({ silenceSeconds: 30 })],
      silence: { afterSeconds: 30, until: 0 },
    },
    {
      who: 'two who do not: the milder',
      holders: [holder({ silenceSeconds: 30 }), holder({ silenceSeconds: 90 })],
      silence: { afterSeconds: 90, until: 0 },
    },
    {
      who: 'a keeping one who ends first',
      holders: [holder({ endsAt: 10 * minute }), holder({ silenceSeconds: 30 })],
      silence: { afterSeconds: 30, until: 10 * minute },
    },
    {
      who: 'a keeping one who ends last',
      holders: [holder(), holder({ silenceSeconds: 30, endsAt: 10 * minute })],
      silence: null,
    },
    {
      who: 'a keeping one whose time is over',
      holders: [holder({ endsAt: 0 }), holder({ silenceSeconds: 30 })],
      silence: { afterSeconds: 30, until: 0 },
    },
  ])('through a silence of the server it stands for $who', ({ holders, silence }) => {
    expect(desiredEntry(holders, 0)).toEqual(open({ silence }))
  })

  test('a grant ends with the session, the account or its knoc, whichever is first', () => {
    const bounds = { now: 0, sessionEndsAt: 30, validUntil: 20, maximumGrantSeconds: null }
    expect(grantEnd(bounds)).toBe(20)
    expect(grantEnd({ ...bounds, validUntil: null })).toBe(30)
    expect(grantEnd({ ...bounds, sessionEndsAt: 90_000, validUntil: null, maximumGrantSeconds: 60 })).toBe(
      60_000,
    )
  })
})

describe('how it is ordered', () => {
  const closed = ordered({ desired: 'closed', until: 0, orderedUntil: 0 })

  test('opening and closing go at once, and what is so already is left alone', () => {
    expect(planEntry(closed, open(), 1)).toEqual({ kind: 'order', order: open() })
    expect(planEntry(ordered(), { desired: 'closed' }, 1)).toEqual({
      kind: 'order',
      order: { desired: 'closed' },
    })
    expect(planEntry(closed, { desired: 'closed' }, 1)).toEqual({ kind: 'unchanged' })
    expect(planEntry(ordered(), open(), 1)).toEqual({ kind: 'unchanged' })
  })

  test('an earlier end and another closing go at once', () => {
    const earlier = open({ until: 59 * minute })
    expect(planEntry(ordered(), earlier, 1)).toEqual({ kind: 'order', order: earlier })
    expect(planEntry(ordered(), open({ cut: true }), 1).kind).toBe('order')
    expect(planEntry(ordered({ cut: true }), open(), 1).kind).toBe('order')
  })

  test('a later end is remembered, and ordered 30 s after the last order', () => {
    const later = open({ until: 90 * minute })
    const plan = { kind: 'remember', until: 90 * minute, orderAt: extensionPauseMs }
    expect(planEntry(ordered(), later, 1)).toEqual(plan)
    expect(planEntry(ordered(), later, extensionPauseMs)).toEqual({ kind: 'order', order: later })
  })

  test('a later end is ordered before half of the time that the agent holds is gone', () => {
    const short = ordered({ until: 10_000, orderedUntil: 10_000 })
    expect(planEntry(short, open(), 1)).toEqual({ kind: 'remember', until: 60 * minute, orderAt: 5_000 })
    expect(planEntry(short, open(), 5_000).kind).toBe('order')
  })

  test('a later end for a door that the agent has closed by itself goes at once', () => {
    expect(planEntry(ordered({ orderedUntil: 5, until: 5 }), open(), 10).kind).toBe('order')
  })

  test('an end between the ordered and the remembered one takes nothing away from the agent', () => {
    const remembered = ordered({ until: 90 * minute })
    expect(planEntry(remembered, open({ until: 80 * minute }), 1)).toEqual({
      kind: 'remember',
      until: 80 * minute,
      orderAt: extensionPauseMs,
    })
    expect(planEntry(remembered, open(), 1).kind).toBe('order')
  })

  test.each([
    { silence: { afterSeconds: 30, until: 0 }, kind: 'order', change: 'a rule where none was' },
    {
      from: { afterSeconds: 60, until: 0 },
      silence: { afterSeconds: 30, until: 0 },
      kind: 'order',
      change: 'a shorter silence',
    },
    {
      from: { afterSeconds: 30, until: 9 },
      silence: { afterSeconds: 30, until: 5 },
      kind: 'order',
      change: 'a keeping holder less',
    },
    {
      from: { afterSeconds: 30, until: 0 },
      silence: { afterSeconds: 60, until: 0 },
      kind: 'remember',
      change: 'a longer silence',
    },
    {
      from: { afterSeconds: 30, until: 0 },
      silence: { afterSeconds: 30, until: 9 },
      kind: 'remember',
      change: 'a keeping holder more',
    },
    { from: { afterSeconds: 30, until: 0 }, silence: null, kind: 'remember', change: 'no rule any more' },
    {
      from: { afterSeconds: 30, until: 9 },
      silence: { afterSeconds: 60, until: 5 },
      kind: 'order',
      change: 'a longer silence, but a keeping holder less',
    },
  ])('$change: $kind', ({ from = null, silence, kind }) => {
    expect(planEntry(ordered({ silence: from }), open({ silence }), 1).kind).toBe(kind)
  })

  test('a thousand people at one address within ten minutes are some twenty orders, not a thousand', () => {
    const holders: Holder[] = []
    let row = closed
    let orders = 0
    let orderAt = Infinity
    for (let i = 0; i < 1_000; i++) {
      const now = i * 600
      holders.push(
        holder({
          grantId: `g${i}`,
          openedAt: now,
          endsAt: now + 480 * minute,
          silenceSeconds: i % 3 ? null : 60,
        }),
      )
      for (const at of orderAt <= now ? [orderAt, now] : [now]) {
        const plan = planEntry(row, desiredEntry(holders, at), at)
        if (plan.kind === 'remember') {
          row = { ...row, until: plan.until }
          orderAt = plan.orderAt
        }
        if (plan.kind !== 'order' || plan.order.desired !== 'open') continue
        const { until, silence, cut } = plan.order
        orders++
        orderAt = Infinity
        row = { desired: 'open', until, orderedUntil: until, orderedAt: at, silence, cut, generation: orders }
      }
    }
    expect(orders).toBeGreaterThan(15)
    expect(orders).toBeLessThan(25)
  })
})

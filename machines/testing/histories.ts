import * as fc from 'fast-check'
import type { HistoryEvent } from './history-events.ts'
import { addresses, carriers, knocs, sessionCount, targets } from './world.ts'

const session = fc.nat({ max: sessionCount - 1 })
const knoc = fc.nat({ max: knocs.length - 1 })
const address = fc.nat({ max: addresses.length - 1 })
const days = (count: number): number => count * 86_400_000

const waits = fc.constantFrom(
  20,
  200,
  1_000,
  3_000,
  10_000,
  20_000,
  31_000,
  45_000,
  61_000,
  120_000,
  299_000,
  302_000,
  600_000,
  1_790_000,
  3_600_000,
  8 * 3_600_000,
  days(1),
  days(25),
  days(28),
)
const sessionSeconds = fc.constantFrom(90, 600, 3_600, 28_800, 30 * 86_400)

/** What an administrator changes while doors are open. */
const changes: fc.Arbitrary<HistoryEvent>[] = [
  fc.record({
    type: fc.constant('discover' as const),
    session,
    carrier: fc.nat({ max: carriers.length - 1 }),
  }),
  fc.record({ type: fc.constant('entitle' as const), session, knoc, entitled: fc.boolean() }),
  fc.record({ type: fc.constant('license' as const), session, licensed: fc.boolean() }),
  fc.record({
    type: fc.constant('licence' as const),
    standing: fc.constantFrom('inForce' as const, 'inForce' as const, 'ended' as const, 'removed' as const),
  }),
  fc.record({ type: fc.constant('shorten' as const), session, seconds: fc.constantFrom(60, 300, 3_000) }),
  fc.record({
    type: fc.constant('setMaximum' as const),
    knoc,
    seconds: fc.constantFrom(300, 900, 28_800, null),
  }),
  fc.record({
    type: fc.constant('retarget' as const),
    knoc,
    target: fc.nat({ max: Object.keys(targets).length - 1 }),
  }),
  fc.record({
    type: fc.constant('setFixed' as const),
    knoc,
    addresses: fc.oneof(fc.constant(null), fc.array(address, { minLength: 1, maxLength: 3 })),
  }),
  fc.record({ type: fc.constant('setCgnat' as const), knoc, open: fc.boolean() }),
  fc.record({ type: fc.constant('deleteKnoc' as const), knoc }),
]

const event: fc.Arbitrary<HistoryEvent> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: waits }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('grant' as const), session, knoc }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('revoke' as const), session, knoc }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('see' as const), session, address }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('signIn' as const), session, seconds: sessionSeconds, address }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('endSession' as const), session }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('setEnabled' as const), session, enabled: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('restrict' as const), knoc, address, restricted: fc.boolean() }),
  },
  { weight: 7, arbitrary: fc.oneof(...changes) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('link' as const), up: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('hang' as const), hung: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('lossy' as const), lossy: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('stopAgent' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('startAgent' as const),
      reboot: fc.boolean(),
      journalLost: fc.boolean(),
      wallErrorMs: fc.constantFrom(0, 0, 3_600_000, -3_600_000, -30_000, -1.7e12),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('jumpWall' as const),
      byMs: fc.constantFrom(-3_600_000, 3_600_000, -days(30)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('resync' as const) }) },
)

/** A history: two people sign in at one address and are granted, then anything happens. */
export const history: fc.Arbitrary<{ events: HistoryEvent[]; seed: number }> = fc.record({
  events: fc.array(event, { minLength: 4, maxLength: 28 }).map((events) => [...opening, ...events]),
  seed: fc.integer(),
})

const opening: readonly HistoryEvent[] = [
  { type: 'signIn', session: 0, seconds: 28_800, address: 0 },
  { type: 'signIn', session: 1, seconds: 30 * 86_400, address: 0 },
  { type: 'grant', session: 0, knoc: 0 },
]

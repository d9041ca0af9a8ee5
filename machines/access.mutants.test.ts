import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DesiredEntry, desiredEntry, type EntryPlan, planEntry } from './access.ts'
import { heldAddresses, moveAddress, settleAddresses } from './address-move.ts'
import { bucketVerdict, closesAt } from './journal.ts'
import { counts, opensFor, type RightFacts, shortenedEnd } from './liveness.ts'
import { history } from './testing/histories.ts'
import { type Rules, realRules } from './testing/rules.ts'
import { liveThrough } from './testing/simulation.ts'

const seed = 4
const numRuns = 6_000

type Mutant = { fault: string; rules: Partial<Rules> }

const withOpen = (
  change: (
    open: Extract<DesiredEntry, { desired: 'open' }>,
    ...given: Parameters<typeof desiredEntry>
  ) => DesiredEntry,
): Partial<Rules> => ({
  desiredEntry: (holders, now) => {
    const desired = desiredEntry(holders, now)
    return desired.desired === 'open' ? change(desired, holders, now) : desired
  },
})

const withPlan = (
  change: (plan: EntryPlan, ...given: Parameters<typeof planEntry>) => EntryPlan,
): Partial<Rules> => ({
  planEntry: (current, desired, now) => change(planEntry(current, desired, now), current, desired, now),
})

/** What stands when this function says until when. */
const withEnd = (end: Rules['closesAt']): Partial<Rules> => ({
  closesAt: end,
  shouldStand: (entry, { now, truthAt }) => now < end(entry, { truthAt }),
})

/** `counts` asks for the same addresses, as the view does. */
const withOpening = (opens: Rules['opensFor']): Partial<Rules> => ({
  opensFor: opens,
  counts: (right, now) =>
    opens(right.knoc, right) &&
    counts({ ...right, source: 'own', knoc: { fixed: null, cgnatOpen: true } }, now),
})

/** What counts when some of the facts are not looked at. */
const blindTo = (seen: Partial<RightFacts>): Partial<Rules> => ({
  counts: (right, now) => counts({ ...right, ...seen }, now),
})

/** Faulty copies of the arithmetic; the promise's properties must notice each of them. */
const mutants: readonly Mutant[] = [
  {
    fault: 'an entry ends with its first holder',
    rules: withOpen((open, holders) => ({
      ...open,
      until: Math.min(...holders.map(({ endsAt }) => endsAt)),
    })),
  },
  {
    fault: 'an entry closes when one of its holders has left',
    rules: withOpen((open, holders, now) =>
      holders.some(({ endsAt }) => endsAt <= now) ? { desired: 'closed' } : open,
    ),
  },
  {
    fault: 'only the first holder counts',
    rules: { desiredEntry: (holders, now) => desiredEntry(holders.slice(0, 1), now) },
  },
  {
    fault: 'an ended holder still counts',
    rules: { desiredEntry: (holders) => desiredEntry(holders, 0) },
  },
  {
    fault: 'an entry never closes',
    rules: withPlan((plan) =>
      plan.kind === 'order' && plan.order.desired === 'closed' ? { kind: 'unchanged' } : plan,
    ),
  },
  {
    fault: 'a holder that keeps its door lifts the rule for a silent server from all',
    rules: withOpen((open, holders) =>
      holders.some(({ silenceSeconds }) => silenceSeconds === null) ? { ...open, silence: null } : open,
    ),
  },
  {
    fault: 'a holder with a rule for a silent server brings it upon all',
    rules: withOpen((open) => ({ ...open, silence: open.silence && { ...open.silence, until: 0 } })),
  },
  {
    fault: 'the rule for a silent server is forgotten',
    rules: withOpen((open) => ({ ...open, silence: null })),
  },
  {
    fault: 'a later end is ordered when the earlier one has passed',
    rules: withPlan((plan, current, desired, now) => {
      const held = desired.desired === 'open' && current.desired === 'open'
      if (!held || desired.until <= current.orderedUntil || now > current.orderedUntil + 2_000) return plan
      return { kind: 'remember', until: desired.until, orderAt: current.orderedUntil + 2_001 }
    }),
  },
  {
    fault: 'a later end is never ordered',
    rules: withPlan((plan, current, desired) =>
      current.desired === 'open' && desired.desired === 'open' && desired.until > current.orderedUntil
        ? { kind: 'unchanged' }
        : plan,
    ),
  },
  {
    fault: 'an earlier end is not ordered',
    rules: withPlan((plan, current, desired) =>
      desired.desired === 'open' && current.desired === 'open' && desired.until < current.orderedUntil
        ? { kind: 'unchanged' }
        : plan,
    ),
  },
  {
    fault: 'a stricter rule for a silent server is not ordered',
    rules: withPlan((plan, current, desired) =>
      desired.desired === 'open' && current.desired === 'open' && current.silence === null && desired.silence
        ? { kind: 'unchanged' }
        : plan,
    ),
  },
  {
    fault: 'an order holds a minute more than the truth',
    rules: withPlan((plan) =>
      plan.kind === 'order' && plan.order.desired === 'open'
        ? { kind: 'order', order: { ...plan.order, until: plan.order.until + 60_000 } }
        : plan,
    ),
  },
  {
    fault: 'a closed entry is not opened again',
    rules: withPlan((plan, current) =>
      current.generation > 0 && current.desired === 'closed' ? { kind: 'unchanged' } : plan,
    ),
  },
  {
    fault: 'a grant ignores the end of its session',
    rules: { grantEnd: ({ now }) => now + 28 * 86_400_000 },
  },
  {
    fault: 'a change of address begins the time anew',
    rules: { endAfterMove: (grant, now) => Math.max(grant.endsAt, now + 600_000) },
  },
  { fault: 'a stale order is accepted', rules: { acceptOrder: () => 'accept' } },
  {
    fault: 'a repeated order is refused as if it were stale',
    rules: {
      acceptOrder: (current, order) =>
        current && current.generation >= order.generation ? 'stale' : 'accept',
    },
  },
  {
    fault: 'an order of the same generation is ignored for ever, the newer ones too',
    rules: { acceptOrder: (current) => (current ? 'duplicate' : 'accept') },
  },
  {
    fault: 'a whole state closes what is younger than itself',
    rules: { bucketVerdict: (truth) => bucketVerdict({ ...truth, asOfGeneration: Infinity }) },
  },
  {
    fault: 'a whole state opens nothing',
    rules: { bucketVerdict: (truth) => ({ ...bucketVerdict(truth), upsert: [] }) },
  },
  {
    fault: 'a whole state brings back what is older than the journal',
    rules: {
      bucketVerdict: (truth) => ({ ...bucketVerdict(truth), upsert: [...truth.orders] }),
      acceptOrder: () => 'accept',
    },
  },
  { fault: 'the agent does not mind the end', rules: withEnd(() => Infinity) },
  {
    fault: 'the agent closes five seconds late',
    rules: withEnd((entry, given) => closesAt(entry, given) + 5_000),
  },
  {
    fault: 'the agent closes twenty seconds early',
    rules: withEnd((entry, given) => closesAt(entry, given) - 20_000),
  },
  {
    fault: 'the agent does not mind the silence',
    rules: withEnd((entry) => (entry.desired === 'closed' ? 0 : entry.until)),
  },
  {
    fault: 'a silence closes every door at once',
    rules: withEnd((entry, { truthAt }) =>
      entry.desired === 'closed'
        ? 0
        : Math.min(entry.until, truthAt + 1_000 * (entry.silence?.afterSeconds ?? 30)),
    ),
  },
  { fault: 'the kernel is given a timeout of 0', rules: { kernelTimeoutSeconds: () => 0 } },
  {
    fault: 'the kernel is given more than it can count',
    rules: { kernelTimeoutSeconds: (until, now) => Math.ceil((until - now) / 1000) },
  },
  {
    fault: 'the kernel is given a day',
    rules: { kernelTimeoutSeconds: () => 86_400 },
  },
  {
    fault: 'the clock follows the slowest message',
    rules: {
      clockOffset: (samples) =>
        samples.length === 0 ? null : Math.min(...samples.map(({ serverAt, bootAt }) => serverAt - bootAt)),
      withSample: (samples, sample) => [...samples, sample],
    },
  },
  {
    fault: 'any wall clock is believed after a reboot',
    rules: {
      clockOffsetAtStart: ({ record, wallNow, bootNow }) => record && wallNow + record.wallOffset - bootNow,
    },
  },
  {
    fault: 'an address that was left is held on',
    rules: {
      moveAddress: (held, seen) => {
        const verdict = moveAddress(held, seen)
        return {
          ...verdict,
          addresses: verdict.addresses.map((row) =>
            verdict.moved?.from.includes(row.address) ? { ...row, leftAt: null } : row,
          ),
        }
      },
    },
  },
  {
    fault: 'two alternating addresses take turns',
    rules: {
      moveAddress: (held, seen) =>
        moveAddress(
          held.map((row) => ({ ...row, leftAt: row.leftAt === null ? null : row.leftAt - 301_000 })),
          seen,
        ),
    },
  },
  {
    fault: 'what was not seen again is not dropped',
    rules: {
      settleAddresses: (held, now) => ({ ...settleAddresses([], now), addresses: [...held] }),
      moveAddress: (held, seen) => {
        const verdict = moveAddress(held, seen)
        const rows = verdict.addresses.map((row) => ({ ...row, doubtedAt: null }))
        return { ...verdict, addresses: rows }
      },
    },
  },
  {
    fault: 'a session follows its user into any number of addresses',
    rules: {
      moveAddress: (held, seen) => {
        const verdict = moveAddress(held, seen)
        const kept = heldAddresses(held).map((row) => row.address)
        const rows = verdict.addresses.map((row) =>
          kept.includes(row.address) ? { ...row, leftAt: null } : row,
        )
        return { ...verdict, addresses: rows }
      },
    },
  },
  {
    fault: 'a disabled user, or one beyond the licence, keeps the door',
    rules: blindTo({ personCounts: true }),
  },
  { fault: 'what is taken from a user or his group stays open', rules: blindTo({ isEntitled: true }) },
  { fault: 'a deleted knoc stays open', rules: blindTo({ isKnocDeleted: false }) },
  { fault: 'a restriction that comes while it is open closes nothing', rules: blindTo({ isAllowed: true }) },
  { fault: 'the removed licence closes nothing', rules: blindTo({ licence: 'inForce' }) },
  {
    fault: 'a licence that ends closes what is open',
    rules: { counts: (right, now) => right.licence === 'inForce' && counts(right, now) },
  },
  { fault: 'a licence that has ended gives new grants', rules: { mayGrant: () => true } },
  {
    fault: 'a shorter session leaves its grants as they are',
    rules: {
      shortenedEnd: (grant, bounds) => shortenedEnd(grant, { ...bounds, sessionEndsAt: Infinity }),
    },
  },
  {
    fault: 'a shorter maximum leaves grants as they are',
    rules: { shortenedEnd: (grant, bounds) => shortenedEnd(grant, { ...bounds, maximumGrantSeconds: null }) },
  },
  {
    fault: 'a longer maximum prolongs grants',
    rules: {
      shortenedEnd: (grant, bounds) =>
        bounds.maximumGrantSeconds === null
          ? shortenedEnd(grant, bounds)
          : shortenedEnd({ ...grant, endsAt: Infinity }, bounds),
    },
  },
  {
    fault: 'a shorter maximum closes at once whatever it meets',
    rules: {
      shortenedEnd: (grant, bounds) =>
        bounds.maximumGrantSeconds === null ? shortenedEnd(grant, bounds) : grant.givenAt,
    },
  },
  { fault: 'a knoc that moves leaves its old list open', rules: { touchedLists: (_, after) => [...after] } },
  { fault: 'a knoc that moves does not open its new list', rules: { touchedLists: (before) => [...before] } },
  {
    fault: 'the user’s address stays open beside fixed ones',
    rules: withOpening((knoc, opening) =>
      opening.source === 'specified' ? opensFor(knoc, opening) : opensFor({ ...knoc, fixed: null }, opening),
    ),
  },
  {
    fault: 'fixed addresses do not open',
    rules: withOpening((knoc, opening) => opening.source !== 'specified' && opensFor(knoc, opening)),
  },
  {
    fault: 'discovered addresses stay when the knoc is closed to CGNAT',
    rules: withOpening((knoc, opening) => opensFor({ ...knoc, cgnatOpen: true }, opening)),
  },
  {
    fault: 'discovered addresses do not open',
    rules: withOpening((knoc, opening) => opensFor({ ...knoc, cgnatOpen: false }, opening)),
  },
  {
    fault: 'the own address leaves with the discovered ones',
    rules: withOpening(
      (knoc, opening) => opensFor(knoc, opening) && (knoc.cgnatOpen || opening.source === 'specified'),
    ),
  },
]

test.each(mutants)('the histories notice when $fault', ({ rules }) => {
  const { failed, numRuns: runs } = fc.check(
    fc.property(history, ({ events, seed: networkSeed }) => {
      const wrong = liveThrough({ ...realRules, ...rules }, events, networkSeed)
      if (wrong !== null) throw new Error(wrong)
    }),
    { numRuns, seed, endOnFailure: true },
  )
  expect(failed, `survived ${runs} histories`).toBe(true)
})

test('the copy without a fault is not taken for a faulty one', () => {
  const sound = fc.check(
    fc.property(
      history,
      ({ events, seed: networkSeed }) => liveThrough(realRules, events, networkSeed) === null,
    ),
    { numRuns: 300, seed, endOnFailure: true },
  )
  expect(sound.failed).toBe(false)
})

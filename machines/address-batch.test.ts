import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dropClaimed, moveAddresses } from './address-batch.ts'
import {
  type AddressEvent,
  type AddressSource,
  type AddressVerdict,
  flappingMs,
  type HeldAddress,
  heldAddresses,
  heldAtMost,
  moveAddress,
  type SeenAddress,
  seenAgainMs,
  settleAddresses,
} from './address-move.ts'

const minute = 60_000
const at = (n: number, more: Partial<SeenAddress> = {}): SeenAddress => ({
  address: `192.0.2.${n}`,
  family: 4,
  at: 0,
  ...more,
})
const six = (n: number, more: Partial<SeenAddress> = {}): SeenAddress =>
  at(n, { address: `2001:db8::${n}`, family: 6, ...more })

const after = (...looks: SeenAddress[]): AddressVerdict => {
  let verdict = settleAddresses([], 0)
  for (const look of looks) verdict = moveAddress(verdict.addresses, look)
  return verdict
}
const namesOf = (rows: readonly HeldAddress[]) => heldAddresses(rows).map((row) => row.address)
const rowOf = (rows: readonly HeldAddress[], { address }: SeenAddress) =>
  rows.find((row) => row.address === address)

describe('addresses beside the session’s own', () => {
  test('several that are seen together put none of each other in doubt', () => {
    const { addresses } = after(at(1), six(1), at(9, { source: 'discovered' }))
    const now = { at: minute }
    const verdict = moveAddresses(addresses, [
      at(9, { ...now, source: 'discovered' }),
      at(2, now),
      six(1, now),
    ])
    expect(verdict.moved).toEqual({ from: ['192.0.2.1'], to: '192.0.2.2' })
    expect(heldAddresses(verdict.addresses).map((row) => row.doubtedAt)).toEqual([null, null, null])
  })

  test('one that was named for a knoc counts for it alone, until it is named for another one, or for all', () => {
    const found = { source: 'discovered' } as const
    const first = after(at(1), at(2, { ...found, onlyFor: 'a' }))
    expect(rowOf(first.addresses, at(2))?.onlyFor).toEqual(['a'])
    const same = moveAddress(first.addresses, at(2, { ...found, onlyFor: 'a', at: 1 }))
    expect(same.events).toEqual([])
    const second = moveAddress(same.addresses, at(2, { ...found, onlyFor: 'b', at: 2 }))
    expect(rowOf(second.addresses, at(2))?.onlyFor).toEqual(['a', 'b'])
    const all = moveAddress(second.addresses, at(2, { ...found, at: 3 }))
    expect(rowOf(all.addresses, at(2))?.onlyFor).toBeNull()
    expect(all.events).toEqual([{ type: 'joined', address: '192.0.2.2', reason: 'discovered' }])
    const narrow = moveAddress(all.addresses, at(2, { ...found, onlyFor: 'c', at: 4 }))
    expect(rowOf(narrow.addresses, at(2))?.onlyFor).toBeNull()
  })

  test('a claim that is proven is discovered, and never the other way round', () => {
    const claimed = after(at(1), at(2, { source: 'claimed' }))
    expect(claimed.events).toEqual([{ type: 'joined', address: '192.0.2.2', reason: 'claimed' }])
    const proven = moveAddress(claimed.addresses, at(2, { source: 'discovered', at: 1 }))
    expect(rowOf(proven.addresses, at(2))?.source).toBe('discovered')
    const again = moveAddress(proven.addresses, at(2, { source: 'claimed', at: 2 }))
    expect(rowOf(again.addresses, at(2))?.source).toBe('discovered')
    const own = moveAddress(claimed.addresses, at(2, { at: 3 }))
    expect(rowOf(own.addresses, at(2))).toMatchObject({ source: 'own', onlyFor: null })
    expect(own.events).toHaveLength(1)
  })

  test('at four a new one takes the place of one that was not seen for five minutes, never of an own one', () => {
    const found = { source: 'discovered' } as const
    const full = after(
      at(1),
      at(2, { ...found, at: 1 }),
      at(3, { ...found, at: 2 }),
      at(4, { ...found, at: 3 }),
    )
    const early = moveAddress(full.addresses, at(5, { ...found, at: flappingMs }))
    expect(early.events).toEqual([{ type: 'refused', address: '192.0.2.5', reason: 'limit' }])
    const late = moveAddress(full.addresses, at(5, { ...found, at: flappingMs + 1 }))
    expect(namesOf(late.addresses)).toEqual(['192.0.2.1', '192.0.2.3', '192.0.2.4', '192.0.2.5'])
  })

  test('claims go when they aren’t trusted any more, and nothing else does', () => {
    const { addresses } = after(at(1), at(2, { source: 'claimed' }), at(3, { source: 'discovered' }))
    const verdict = dropClaimed(addresses, minute)
    expect(namesOf(verdict.addresses)).toEqual(['192.0.2.1', '192.0.2.3'])
    expect(verdict.events).toEqual([{ type: 'dropped', address: '192.0.2.2', reason: 'notTrusted' }])
    expect(dropClaimed(verdict.addresses, minute).events).toEqual([])
  })
})

/** Looks of one session, a few seconds or minutes apart, from a handful of addresses of both families. */
const history = fc.array(
  fc.record({
    number: fc.integer({ min: 1, max: 7 }),
    isSix: fc.boolean(),
    source: fc.constantFrom<AddressSource[]>('own', 'own', 'discovered', 'claimed'),
    onlyFor: fc.constantFrom(undefined, 'a', 'b'),
    wait: fc.constantFrom(0, 1_000, 30_000, seenAgainMs, 2 * minute, flappingMs),
  }),
  { maxLength: 40 },
)

type Step = { before: readonly HeldAddress[]; seen: SeenAddress; verdict: AddressVerdict }

function walk(
  looks: typeof history extends fc.Arbitrary<infer Looks> ? Looks : never,
  check: (step: Step) => void,
) {
  let held: readonly HeldAddress[] = moveAddress([], at(1)).addresses
  let now = 0
  for (const { number, isSix, source, onlyFor, wait } of looks) {
    now += wait
    const more = { at: now, source, ...(onlyFor !== undefined && { onlyFor }) }
    const seen = isSix ? six(number, more) : at(number, more)
    const verdict = moveAddress(held, seen)
    check({ before: held, seen, verdict })
    held = verdict.addresses
  }
}

describe('whatever is seen, in any order', () => {
  const holds = (check: (step: Step) => void) =>
    fc.assert(
      fc.property(history, (looks) => walk(looks, check)),
      { numRuns: 500 },
    )

  test('a session holds four addresses at most, and two own ones of a family only while they alternate', () =>
    holds(({ verdict, seen }) => {
      const held = heldAddresses(verdict.addresses)
      expect(held.length).toBeLessThanOrEqual(heldAtMost)
      for (const family of [4, 6] as const) {
        const own = held.filter((row) => row.source === 'own' && row.family === family)
        for (const row of own.length > 1 ? own : []) expect(seen.at - row.seenAt).toBeLessThan(flappingMs)
      }
    }))

  test('what was neither seen nor held before is never held', () =>
    holds(({ before, seen, verdict }) => {
      const possible = new Set([...namesOf(before), seen.address])
      for (const name of namesOf(verdict.addresses)) expect(possible).toContain(name)
    }))

  test('what isn’t the session’s own moves nothing, puts nothing in doubt and takes no own address away', () =>
    holds(({ before, seen, verdict }) => {
      if (seen.source === 'own') return
      const settled = settleAddresses(before, seen.at).addresses
      expect(verdict.moved).toBeNull()
      expect(verdict.needsSignIn).toBe(false)
      for (const row of settled.filter((held) => held.source === 'own' && held.leftAt === null))
        expect(verdict.addresses).toContainEqual(
          row.address === seen.address ? { ...row, seenAt: seen.at, doubtedAt: null } : row,
        )
    }))

  test('a claim stays one unless it is proven, and own addresses count for every knoc', () =>
    holds(({ before, seen, verdict }) => {
      for (const row of heldAddresses(verdict.addresses)) {
        if (row.source === 'own') expect(row.onlyFor).toBeNull()
        const was = heldAddresses(before).find((held) => held.address === row.address)
        if (was?.source === 'claimed' && row.source !== 'claimed') {
          expect(seen.address).toBe(row.address)
          expect(seen.source).not.toBe('claimed')
        }
      }
    }))

  test('the events tell every address that comes and goes', () =>
    holds(({ before, verdict }) => {
      const told = new Set(namesOf(before))
      for (const event of verdict.events) apply(told, event)
      expect([...told].toSorted()).toEqual(namesOf(verdict.addresses).toSorted())
    }))
})

function apply(held: Set<string>, event: AddressEvent): void {
  if (event.type === 'moved') {
    for (const name of event.from) held.delete(name)
    held.add(event.to)
  }
  if (event.type === 'joined') held.add(event.address)
  if (event.type === 'dropped') held.delete(event.address)
}

import { describe, expect, test } from 'vitest'
import {
  type HeldAddress,
  heldAddresses,
  heldAtMost,
  moveAddress,
  nextDropAt,
  type SeenAddress,
  settleAddresses,
} from './address-move.ts'

const second = 1_000
const minute = 60 * second
const home = { address: '198.51.100.1', family: 4 } as const
const office = { address: '203.0.113.7', family: 4 } as const
const mobile = { address: '192.0.2.44', family: 4 } as const
const home6 = { address: '2001:db8::1', family: 6 } as const
const office6 = { address: '2001:db8:1::1', family: 6 } as const

/** A session's looks one after another; answers the last verdict and what is held after it. */
function look(...looks: SeenAddress[]) {
  let held: HeldAddress[] = []
  let verdict = settleAddresses([], 0)
  for (const seen of looks) {
    verdict = moveAddress(held, seen)
    held = verdict.addresses
  }
  return { verdict, rows: held, held: heldAddresses(held).map((row) => row.address) }
}

describe('where a session is', () => {
  test('it begins at the address of its sign-in', () => {
    const { held, verdict } = look({ ...home, at: 0 })
    expect(held).toEqual([home.address])
    expect(verdict).toMatchObject({ moved: null, needsSignIn: false })
  })

  test('access moves within the family, and what was left is left at once', () => {
    const { held, verdict } = look({ ...home, at: 0 }, { ...office, at: minute })
    expect(held).toEqual([office.address])
    expect(verdict.moved).toEqual({ from: [home.address], to: office.address })
    expect(verdict.events).toEqual([{ type: 'moved', from: [home.address], to: office.address }])
  })

  test('both families are held side by side, and neither is a move', () => {
    const { held, verdict } = look({ ...home, at: 0 }, { ...home6, at: second }, { ...home, at: 30 * second })
    expect(held).toEqual([home.address, home6.address])
    expect(verdict.moved).toBeNull()
  })

  test('when one family changes, the other is dropped unless it is seen again within 60 s', () => {
    const { rows } = look({ ...home, at: 0 }, { ...home6, at: second }, { ...office, at: minute })
    expect(nextDropAt(rows)).toBe(2 * minute)
    expect(heldAddresses(settleAddresses(rows, 2 * minute - 1).addresses)).toHaveLength(2)
    const dropped = settleAddresses(rows, 2 * minute)
    expect(heldAddresses(dropped.addresses).map((row) => row.address)).toEqual([office.address])
    expect(dropped.events).toEqual([{ type: 'dropped', address: home6.address, reason: 'notSeenAgain' }])

    const again = moveAddress(rows, { ...home6, at: 90 * second })
    expect(nextDropAt(again.addresses)).toBeNull()
    expect(heldAddresses(again.addresses)).toHaveLength(2)
  })

  test('a second change does not give the doubted family another minute', () => {
    const { rows } = look(
      { ...home, at: 0 },
      { ...home6, at: second },
      { ...office, at: minute },
      { ...mobile, at: minute + 40 * second },
    )
    expect(nextDropAt(rows)).toBe(2 * minute)
  })

  test('two addresses that alternate within five minutes are both held, until one isn’t seen for so long', () => {
    const { held, rows, verdict } = look(
      { ...home, at: 0 },
      { ...office, at: minute },
      { ...home, at: 2 * minute },
    )
    expect(held.toSorted()).toEqual([home.address, office.address].toSorted())
    expect(verdict.events).toEqual([{ type: 'joined', address: home.address, reason: 'flapping' }])
    expect(verdict.moved).toBeNull()
    expect(nextDropAt(rows)).toBe(6 * minute)
    const later = settleAddresses(rows, 6 * minute)
    expect(heldAddresses(later.addresses).map((row) => row.address)).toEqual([home.address])
  })

  test('a return after more than five minutes is a move', () => {
    const { held, verdict } = look(
      { ...home, at: 0 },
      { ...office, at: minute },
      { ...office, at: 6 * minute },
      { ...home, at: 6 * minute + 1 },
    )
    expect(held).toEqual([home.address])
    expect(verdict.moved?.to).toBe(home.address)
  })

  test('more than six new addresses an hour ask for sign-in and open nothing', () => {
    const looks = Array.from({ length: 8 }, (_, i) => ({
      address: `198.51.100.${i + 1}`,
      family: 4 as const,
      at: i * minute,
    }))
    const six = look(...looks.slice(0, 7))
    expect(six.verdict.needsSignIn).toBe(false)
    const seven = look(...looks)
    expect(seven.verdict).toMatchObject({ needsSignIn: true, moved: null })
    expect(seven.verdict.events).toEqual([{ type: 'refused', address: '198.51.100.8', reason: 'tooManyNew' }])
    expect(seven.held).toEqual(['198.51.100.7'])
    const owner = moveAddress(seven.rows, { address: '198.51.100.7', family: 4, at: 9 * minute })
    expect(owner.needsSignIn).toBe(false)
    const afterAnHour = moveAddress(seven.rows, { address: '198.51.100.8', family: 4, at: 61 * minute })
    expect(afterAnHour).toMatchObject({ needsSignIn: false, moved: { to: '198.51.100.8' } })
  })

  test('going to and fro between two known places all day never asks for sign-in', () => {
    let held: HeldAddress[] = []
    for (let i = 0; i < 40; i++) {
      const verdict = moveAddress(held, { ...(i % 2 ? office : home), at: i * 6 * minute })
      expect(verdict.needsSignIn).toBe(false)
      held = verdict.addresses
    }
    expect(held).toHaveLength(2)
  })

  test('holds four at most: discovered ones give way to its own', () => {
    const discovered = [1, 2, 3, 4].map((n) => ({
      address: `192.0.2.${n}`,
      family: 4 as const,
      at: n,
      source: 'discovered' as const,
    }))
    const full = look({ ...home, at: 0 }, ...discovered)
    expect(full.held).toHaveLength(heldAtMost)
    expect(full.verdict.events).toEqual([{ type: 'refused', address: '192.0.2.4', reason: 'limit' }])
    const both = moveAddress(full.rows, { ...home6, at: 9 })
    expect(heldAddresses(both.addresses).map((row) => row.address)).toEqual([
      home.address,
      '192.0.2.2',
      '192.0.2.3',
      home6.address,
    ])
    expect(both.events).toContainEqual({ type: 'dropped', address: '192.0.2.1', reason: 'limit' })
  })

  test('discovered addresses are no move, and are in doubt after one', () => {
    const { rows, verdict } = look({ ...home, at: 0 }, { ...mobile, at: 1, source: 'discovered' })
    expect(verdict.moved).toBeNull()
    const moved = moveAddress(rows, { ...office, at: minute })
    expect(moved.moved).toEqual({ from: [home.address], to: office.address })
    expect(nextDropAt(moved.addresses)).toBe(2 * minute)
    const own = moveAddress(moved.addresses, { ...mobile, at: minute + 1 })
    expect(own.addresses.find((row) => row.address === mobile.address)?.source).toBe('own')
  })

  test('is remembered for an hour, its sign-in for good', () => {
    const { rows } = look({ ...home, at: 0 }, { ...office, at: minute }, { ...office6, at: 2 * minute })
    const third = moveAddress(rows, { ...mobile, at: 3 * minute })
    const later = settleAddresses(third.addresses, 70 * minute)
    expect(later.addresses.map((row) => row.address)).toEqual([home.address, office6.address, mobile.address])
  })
})

import { describe, expect, it } from 'vitest'
import { note } from './stalls.ts'

describe('stalls of the machine', () => {
  it.each([
    [
      'apart',
      [
        [0, 10],
        [20, 30],
      ],
      [
        [0, 10],
        [20, 30],
      ],
    ],
    [
      'one in the other',
      [
        [0, 30],
        [10, 20],
      ],
      [[0, 30]],
    ],
    [
      'overlapping',
      [
        [0, 10],
        [20, 30],
        [5, 25],
      ],
      [[0, 30]],
    ],
    [
      'noted late',
      [
        [20, 30],
        [0, 10],
      ],
      [
        [0, 10],
        [20, 30],
      ],
    ],
    [
      'noted late, touching the younger',
      [
        [0, 5],
        [20, 30],
        [10, 21],
      ],
      [
        [0, 5],
        [10, 30],
      ],
    ],
  ])('count no moment twice: %s', (_, given, kept) => {
    const stalls: { from: number; to: number }[] = []
    for (const [from = 0, to = 0] of given) note(stalls, { from, to })
    expect(stalls).toEqual(kept.map(([from, to]) => ({ from, to })))
  })
})

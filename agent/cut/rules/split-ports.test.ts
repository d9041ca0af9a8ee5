import { describe, expect, it } from 'vitest'
import { joinPorts, splitPorts } from './split-ports.ts'

describe('ports cut where others begin and end', () => {
  it.each([
    [[[80, 90]], [], [[80, 90]]],
    [
      [[80, 90]],
      [[85, 85]],
      [
        [80, 84],
        [85, 85],
        [86, 90],
      ],
    ],
    [
      [[80, 90]],
      [
        [70, 82],
        [90, 95],
      ],
      [
        [80, 82],
        [83, 89],
        [90, 90],
      ],
    ],
    [
      [
        [22, 22],
        [80, 81],
      ],
      [
        [22, 22],
        [81, 99],
      ],
      [
        [22, 22],
        [80, 80],
        [81, 81],
      ],
    ],
  ] as [[number, number][], [number, number][], [number, number][]][])(
    '%j by %j',
    (ranges, others, pieces) => {
      expect(splitPorts(ranges, others)).toEqual(pieces)
      expect(joinPorts(pieces)).toEqual(ranges)
    },
  )
})

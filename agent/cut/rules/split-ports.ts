import type { PortRange } from './rule.ts'

/** Every port there is. */
export const allPorts: readonly PortRange[] = [[1, 65_535]]

/** Cuts ranges where others begin and end, so that whatever asks about one port of a piece has asked about all. */
export function splitPorts(ranges: readonly PortRange[], others: readonly PortRange[]): PortRange[] {
  const starts = new Set(others.flatMap(([from, to]) => [from, to + 1]))
  return ranges.flatMap(([from, to]) => {
    const inside = [...starts].filter((port) => port > from && port <= to)
    const begins = [from, ...inside.toSorted((a, b) => a - b)]
    return begins.map((begin, index) => [begin, (begins[index + 1] ?? to + 1) - 1] as const)
  })
}

/** Puts neighbouring pieces together again. */
export function joinPorts(ranges: readonly PortRange[]): PortRange[] {
  const joined: PortRange[] = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last[1] + 1)
      joined[joined.length - 1] = [last[0], Math.max(last[1], to)]
    else joined.push([from, to])
  }
  return joined
}

/** Random numbers that a seed makes again. */
export type Random = ReturnType<typeof createRandom>

/** mulberry32: 32 bits of state, good enough to draw moments. */
export function createRandom(seed: number) {
  let state = seed >>> 0

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  const below = (limit: number): number => next() % limit

  return {
    /** 32 bits. */
    next,
    /** A whole number from 0, less than `limit`. */
    below,
    of: <const Item>(items: readonly [Item, ...Item[]]): Item => items[below(items.length)] ?? items[0],
  }
}

import { useDeferredValue, useMemo } from 'react'

/** So many entries fill a large screen. */
const firstScreen = 24

/**
 * What is to be drawn of `all`: the first screen at once, the rest while the browser has time for it, as 200 entries
 * would hold it up. `first` answers the beginning, and stays the same function.
 */
export function useFirstScreen<Drawn>(all: Drawn, first: (all: Drawn, most: number) => Drawn): Drawn {
  return useDeferredValue(
    all,
    useMemo(() => first(all, firstScreen), [all, first]),
  )
}

import type { Held } from '../held-entries.ts'
import { isStanding, type Standpoint } from '../standing.ts'

/** Closed entries may be cut again by the next start for as long: a crash may lie between a close and its cut. */
const recutWithinMs = 600_000

/** Whose wish counts when an address leaves a list: those who held it to the last. */
export type Leaving = {
  /** An act left the address standing: who doesn't hold it now has left before the end. */
  noteStanding: (holders: readonly Held[], standpoint: Standpoint) => void
  /** Asked before the outcome is noted: the address stood, and somebody who held it to the last said `cut`. */
  saysCut: (holders: readonly Held[]) => boolean
}

/** Builds it. A new order is a new `Held`, so nothing has to be taken back. */
export function createLeaving(): Leaving {
  const left = new WeakSet<Held>()
  return {
    noteStanding: (holders, standpoint) => {
      for (const held of holders) {
        if (isStanding(held, standpoint)) left.delete(held)
        else left.add(held)
      }
    },
    saysCut: (holders) =>
      holders.some((held) => held.entry.cut && held.applied?.stands !== false && !left.has(held)),
  }
}

/** Closed so lately that the agent may have died before the connections were ended. */
export const wasCutLately = (holders: readonly Held[], nowMs: number): boolean =>
  holders.some(
    ({ entry, applied }) => entry.cut && applied?.stands === false && nowMs - applied.atMs < recutWithinMs,
  )

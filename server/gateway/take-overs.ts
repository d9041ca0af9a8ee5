/** Two within this time: two processes have one identity (decision 27). */
const foughtOverMs = 60_000
/** As long as a refused agent waits before it tries again. */
const refusedMs = 300_000

/**
 * Take-overs of links whose agent still lives, which one process never does: it drops a link before it makes the
 * next, unless it was asked to move. So they come of a copied data folder, be it on the same machine.
 */
export function createTakeOvers(now: () => number = () => performance.now()) {
  const taken = new Map<string, number[]>()

  return {
    /** Notes one; true for the second within a minute. */
    note: (agentId: string): boolean => {
      const recent = (taken.get(agentId) ?? []).filter((at) => now() - at < foughtOverMs)
      taken.set(agentId, [...recent, now()].slice(-2))
      return recent.length > 0
    },
    /** Whether somebody fought for this agent's link lately: whoever holds it keeps it, and others have to wait. */
    isFought: (agentId: string): boolean => {
      const [first, last] = taken.get(agentId) ?? []
      return first !== undefined && last !== undefined && now() - last < refusedMs
    },
  }
}

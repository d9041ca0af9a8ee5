import { parseAddress } from './address.ts'
import type { Listing } from './drivers/driver.ts'
import type { Held, HeldEntries } from './held-entries.ts'
import type { List, Lists } from './lists.ts'
import { desiredOf, hasRightEnd, type Standpoint } from './standing.ts'

/** What one look found. */
export type Findings = {
  missing: string[]
  wrongEnd: string[]
  /** In the list, ordered closed or by nobody. */
  foreign: string[]
  /** Ordered open, never seen to stand: a failed open, tried again without a word. */
  unopened: string[]
  desired: number
  actual: number
}

/**
 * Holds what stands on a list against the journal. What is being changed, or was changed after `startedAt`
 * (monotonic ms, before the list was read), says nothing and is left out.
 */
export function compareList(
  deps: { lists: Pick<Lists, 'holders'>; held: HeldEntries; standpoint: () => Standpoint },
  { list, listing, startedAt }: { list: List; listing: Listing; startedAt: number },
): Findings {
  const found: Findings = {
    missing: [],
    wrongEnd: [],
    foreign: [],
    unopened: [],
    desired: 0,
    actual: listing.size,
  }
  const standpoint = deps.standpoint()
  const explained = new Set<string>()
  for (const [id] of list.targets) {
    for (const held of deps.held.ofTarget(id)) {
      const { address } = held.entry
      const name = listing.has(address) ? address : (parseAddress(address)?.text ?? address)
      if (explained.has(name)) continue
      explained.add(name)
      judge(deps, list, { address, held, remaining: listing.get(name), startedAt, standpoint, found })
    }
  }
  for (const name of listing.keys()) if (!explained.has(name)) found.foreign.push(name)
  return found
}

function judge(
  deps: { lists: Pick<Lists, 'holders'> },
  list: List,
  look: {
    address: string
    held: Held
    remaining: number | undefined
    startedAt: number
    standpoint: Standpoint
    found: Findings
  },
): void {
  const { address, held, remaining, found, standpoint } = look
  const holders = list.targets.size === 1 ? [held] : deps.lists.holders(list, address)
  const wanted = desiredOf(holders, standpoint)
  if (wanted !== null) found.desired += 1
  const isMoving = holders.some(({ touchedAt }) => touchedAt >= look.startedAt) || list.lane.isBusy(address)
  if (isMoving) return
  if (wanted === null) {
    if (remaining !== undefined) found.foreign.push(address)
  } else if (remaining === undefined) {
    ;(holders.some(({ applied }) => applied?.stands) ? found.missing : found.unopened).push(address)
  } else if (
    list.driver.keepsEnds !== false &&
    standpoint.now !== null &&
    !hasRightEnd(remaining, wanted.until, standpoint.now)
  ) {
    found.wrongEnd.push(address)
  }
}

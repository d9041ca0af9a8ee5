import { performance } from 'node:perf_hooks'
import { noEpoch } from '#machines/journal.ts'
import type { OrderResult } from '#machines/protocol.ts'
import type { Outcome } from './drivers/driver.ts'
import type { Held, HeldEntries } from './held-entries.ts'
import type { JournalWriter } from './journal-writer.ts'
import { isWantedAt, reasonNotStanding, type Standpoint } from './standing.ts'

/** One entry's part in an act on its list: what came of it, and whether the address was to stand afterwards. */
type Act = { list: { waiting: Set<string> }; held: Held; outcome: Outcome; stands: boolean }

/** Builds what draws the conclusion from an act: the journal learns it, and the server if it waits or it is news. */
export function createConclusion(deps: {
  held: HeldEntries
  writer: Pick<JournalWriter, 'noteApplied'>
  standpoint: () => Standpoint
  nowOrWall: () => number
  onResult: (result: OrderResult) => void
}): (act: Act) => void {
  const conclude = ({ list, held, outcome, stands }: Act) => {
    const { targetId, address, generation } = held.entry
    held.touchedAt = performance.now()
    const isCurrent = deps.held.find(targetId, address) === held
    if (outcome.outcome !== 'failed') {
      const applied = { generation, outcome: outcome.outcome, atMs: deps.nowOrWall(), stands }
      const changed = held.applied?.generation !== generation || held.applied.stands !== stands
      held.applied = applied
      // A newer order came meanwhile: its own turn follows, but what stands now is known for it too.
      const newest = deps.held.find(targetId, address)
      if (newest !== undefined && newest !== held) newest.applied = applied
      if (changed && isCurrent) deps.writer.noteApplied(held)
    }
    if (!isCurrent) return
    const standpoint = deps.standpoint()
    if (isWantedAt(held.entry, standpoint.now) && !stands) list.waiting.add(address)
    else list.waiting.delete(address)
    tell(held, toResult(held, outcome, stands ? null : standpoint))
  }

  /** Tells the server what it waits for, and what has changed since it was told. */
  const tell = (held: Held, result: OrderResult | null) => {
    if (result === null) return
    const told = held.lastOutcome ?? held.applied?.outcome ?? null
    if (!held.isUnanswered && told === result.outcome) return
    held.isUnanswered = false
    held.lastOutcome = result.outcome
    deps.onResult(result)
  }

  /** The outcome of an order; null when the agent closed it by itself, which answers no order. */
  const toResult = (held: Held, outcome: Outcome, closedAt: Standpoint | null): OrderResult | null => {
    const { targetId, address, generation, desired, epoch } = held.entry
    if (epoch === noEpoch) return null
    const result = { targetId, address, generation, atMs: deps.nowOrWall() }
    if (outcome.outcome === 'failed') return { ...result, outcome: 'failed', error: outcome.error }
    if (desired === 'open' && closedAt !== null) {
      if (!held.isUnanswered) return null
      return { ...result, outcome: 'failed', error: reasonNotStanding(held, closedAt) }
    }
    return { ...result, outcome: outcome.outcome, error: null }
  }

  return conclude
}

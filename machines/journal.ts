import type { Silence } from './access.ts'
import type { Order } from './protocol.ts'

/**
 * The arithmetic of the agent's journal: which order counts, and until when its entry stands.
 *
 * Instants are milliseconds by the server's clock as the agent knows it (`agent-clock.ts`).
 * Design §2 and §3, decisions 6, 7, 10 and 18.
 */
export type JournalEntry = {
  targetId: string
  address: string
  /** The epoch its generation belongs to: another epoch's generations say nothing (decision 6). */
  epoch: string
  generation: number
  desired: 'open' | 'closed'
  until: number
  silence: Silence | null
  cut: boolean
  userName: string
}

/** The epoch of an entry that the agent closed on its own account: it answers no order, and any order replaces it. */
export const noEpoch = ''

/** The longest timeout the kernel's sets take, in whole seconds (24.85 days); longer ends are renewed in steps. */
export const longestKernelTimeoutSeconds = 2_147_483

/** The journal's line for an order that came on a link of this epoch. */
export const toJournalEntry = (order: Order, epoch: string): JournalEntry => ({
  targetId: order.targetId,
  address: order.address,
  epoch,
  generation: order.generation,
  desired: order.desired,
  until: order.untilMs,
  silence: order.silence && { afterSeconds: order.silence.afterSeconds, until: order.silence.untilMs },
  cut: order.cut,
  userName: order.userName,
})

type Version = Pick<JournalEntry, 'epoch' | 'generation'>

/**
 * Whether an order replaces what the journal holds for its entry. A duplicate is answered again, never applied
 * again: the entry may have been closed since by its end or by a bucket's truth. Keep closed entries as long as
 * the link lives, or an old open could come back.
 */
export function acceptOrder(current: Version | undefined, order: Version): 'stale' | 'duplicate' | 'accept' {
  if (current === undefined || current.epoch !== order.epoch) return 'accept'
  if (order.generation < current.generation) return 'stale'
  return order.generation === current.generation ? 'duplicate' : 'accept'
}

/**
 * When the entry must be gone: its end, or what its rule for a silent server leaves, whichever comes first.
 * `truthAt` is the server's last good read of the truth, of an authenticated message. It moves on with every
 * heartbeat, so ask again then; a door closed for silence comes back with the next contact. 0 for a closed entry.
 */
export function closesAt(
  entry: Pick<JournalEntry, 'desired' | 'until' | 'silence'>,
  { truthAt }: { truthAt: number },
): number {
  if (entry.desired === 'closed') return 0
  if (entry.silence === null) return entry.until
  return Math.min(entry.until, Math.max(entry.silence.until, truthAt + entry.silence.afterSeconds * 1000))
}

/** Whether the entry is to stand on its enforcement point at `now`. */
export const shouldStand = (
  entry: Pick<JournalEntry, 'desired' | 'until' | 'silence'>,
  { now, truthAt }: { now: number; truthAt: number },
): boolean => now < closesAt(entry, { truthAt })

/**
 * The timeout to give the kernel, in whole seconds: rounded up, because the agent itself closes on time,
 * and never 0, which would mean for ever. Only for entries that `shouldStand`.
 */
export const kernelTimeoutSeconds = (until: number, now: number): number =>
  Math.min(longestKernelTimeoutSeconds, Math.max(1, Math.ceil((until - now) / 1000)))

/**
 * What the whole truth of some buckets changes in the journal: orders to take, entries to close.
 *
 * `journal` holds the entries of just these buckets. Closed is what the truth doesn't name, unless it is younger
 * than the truth. A closed entry keeps its generation: an order between it and `asOfGeneration` may have been
 * drawn before the read and committed after it, and must still count.
 */
export function bucketVerdict(truth: {
  epoch: string
  asOfGeneration: number
  orders: readonly Order[]
  journal: readonly JournalEntry[]
}): { upsert: Order[]; close: JournalEntry[] } {
  const journal = new Map(truth.journal.map((entry) => [entryKey(entry), entry]))
  const named = new Set(truth.orders.map(entryKey))
  return {
    upsert: truth.orders.filter(
      (order) =>
        acceptOrder(journal.get(entryKey(order)), { epoch: truth.epoch, generation: order.generation }) ===
        'accept',
    ),
    close: truth.journal.filter(
      (entry) => entry.desired === 'open' && !named.has(entryKey(entry)) && !isYounger(entry, truth),
    ),
  }
}

/** One entry's key within a journal: target and address. */
export const entryKey = (entry: { targetId: string; address: string }): string =>
  `${entry.targetId}|${entry.address}`

const isYounger = (entry: JournalEntry, truth: { epoch: string; asOfGeneration: number }): boolean =>
  entry.epoch === truth.epoch && entry.generation > truth.asOfGeneration

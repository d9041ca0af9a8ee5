/**
 * The arithmetic of one entry, the server's side: one address on one target, from the live grants that hold it.
 *
 * Pure: no I/O, no clock of its own. Instants are milliseconds since 1970 by the database's clock.
 * Design §1, decisions 1, 5 and 26.
 */

/** One live grant that wants this address on this target. */
export type Holder = {
  grantId: string
  openedAt: number
  endsAt: number
  /** WhenServerSilent of its knoc: close after this many seconds without the server; null keeps to the end. */
  silenceSeconds: number | null
  /** CutConnections of its knoc. */
  cut: boolean
  userName: string
}

/** After `afterSeconds` without the server the entry stands no longer than `until` (0: not at all). */
export type Silence = { afterSeconds: number; until: number }

/** What has to stand now. */
export type DesiredEntry =
  | { desired: 'closed' }
  | { desired: 'open'; until: number; silence: Silence | null; cut: boolean; userName: string }

/** An entry's row: what was last ordered, beside the true end known since. */
export type OrderedEntry = {
  desired: 'open' | 'closed'
  /** The true end as last written. */
  until: number
  /** The end the agent was last told: never later than the true one. */
  orderedUntil: number
  orderedAt: number
  /** As last ordered. */
  silence: Silence | null
  /** As last ordered. */
  cut: boolean
  generation: number
}

/** What to write: nothing, a later end that may wait until `orderAt`, or a new order with a new generation. */
export type EntryPlan =
  | { kind: 'unchanged' }
  | { kind: 'remember'; until: number; orderAt: number }
  | { kind: 'order'; order: DesiredEntry }

/** Extensions of one entry are ordered at most once in this time (decision 26). */
export const extensionPauseMs = 30_000

/** What has to stand for these holders at `now`: the union of their rights, to the latest end among them. */
export function desiredEntry(holders: readonly Holder[], now: number): DesiredEntry {
  const live = holders.filter((holder) => holder.endsAt > now)
  const first = firstOpened(live)
  if (first === undefined) return { desired: 'closed' }
  const until = latestEnd(live)
  return {
    desired: 'open',
    until,
    silence: silenceOf(live, until),
    cut: live.some((holder) => holder.cut),
    userName: first.userName,
  }
}

/**
 * How the entry gets from what was ordered to what is desired.
 *
 * Whatever takes time away, opens, closes or changes `cut` goes at once. What only gives more time may wait,
 * because the agent then closes too early, never too late: 30 s at most since the last order, and always before
 * half of the time that the agent holds is gone. Ask again at `orderAt`, with the holders of that moment; when
 * the answer then is `unchanged`, nothing is left to be ordered and `orderAt` is to be cleared.
 */
export function planEntry(current: OrderedEntry, desired: DesiredEntry, now: number): EntryPlan {
  if (desired.desired === 'closed')
    return current.desired === 'closed' ? { kind: 'unchanged' } : { kind: 'order', order: desired }
  const order = { kind: 'order', order: desired } as const
  if (current.desired === 'closed' || current.cut !== desired.cut) return order

  const held: Bounds = { until: current.orderedUntil, silence: current.silence }
  if (!standsNoLonger(held, desired)) return order
  if (standsNoLonger(desired, held)) return current.until === desired.until ? { kind: 'unchanged' } : order

  const orderAt = extensionDueAt(current)
  if (orderAt <= now) return order
  return { kind: 'remember', until: desired.until, orderAt }
}

/**
 * The end of a new grant: the earliest of the session's end, the account's ValidUntil and the knoc's
 * MaximumGrantDuration from now; null means it has none of its own.
 */
export const grantEnd = (bounds: {
  now: number
  sessionEndsAt: number
  validUntil: number | null
  maximumGrantSeconds: number | null
}): number =>
  Math.min(
    bounds.sessionEndsAt,
    bounds.validUntil ?? Infinity,
    bounds.maximumGrantSeconds === null ? Infinity : bounds.now + bounds.maximumGrantSeconds * 1000,
  )

function firstOpened(holders: readonly Holder[]): Holder | undefined {
  let first = holders[0]
  for (const holder of holders) if (first && isBefore(holder, first)) first = holder
  return first
}

const isBefore = (a: Holder, b: Holder): boolean =>
  a.openedAt < b.openedAt || (a.openedAt === b.openedAt && a.grantId < b.grantId)

const latestEnd = (holders: readonly Holder[]): number =>
  holders.reduce((latest, holder) => Math.max(latest, holder.endsAt), 0)

/** Who shares a door shares the mildest rule for a silent server among its holders. */
function silenceOf(holders: readonly Holder[], until: number): Silence | null {
  const keepingUntil = latestEnd(holders.filter((holder) => holder.silenceSeconds === null))
  if (keepingUntil >= until) return null
  const afterSeconds = holders.reduce((longest, holder) => Math.max(longest, holder.silenceSeconds ?? 0), 0)
  return { afterSeconds, until: keepingUntil }
}

type Bounds = { until: number; silence: Silence | null }

/** True when, however long the server is silent, the first closes no later than the second. */
function standsNoLonger(first: Bounds, second: Bounds): boolean {
  if (first.until > second.until || floorOf(first) > floorOf(second)) return false
  if (first.silence === null || second.silence === null) return true
  return first.silence.afterSeconds <= second.silence.afterSeconds
}

/** The end that even an endless silence leaves standing. */
const floorOf = ({ until, silence }: Bounds): number =>
  silence === null ? until : Math.min(until, silence.until)

const extensionDueAt = ({ orderedAt, orderedUntil }: OrderedEntry): number =>
  orderedAt + Math.min(extensionPauseMs, Math.max(0, orderedUntil - orderedAt) / 2)

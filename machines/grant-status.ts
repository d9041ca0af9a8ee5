/**
 * The status numbers of a protected entry as a user sees it, and everything that hangs on them.
 *
 * Portal §4; specification README "Statuses", "Statuses, the rest", "Buttons", "Passive lists closing".
 */

/** Translation key of a status, below `status.`. */
export type StatusLabel =
  | 'granted'
  | 'error'
  | 'pending'
  | 'agentOffline'
  | 'waiting'
  | 'read'
  | 'published'
  | 'revoking'
  | 'revoked'

/** The portal's groups; `published` stops the poll and has the Revoke button. */
export type StatusGroup = 'grantIssued' | 'error' | 'pending' | 'agentOffline' | 'grantReady' | 'published'

type StatusRow = {
  label: StatusLabel
  group: StatusGroup
  /** The poll after a click ends here. */
  pollStops: boolean
  /** `POST /grant` is taken; elsewhere it answers what stands and moves no end. */
  canGrant: boolean
  /** There is something to revoke or still to be closed. */
  canRevoke: boolean
}

/** The one table. 7 is reserved. 10 means the door may still be open. */
export const statuses = {
  0: { label: 'granted', group: 'grantIssued', pollStops: true, canGrant: false, canRevoke: true },
  1: { label: 'error', group: 'error', pollStops: true, canGrant: true, canRevoke: true },
  2: { label: 'pending', group: 'pending', pollStops: false, canGrant: false, canRevoke: true },
  3: { label: 'agentOffline', group: 'agentOffline', pollStops: true, canGrant: true, canRevoke: true },
  4: { label: 'waiting', group: 'grantReady', pollStops: true, canGrant: true, canRevoke: false },
  5: { label: 'read', group: 'grantIssued', pollStops: true, canGrant: false, canRevoke: true },
  6: { label: 'published', group: 'published', pollStops: true, canGrant: false, canRevoke: true },
  8: { label: 'revoking', group: 'grantIssued', pollStops: false, canGrant: false, canRevoke: true },
  9: { label: 'revoked', group: 'grantReady', pollStops: true, canGrant: true, canRevoke: false },
  10: { label: 'error', group: 'error', pollStops: true, canGrant: true, canRevoke: true },
} as const satisfies Record<number, StatusRow>

/** A status number of the wire. */
export type StatusNumber = keyof typeof statuses

/** Every status number, ascending. */
export const statusNumbers: readonly StatusNumber[] = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10]

/** Whether a number of the wire is a status this build knows. */
export const isStatusNumber = (number: number): number is StatusNumber => Object.hasOwn(statuses, number)

/** Whether `POST /grant` is taken at this status. A passive list takes an address back that it is about to lose. */
export const canGrant = (status: StatusNumber, { passive = false } = {}): boolean =>
  statuses[status].canGrant || (passive && status === 8)

/** Whether there is anything to revoke at this status. */
export const canRevoke = (status: StatusNumber): boolean => statuses[status].canRevoke

/** Whether the poll after a click ends at this status. */
export const pollStops = (status: StatusNumber): boolean => statuses[status].pollStops

/** What is known of one entry (address on target) of the ACL: of the grant's own, and of ended ones until closed. */
export type EntryFacts = {
  desired: 'open' | 'closed'
  /** The newest order is applied and was seen. */
  settled: boolean
  /** How the newest order's last try ended; null while none has. A passive list has none. */
  outcome: 'verified' | 'reported' | 'failed' | null
  /** The last that was seen of it is that it stands. Passive: a list with the address was served. */
  seenOpen: boolean
}

/** What the status of one ACL in one session depends on. */
export type GrantFacts = {
  /** A list that devices fetch, without an agent. */
  passive: boolean
  agentOnline: boolean
  /** A live grant of this session for this ACL exists. */
  live: boolean
  /** An earlier grant of this session for this ACL ended. */
  everGranted: boolean
  /** The newest grant stands in an error of its own or ended by one; its text is kept. */
  grantError: boolean
  entries: readonly EntryFacts[]
}

/**
 * The status number these facts show. Total.
 *
 * What is wanted decides before what was: while a grant lives, only its open entries count; an entry that others
 * hold stays desired open and never keeps a revoked grant at 8. Without the agent an open door stays 0, a close
 * stays 8, and only what waits to open is 3.
 */
export function statusOf(facts: GrantFacts): StatusNumber {
  if (facts.live) return facts.passive ? statusOfPublished(facts) : statusOfOpening(facts)
  return statusOfClosing(facts)
}

/** An entry's row as the status sees it. Generations are compared, never counted. */
export const toEntryFacts = (row: {
  desired: 'open' | 'closed'
  generation: number
  appliedGeneration: number
  appliedDesired: 'open' | 'closed' | null
  failedGeneration: number | null
  outcome: 'verified' | 'reported' | 'failed' | null
}): EntryFacts => {
  const settled = row.appliedGeneration === row.generation
  const failed = !settled && row.failedGeneration === row.generation
  return {
    desired: row.desired,
    settled,
    outcome: failed ? 'failed' : settled ? row.outcome : null,
    seenOpen: row.appliedDesired === 'open',
  }
}

/** Fewer minutes than these left: the badge turns orange. */
export const expiresSoonMs = 15 * 60_000

/** Whether the end is near, but not there. */
export const expiresSoon = (expiresAt: number | null, now: number): boolean =>
  expiresAt !== null && expiresAt > now && expiresAt - now < expiresSoonMs

/**
 * The button of a click-to-grant entry; others have none. Asked in the specification's order.
 * `disabled` is DisableForUser, `expiresAt` the grant's end, `now` the server's time.
 */
export function buttonFor(entry: {
  clickToGrant: boolean
  status: number
  disabled: boolean
  expiresAt: number | null
  now: number
}): 'pending' | 'none' | 'revoke' | 'grant' {
  const { status, disabled, expiresAt, now } = entry
  if (!entry.clickToGrant || !isStatusNumber(status)) return 'none'
  const { group } = statuses[status]
  if (group === 'pending') return 'pending'
  if (group === 'error' || group === 'agentOffline' || disabled) return 'none'
  if (group === 'grantReady' && !(expiresAt !== null && expiresAt > now)) return 'grant'
  return 'revoke'
}

/** Nothing tells a list's reader apart: read is read, whoever fetched it. */
const statusOfPublished = ({ entries }: GrantFacts): StatusNumber => {
  const open = entries.filter(isWanted)
  return open.length > 0 && open.every((entry) => entry.seenOpen) ? 5 : 6
}

function statusOfOpening({ entries, agentOnline, grantError }: GrantFacts): StatusNumber {
  const open = entries.filter(isWanted)
  if (grantError || open.some((entry) => entry.outcome === 'failed')) return 1
  if (open.length > 0 && open.every(stands)) return 0
  if (agentOnline) return 2
  // One more address that waits does not take away the button that closes the others.
  return open.some(stands) ? 0 : 3
}

function statusOfClosing(facts: GrantFacts): StatusNumber {
  const closing = facts.entries.filter((entry) => mayStand(entry, facts))
  if (closing.some((entry) => entry.outcome === 'failed')) return 10
  if (closing.length > 0) return 8
  return facts.everGranted && !facts.grantError ? 9 : 4
}

const isWanted = (entry: EntryFacts): boolean => entry.desired === 'open'

const stands = (entry: EntryFacts): boolean => entry.seenOpen || (entry.settled && entry.outcome !== 'failed')

/** A list never read, and a door whose opening failed, leave nothing to wait for. */
const mayStand = (entry: EntryFacts, { passive, grantError }: GrantFacts): boolean =>
  entry.desired === 'closed' && !entry.settled && (entry.seenOpen || !(passive || grantError))

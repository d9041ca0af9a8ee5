import { entryAddress } from '#machines/entry-address.ts'
import {
  buttonFor,
  expiresSoon,
  expiresSoonMs,
  isStatusNumber,
  type StatusLabel,
  statuses,
} from '#machines/grant-status.ts'
import type { AclStatus, Restriction } from '#server/status/status.schema.ts'

/** How an entry's door stands. */
export type Door = 'open' | 'ajar' | 'closed'

/** All that a card or a row shows of an entry at a moment, but for the texts that run with the clock. */
export type EntryView = {
  button: 'grant' | 'revoke' | 'pending' | 'none'
  door: Door
  /** Why it is greyed: what the address doesn't meet, an agent that is away, or no reason given; null when it isn't. */
  restriction: Restriction | 'agentOffline' | 'unexplained' | null
  /** When access ends, by the server's clock in milliseconds; null while nothing is open. */
  endsAt: number | null
  /** Key below `status.`, for the badge of an entry without time left. */
  label: StatusLabel
  tone: 'neutral' | 'ok' | 'warn' | 'danger' | 'accent'
  /** When the enforcement point was last seen to agree; null when it wasn't, or nothing is open. */
  verifiedAt: number | null
  /** How it is known that the door is open or closed: key below `entry.`; null when it isn't known. */
  proof: 'verified' | 'reported' | 'closedVerified' | 'closedReported' | null
}

/** Reads an entry as a user sees it. Portal §4, specification README "Buttons". */
export function entryView(entry: AclStatus, now: number): EntryView {
  const status = isStatusNumber(entry.Status) ? entry.Status : 4
  const { group, label } = statuses[status]
  const expiresAt = endOf(entry)
  const isOpen = (group === 'grantIssued' || group === 'published') && status !== 8
  return {
    button: buttonFor({
      clickToGrant: entry.ClickToGrant,
      status: entry.Status,
      disabled: entry.DisableForUser,
      expiresAt,
      now,
    }),
    door: isOpen && status !== 6 ? 'open' : status === 2 || status === 6 || status === 8 ? 'ajar' : 'closed',
    restriction:
      group === 'agentOffline'
        ? 'agentOffline'
        : entry.DisableForUser
          ? (entry.RestrictedBy ?? 'unexplained')
          : null,
    endsAt: isOpen ? expiresAt : null,
    label,
    tone: isOpen && expiresSoon(expiresAt, now) ? 'warn' : toneOf(status),
    verifiedAt: isOpen && entry.VerifiedAt !== null ? Date.parse(entry.VerifiedAt) : null,
    proof: entry.Verified && (isOpen ? entry.Verified : status === 9 ? closedProof[entry.Verified] : null),
  }
}

const closedProof = { verified: 'closedVerified', reported: 'closedReported' } as const

/**
 * The last moment before `now` at which the entry's view changed by the clock alone: its end comes near, or is
 * there. Between two such moments the view is the same, so that a ticking clock need not draw it anew.
 */
export function lastTurn(entry: AclStatus, now: number): number {
  const expiresAt = endOf(entry)
  if (expiresAt === null) return 0
  const turns = [expiresAt, expiresAt - expiresSoonMs + 1]
  return turns.find((turn) => turn <= now) ?? 0
}

/** The entry's address with its one-time token; undefined when it isn't a web address. */
export const entryLink = (entry: AclStatus): string | undefined =>
  entryAddress(entry.URL, entry.Config.UriToken)

/** Whether an end lies behind `now`: the status is to be read anew. */
export const hasPastEnd = (entries: readonly AclStatus[], now: number): boolean =>
  entries.some(({ ExpiredAfter }) => ExpiredAfter !== null && Date.parse(ExpiredAfter) <= now)

const endOf = ({ ExpiredAfter }: AclStatus): number | null =>
  ExpiredAfter === null ? null : Date.parse(ExpiredAfter)

const toneOf = (status: number): EntryView['tone'] => {
  if (status === 0 || status === 5) return 'ok'
  if (status === 1 || status === 10) return 'danger'
  return status === 2 || status === 6 || status === 8 ? 'accent' : 'neutral'
}

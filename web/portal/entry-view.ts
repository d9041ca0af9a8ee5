import { buttonFor, expiresSoon, isStatusNumber, statuses } from '#machines/grant-status.ts'
import type { AclStatus } from '#server/status/status.schema.ts'

/** How an entry's door stands. */
export type Door = 'open' | 'ajar' | 'closed'

/** All that a card or a row shows of an entry at a moment of the server's time. */
export type EntryView = {
  button: 'grant' | 'revoke' | 'pending' | 'none'
  door: Door
  /** Agent away before anything opened, or not from here: greyed. */
  isRestricted: boolean
  /** Milliseconds of access left; null while nothing is open. */
  leftMs: number | null
  /** Less than 15 minutes left. */
  endsSoon: boolean
  /** Key below `status.`, for the badge of an entry without time left. */
  label: (typeof statuses)[keyof typeof statuses]['label']
  tone: 'neutral' | 'ok' | 'warn' | 'danger' | 'accent'
  /** Milliseconds since the enforcement point was seen to agree; null when it wasn't, or nothing is open. */
  verifiedMsAgo: number | null
}

/** Reads an entry as a user sees it. Portal §4, specification README "Buttons". */
export function entryView(entry: AclStatus, now: number): EntryView {
  const status = isStatusNumber(entry.Status) ? entry.Status : 4
  const { group, label } = statuses[status]
  const expiresAt = entry.ExpiredAfter === null ? null : Date.parse(entry.ExpiredAfter)
  const isOpen = (group === 'grantIssued' || group === 'published') && status !== 8
  const leftMs = isOpen && expiresAt !== null ? expiresAt - now : null
  const endsSoon = expiresSoon(expiresAt, now)
  return {
    button: buttonFor({
      clickToGrant: entry.ClickToGrant,
      status: entry.Status,
      disabled: entry.DisableForUser,
      expiresAt,
      now,
    }),
    door: isOpen && status !== 6 ? 'open' : status === 2 || status === 6 || status === 8 ? 'ajar' : 'closed',
    isRestricted: entry.DisableForUser || group === 'agentOffline',
    leftMs,
    endsSoon,
    label,
    tone: isOpen && endsSoon ? 'warn' : toneOf(status),
    verifiedMsAgo:
      isOpen && entry.VerifiedAt !== null ? Math.max(0, now - Date.parse(entry.VerifiedAt)) : null,
  }
}

/** The entry's address with its one-time token; undefined when it isn't a web address. */
export function entryLink(entry: AclStatus): string | undefined {
  if (!/^https?:\/\//i.test(entry.URL) || !URL.canParse(entry.URL)) return undefined
  const url = new URL(entry.URL)
  if (entry.Config.UriToken) url.searchParams.set('knoc_token', entry.Config.UriToken)
  return url.toString()
}

/** Whether an end lies behind `now`: the status is to be read anew. */
export const hasPastEnd = (entries: readonly AclStatus[], now: number): boolean =>
  entries.some(({ ExpiredAfter }) => ExpiredAfter !== null && Date.parse(ExpiredAfter) <= now)

const toneOf = (status: number): EntryView['tone'] => {
  if (status === 0 || status === 5) return 'ok'
  if (status === 1 || status === 10) return 'danger'
  return status === 2 || status === 6 || status === 8 ? 'accent' : 'neutral'
}

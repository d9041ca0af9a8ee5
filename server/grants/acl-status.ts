import { grantCan } from '#machines/grant.machine.ts'
import { type EntryFacts, type StatusNumber, statusOf, toEntryFacts } from '#machines/grant-status.ts'
import { isPassiveType } from '../backends/definitions/index.ts'
import type { AclStatus, Restriction } from '../status/status.schema.ts'
import type { AclStatusRow } from './acl-status.query.ts'

/** The status number of one knoc in one session. */
export function statusNumberOf(row: AclStatusRow): StatusNumber {
  return statusOf({
    passive: isPassiveType(row.backendType),
    agentOnline: row.agentOnline,
    live: row.live,
    everGranted: row.everGranted,
    grantError: row.lastReason === 'failed' && !row.live,
    entries: row.entries.map((entry) => toFacts(row, entry)),
  })
}

/** Whether the grant's machine takes a click on Grant now; the button asks the same status. */
export const canBeGranted = (row: AclStatusRow): boolean =>
  grantCan(
    { status: statusNumberOf(row), passive: isPassiveType(row.backendType), agentOnline: row.agentOnline },
    { type: 'grant' },
  )

/** One knoc on the wire. The driver's own words stay with the administrators. */
export function toAclStatus(row: AclStatusRow): AclStatus {
  const status = statusNumberOf(row)
  const isOpenOrClosing = row.live || status === 8 || status === 10
  return {
    ID: row.id,
    ACLID: row.id,
    ParentID: null,
    Description: row.description,
    URL: row.url ?? '',
    Icon: row.icon ?? 'server',
    Category: row.category,
    Status: status,
    Error: errorOf(row, status),
    ExpiredAfter: isOpenOrClosing ? (row.endsAt?.toISOString() ?? null) : null,
    ClickToGrant: row.clickToGrant,
    HideFromUsers: row.hideFromUsers,
    DisableForUser: row.allowed === false,
    GrantTypeFixedIps: row.grantType === 'specifiedIps',
    CGNATOpen: row.cgnatOpen,
    AutoBrowseUsers: row.autoBrowseUsers,
    Config: {},
    // Of a list nothing is verified: it was read, whoever read it.
    VerifiedAt: isPassiveType(row.backendType) ? null : verifiedAt(row),
    Verified: verificationOf(row, status),
    RestrictedBy: restrictionOf(row),
    Passive: isPassiveType(row.backendType),
    ListReadAt: row.listReadAt?.toISOString() ?? null,
    NextReadAt: row.listReadAgainAt?.toISOString() ?? null,
  }
}

/**
 * A reading moves the grants that it carried, not those that came after it: an address that is granted anew before the
 * list was served without it is published again. Specification README "Allowlist body", "Passive lists closing".
 *
 * What was carried once stands in every later list too, until it is seen gone: then the list's own last reading counts.
 */
function toFacts(row: AclStatusRow, entry: AclStatusRow['entries'][number]): EntryFacts {
  const facts = withFailedClose(toEntryFacts(entry), entry)
  if (!isPassiveType(row.backendType) || row.grantedAt === null) return facts
  const lastSeen = Math.max(Date.parse(entry.seenAt ?? '1970'), row.listReadAt?.getTime() ?? 0)
  return { ...facts, seenOpen: facts.seenOpen && lastSeen >= row.grantedAt.getTime() }
}

/** A close that failed is a failed one while it is tried again, each time as a new order: the door may be open. */
const withFailedClose = (facts: EntryFacts, { attempts }: AclStatusRow['entries'][number]): EntryFacts =>
  facts.desired === 'closed' && !facts.settled && attempts > 0 ? { ...facts, outcome: 'failed' } : facts

/** How the door is known to be as the status says; null when it isn't: nobody looked, or others hold it open. */
function verificationOf(row: AclStatusRow, status: StatusNumber): AclStatus['Verified'] {
  if (isPassiveType(row.backendType)) return null
  if (status === 9) return row.closed
  if (status !== 0 || verifiedAt(row) === null) return null
  return row.entries.every(({ outcome }) => outcome === 'verified') ? 'verified' : 'reported'
}

/** Why the session's address may not have it; null when it may. */
function restrictionOf({ allowed, restrictionType, rfcType }: AclStatusRow): Restriction | null {
  if (allowed !== false || restrictionType === 'none') return null
  if (restrictionType !== 'RFC1918') return restrictionType
  return rfcType === 'allow' ? 'internalOnly' : 'externalOnly'
}

function errorOf(row: AclStatusRow, status: StatusNumber): string | null {
  if (status === 10) return 'err.revokeFailed'
  if (row.refreshFailed && (status === 6 || status === 8)) return 'err.listRefreshFailed'
  if (status === 1 || (row.lastReason === 'failed' && !row.live)) return 'err.grantFailed'
  return null
}

/** The oldest look among what stands: all of it was seen at least then. */
function verifiedAt(row: AclStatusRow): string | null {
  const seen = row.entries.map((entry) => entry.seenAt)
  if (seen.length === 0 || seen.includes(null)) return null
  return new Date(Math.min(...seen.map((at) => Date.parse(at ?? '')))).toISOString()
}

/**
 * When a grant counts, for which addresses a knoc opens, and how ends come nearer: what a change while doors are open
 * has to move, and what it must not.
 *
 * Pure; instants are milliseconds by the database's clock. The server says the same in SQL, for many at once (the view
 * `live_grants`, `standGrants`); tests/access/liveness.test.ts holds the two against each other. Specification README
 * "What grants", "End of a grant", "Without a licence"; decisions 3 and 34.
 */
import type { AddressSource } from './address-move.ts'

/** `ended`: no new grants, what is open runs to its own end. Without any licence nothing is open. */
export type LicenceStanding = 'inForce' | 'ended' | 'removed'

/** What a knoc says of addresses. */
export type KnocAddresses = {
  /** Fixed addresses in place of the user's own; null: the user's. */
  fixed: readonly string[] | null
  cgnatOpen: boolean
}

/** A grant, with everything that its right hangs on at this moment. */
export type RightFacts = {
  address: string
  source: AddressSource | 'specified'
  /** The grant's own end, its session's, and the account's ValidUntil. */
  endsAt: number
  sessionEndsAt: number
  validUntil: number | null
  /** Not disabled, not deleted, within the licence's number of users. */
  personCounts: boolean
  isEntitled: boolean
  isKnocDeleted: boolean
  /** The knoc's restriction lets the user's address through. */
  isAllowed: boolean
  knoc: KnocAddresses
  licence: LicenceStanding
}

/** Whether a standing grant still counts. */
export const counts = (right: RightFacts, now: number): boolean =>
  now < Math.min(right.endsAt, right.sessionEndsAt, right.validUntil ?? Infinity) &&
  right.personCounts &&
  right.isEntitled &&
  !right.isKnocDeleted &&
  right.isAllowed &&
  right.licence !== 'removed' &&
  opensFor(right.knoc, right)

/** Whether a knoc opens for an address that came this way. */
export function opensFor(
  { fixed, cgnatOpen }: KnocAddresses,
  { address, source }: Pick<RightFacts, 'address' | 'source'>,
): boolean {
  if (source === 'specified') return fixed?.includes(address) ?? false
  return fixed === null && (source === 'own' || cgnatOpen)
}

/** Whether a new grant may be given, as against one that goes on. */
export const mayGrant = (licence: LicenceStanding): boolean => licence === 'inForce'

/**
 * A grant's end after what bounds it came nearer: its session's end, or its knoc's MaximumGrantDuration, counted from
 * when it was given. What got longer moves no end.
 */
export const shortenedEnd = (
  grant: { endsAt: number; givenAt: number },
  bounds: { sessionEndsAt: number; maximumGrantSeconds: number | null },
): number =>
  Math.min(
    grant.endsAt,
    bounds.sessionEndsAt,
    bounds.maximumGrantSeconds === null ? Infinity : grant.givenAt + bounds.maximumGrantSeconds * 1000,
  )

/** The lists whose entries a change of a knoc touches: those it gives up and those it takes. */
export const touchedLists = (before: readonly string[], after: readonly string[]): string[] => [
  ...new Set([...before, ...after]),
]

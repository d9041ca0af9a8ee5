/**
 * The arithmetic of the licence: its state, its limits, and who is beyond them.
 *
 * Instants are milliseconds by the database's clock. Specification README "Licence", console §9, decision 34.
 */

/** A licence as its signed key says. */
export type Licence = {
  /** Null: no limit. */
  userLimit: number | null
  /** Sessions of one user at once; null: no limit. */
  sessionLimit: number | null
  /** 0–50; 50 where the key names none. */
  overagePercentage: number
  /** Null: it doesn't end. */
  expiresAt: number | null
}

/** `removed`: there is none. `expiring`: 60 days or fewer left, or its end isn't confirmed yet. */
export type LicenceState = 'removed' | 'active' | 'expiring' | 'expired'

export const dayMs = 86_400_000
/** A licence is `expiring` this long before its end. */
export const expiryWarningMs = 60 * dayMs
/** An end counts only when it was seen at two evaluations this far apart: a clock's mistake ends nothing. */
export const expiryConfirmedMs = 10 * 60_000

/** `expirySeenAt`: the first of the evaluations, without a break until now, that saw the end; null if none did. */
export function licenceState(
  licence: Licence | null,
  { now, expirySeenAt }: { now: number; expirySeenAt: number | null },
): LicenceState {
  if (licence === null) return 'removed'
  if (licence.expiresAt === null || licence.expiresAt - now > expiryWarningMs) return 'active'
  const isPast = now >= licence.expiresAt
  const isConfirmed = expirySeenAt !== null && now - expirySeenAt >= expiryConfirmedMs
  return isPast && isConfirmed ? 'expired' : 'expiring'
}

/** Whether knocs may be made and changed and new grants given. What is open runs to its own end without it. */
export const isLicensed = (state: LicenceState): boolean => state === 'active' || state === 'expiring'

/** Whole days to the licence's end, 0 when it is past; null when it has none. */
export const daysToExpiry = (licence: Licence, now: number): number | null =>
  licence.expiresAt === null ? null : Math.max(0, Math.floor((licence.expiresAt - now) / dayMs))

/** Where the number of users stands against the licence. */
export type UserAllowance = {
  limit: number | null
  /** Users tolerated above the limit. */
  overage: number
  /** Users that can still be made; null: any number. */
  remaining: number | null
  /** Above the limit: the banner. */
  isExceeded: boolean
  /** More than 30 % above the limit: the banner's stronger words. */
  isFarExceeded: boolean
  /** Another user may be made, first sign-ins of an identity provider's users included. */
  canCreate: boolean
  /** Users kept licensed, oldest first; null: all. */
  licensedUsers: number | null
}

/** Above this share over the limit the banner reads 'exceeded by 30 %'. */
const farExceeded = 0.3

/** The allowance for so many users. Without a licence no user limit holds. */
export function userAllowance(licence: Licence | null, userCount: number): UserAllowance {
  const limit = licence?.userLimit ?? null
  if (licence === null || limit === null) return unlimited
  const overage = userOverage(limit, licence.overagePercentage)
  const most = limit + overage
  return {
    limit,
    overage,
    remaining: Math.max(0, most - userCount),
    isExceeded: userCount > limit,
    isFarExceeded: (userCount - limit) / Math.max(1, limit) > farExceeded,
    canCreate: userCount < most,
    licensedUsers: userCount > most ? most : null,
  }
}

/** floor(limit × percentage / 100). */
export const userOverage = (limit: number, percentage: number): number =>
  Math.floor((limit * percentage) / 100)

/** Sessions one user may have at once: the smaller of the user's own limit and the licence's; null: any number. */
export function sessionLimit(
  licence: Pick<Licence, 'sessionLimit'> | null,
  ownLimit: number | null,
): number | null {
  const limits = [ownLimit, licence?.sessionLimit ?? null].filter((limit) => limit !== null)
  return limits.length === 0 ? null : Math.min(...limits)
}

const unlimited: UserAllowance = {
  limit: null,
  overage: 0,
  remaining: null,
  isExceeded: false,
  isFarExceeded: false,
  canCreate: true,
  licensedUsers: null,
}

import { usualSessionMinutes } from '../../users/identity-user.service.ts'
import type { Identity } from '../identity/identity-account.service.ts'

/** What an ID token says, with the userinfo's answer where the token says nothing. */
export type ProviderClaims = Readonly<Record<string, unknown>> & { iss: string; sub: string }

/** A year: no session is longer. */
const mostSessionMinutes = 525_600

/** What an ID token should say; when it leaves one out, the userinfo endpoint is asked. */
const wanted = ['preferred_username', 'realName', 'groups', 'sessionDuration']
/** What counts of the userinfo's answer where the ID token says nothing. */
const fromUserInfo = [...wanted, 'name', 'email', 'email_verified']

/** Whether an ID token says all that is read, so that the userinfo endpoint need not be asked. */
export const isWhole = (claims: ProviderClaims): boolean => wanted.every((name) => claims[name] !== undefined)

/** An ID token's claims, completed by the userinfo's. */
export function completeClaims(claims: ProviderClaims, userInfo: Record<string, unknown>): ProviderClaims {
  const more = fromUserInfo.filter((name) => claims[name] === undefined && userInfo[name] !== undefined)
  return { ...claims, ...Object.fromEntries(more.map((name) => [name, userInfo[name]])) }
}

/**
 * Who somebody is, by the claims of his provider; the same as SAML's attributes (specification README "SAML").
 * A claim of a wrong kind counts as absent. Without `groups` nobody is in any: some providers leave the claim out
 * for whoever has left the last one.
 */
export function toIdentity(claims: ProviderClaims): Identity & { subject: string } {
  const realName = toLine(claims['realName']) ?? toLine(claims['name'])
  return {
    authType: 'OIDC',
    userName: findUserName(claims),
    subject: `${claims.iss} ${claims.sub}`,
    claims: {
      ...(realName !== undefined && { realName }),
      groups: toGroups(claims['groups']),
      sessionMinutes: toSessionMinutes(claims['sessionDuration']),
    },
  }
}

/** The provider's name of this sign-in, for its back-channel logout; undefined when it gives none. */
export function toIdentitySession({ iss, sid }: ProviderClaims): string | undefined {
  return typeof sid === 'string' && sid !== '' ? `${iss} ${sid}` : undefined
}

function findUserName({ preferred_username, email, email_verified, sub }: ProviderClaims): string {
  const isOwnEmail = email_verified !== false && email_verified !== 'false'
  return toLine(preferred_username) ?? (isOwnEmail ? toLine(email) : undefined) ?? sub
}

function toGroups(groups: unknown): string[] {
  const names = Array.isArray(groups) ? groups : [groups]
  return [...new Set(names.map(toLine).filter((name) => name !== undefined))]
}

/** Minutes, as a number or, as SAML has them, in digits. Out of range or none: the usual ones. */
function toSessionMinutes(duration: unknown): number {
  const minutes = typeof duration === 'string' && /^\d{1,6}$/.test(duration) ? Number(duration) : duration
  const isPossible =
    Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= mostSessionMinutes
  return isPossible ? Number(minutes) : usualSessionMinutes
}

/** A text of one line, up to 256 characters, without control characters. */
function toLine(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  return /^\P{C}{1,256}$/u.test(text) ? text : undefined
}

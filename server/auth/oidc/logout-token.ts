import { type JWTPayload, jwtVerify } from 'jose'
import { z } from 'zod'
import { apiError } from '../../errors.ts'
import type { IdentitySessionNames } from '../../sessions/identity-session.query.ts'
import type { Provider } from './discovery.ts'
import { findApiError, findReason } from './oidc-reason.ts'

/** A provider's word that somebody is signed out there. */
export type LogoutToken = IdentitySessionNames & {
  /** Its id: the token counts once. */
  id: string
  /** Until when it would be taken, and a second use has to be known. */
  expiresAt: Date
}

/** How old a logout token may be, and how far clocks may differ, in seconds. */
const longestAgeSeconds = 300
const toleranceSeconds = 30

/** Longest token that is looked at, in characters; real ones have about 700. */
const longestLogoutToken = 16_384

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

const claimsSchema = z.looseObject({
  jti: z.string().min(1).max(500),
  iat: z.number(),
  sid: z.string().min(1).optional(),
  sub: z.string().min(1).optional(),
  events: z.looseObject({ [logoutEvent]: z.looseObject({}) }),
  nonce: z.never('a logout token has no nonce').optional(),
})

/** An explicit type is recommended, and must not be that of another kind of token (RFC 8725 §3.11). */
const types: readonly unknown[] = ['logout+jwt', 'application/logout+jwt', 'JWT', undefined]

/**
 * Checks a logout token: signature by one of the provider's keys, issuer, audience, times, event, no nonce, `sid` or
 * `sub` (OpenID Connect Back-Channel Logout 1.0 §2.6). That it is used once is the caller's to see to.
 *
 * @throws err.badRequest with the reason as `detail`, err.identityProviderUnavailable when its keys can't be read.
 */
export async function verifyLogoutToken(
  provider: Pick<Provider, 'keys' | 'issuer' | 'clientId' | 'algorithms'>,
  token: string,
): Promise<LogoutToken> {
  try {
    return await verify(provider, token)
  } catch (error) {
    throw findApiError(error) ?? apiError('err.badRequest', { detail: findReason(error), cause: error })
  }
}

async function verify(
  { keys, issuer, clientId, algorithms }: Pick<Provider, 'keys' | 'issuer' | 'clientId' | 'algorithms'>,
  token: string,
): Promise<LogoutToken> {
  if (token.length > longestLogoutToken) throw new Error('the logout token is too long')
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: clientId,
    algorithms: [...algorithms],
    clockTolerance: toleranceSeconds,
    maxTokenAge: longestAgeSeconds,
    requiredClaims: ['iss', 'aud', 'iat', 'exp', 'jti', 'events'],
  })
  if (!types.includes(protectedHeader.typ)) throw new Error('the token is of another type (typ)')
  const { jti, iat, sid, sub } = readClaims(payload)
  return {
    id: jti,
    expiresAt: new Date((iat + 2 * longestAgeSeconds) * 1000),
    ...(sid !== undefined && { identitySession: `${issuer} ${sid}` }),
    ...(sub !== undefined && { subject: `${issuer} ${sub}` }),
  }
}

function readClaims(payload: JWTPayload): z.output<typeof claimsSchema> {
  const { data, error } = claimsSchema.safeParse(payload)
  const issue = error?.issues[0]
  if (issue !== undefined) throw new Error(`${issue.path.join('.')}: ${issue.message}`)
  if (data?.sid === undefined && data?.sub === undefined)
    throw new Error('the logout token names neither sid nor sub')
  return data
}

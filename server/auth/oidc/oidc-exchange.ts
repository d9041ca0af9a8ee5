import * as oidc from 'openid-client'
import { apiError } from '../../errors.ts'
import type { Provider } from './discovery.ts'
import { completeClaims, isWhole, type ProviderClaims } from './oidc-claims.ts'
import { findApiError, findReason } from './oidc-reason.ts'

/** What was sent to the provider and is held against its answer. */
export type SentRequest = { state: string; nonce: string; codeVerifier: string; redirectUri: string }

/** How far the provider's clock may be ahead, in seconds; the library allows as much elsewhere. */
const toleranceSeconds = 30

/**
 * Turns a provider's answer into claims that are proven: state, issuer (RFC 9207), the code with its verifier
 * (RFC 7636), then the ID token's signature, algorithm, issuer, audience, authorised party, times and nonce (OpenID
 * Connect Core 3.1.3.7), and the userinfo's subject.
 *
 * @throws err.authenticationFailed with the reason as `detail`, err.identityProviderUnavailable
 */
export async function exchangeAnswer(
  { configuration, clientId }: Provider,
  answer: URLSearchParams,
  { state, nonce, codeVerifier, redirectUri }: SentRequest,
): Promise<ProviderClaims> {
  try {
    const url = new URL(`${redirectUri}?${answer}`)
    const tokens = await oidc.authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) throw new Error('the answer has no ID token')
    checkParty(claims, clientId)
    return await addUserInfo(configuration, tokens.access_token, claims)
  } catch (error) {
    throw (
      findApiError(error) ?? apiError('err.authenticationFailed', { detail: findReason(error), cause: error })
    )
  }
}

/** What the library leaves out: an `azp` beside a single audience, and a token from the future. */
function checkParty({ azp, iat }: oidc.IDToken, clientId: string): void {
  if (azp !== undefined && azp !== clientId) throw new Error('the ID token is for another party (azp)')
  if (iat > Date.now() / 1000 + toleranceSeconds)
    throw new Error('the ID token was issued in the future (iat)')
}

/** Failing closed: whoever has left a group must not keep it because the provider answers nothing. */
async function addUserInfo(
  configuration: oidc.Configuration,
  accessToken: string,
  claims: oidc.IDToken,
): Promise<ProviderClaims> {
  if (isWhole(claims) || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  return completeClaims(claims, await oidc.fetchUserInfo(configuration, accessToken, claims.sub))
}

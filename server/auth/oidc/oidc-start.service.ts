import * as oidc from 'openid-client'
import { z } from 'zod'
import type { Deps } from '../../context.ts'
import { apiError } from '../../errors.ts'
import { newToken } from '../../platform/random.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { type AuthSettings, readAuthSettings } from '../../settings/auth-setting.query.ts'
import { openIdentityRequest } from '../identity/identity-request.store.ts'
import { discoverProvider, type Provider } from './discovery.ts'

/** What has to be known of a sign-in when the browser comes back. */
export const oidcFactsSchema = z.object({
  /** The answer counts only if the realm's provider is still this one. */
  issuer: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  nonce: z.string(),
  /** Sealed for the request: who reads the table can't redeem a code. */
  codeVerifier: z.string(),
  kiosk: z.boolean(),
})
type OidcFacts = z.output<typeof oidcFactsSchema>

/** Where a sign-in's code verifier is sealed for. */
export const verifierPlace = (state: string) => ({ table: 'identity_requests', column: 'facts', id: state })

/**
 * Begins a sign-in at a realm's provider: authorization code flow with PKCE (S256), state and nonce; on a public
 * computer it asks for a fresh sign-in there.
 *
 * @returns the address to send the browser to.
 * @throws err.oidcNotConfigured, err.identityProviderUnavailable
 */
export async function startOidcSignIn(
  deps: Pick<Deps, 'db' | 'sealer' | 'config'>,
  { realm, kiosk, browserHash }: { realm: Realm; kiosk: boolean; browserHash: string },
): Promise<URL> {
  const settings = await readAuthSettings(deps)
  const provider = await findProvider(deps, settings, realm)
  const state = newToken()
  const verifier = oidc.randomPKCECodeVerifier()
  const facts: OidcFacts = {
    issuer: provider.issuer,
    clientId: provider.clientId,
    redirectUri: `${settings.publicUrl}/api${realm === 'admin' ? '/admin' : ''}/oidc/callback`,
    nonce: newToken(),
    codeVerifier: deps.sealer.seal(verifier, verifierPlace(state)),
    kiosk,
  }
  await openIdentityRequest(deps.db.grants, { realm, kind: 'oidc', requestId: state, browserHash, facts })
  return oidc.buildAuthorizationUrl(provider.configuration, {
    redirect_uri: facts.redirectUri,
    scope: provider.scope,
    state,
    nonce: facts.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(kiosk && { prompt: 'login' }),
  })
}

/**
 * The provider of a realm, as it stands in the settings now.
 *
 * @throws err.oidcNotConfigured, err.identityProviderUnavailable
 */
export async function findProvider(
  { config }: Pick<Deps, 'config'>,
  settings: Pick<AuthSettings, 'oidc'>,
  realm: Realm,
): Promise<Provider> {
  const found = settings.oidc[realm]
  if (found === null) throw apiError('err.oidcNotConfigured')
  return discoverProvider(found, config)
}

import type { Deps } from '../../context.ts'
import { ApiError, apiError } from '../../errors.ts'
import { endSessionsOfIdentity } from '../../sessions/identity-session.service.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { readAuthSettings } from '../../settings/auth-setting.query.ts'
import { useAssertion } from '../identity/identity-request.store.ts'
import { verifyLogoutToken } from './logout-token.ts'
import { countRefusal } from './oidc-refusal.service.ts'
import { findProvider } from './oidc-start.service.ts'

type BackchannelDeps = Pick<Deps, 'db' | 'rights' | 'sealer' | 'config' | 'log'>

/**
 * Ends the sessions that a realm's provider says are over, with their grants. A token counts once over all replicas,
 * and is not used up when the sessions could not be ended, so that the provider may send it again.
 *
 * Wrong tokens are logged, those of an address that sends many no longer; a right one is always heard, because doors
 * hang on it.
 *
 * @throws err.badRequest, err.oidcNotConfigured, err.identityProviderUnavailable: nothing ended.
 */
export async function signOutByProvider(
  deps: BackchannelDeps,
  { realm, logoutToken, address }: { realm: Realm; logoutToken: string; address: string },
): Promise<void> {
  try {
    const provider = await findProvider(deps, await readAuthSettings(deps), realm)
    const { id, expiresAt, ...names } = await verifyLogoutToken(provider, logoutToken)
    const issuer = `logout ${realm} ${provider.issuer}`
    const count = await endSessionsOfIdentity(deps, { realm, ...names }, async (tx) => {
      if (!(await useAssertion(tx, { issuer, id, expiresAt })))
        throw apiError('err.badRequest', { detail: 'the logout token was used before' })
    })
    deps.log.debug({ realm, count }, 'a provider signed somebody out')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const isMany = (await countRefusal(deps, `oidc logout ${realm}`, address)) > 0
    if (!isMany)
      deps.log.warn({ realm, address, reason: error.detail ?? error.code }, 'a logout token was refused')
    throw error
  }
}

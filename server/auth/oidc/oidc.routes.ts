import { type Context, Hono } from 'hono'
import { ApiError } from '../../errors.ts'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import { type Realm, sessionCookies } from '../../sessions/session-cookie.ts'
import { arrivalOf, toAddress } from '../arrival.ts'
import type { AuthDeps } from '../auth.routes.ts'
import { browserBinding } from '../identity/browser-binding.ts'
import { loginPages, orToLoginPage, readForm } from '../login-page.ts'
import { signOutByProvider } from './backchannel.service.ts'
import { finishOidcSignIn } from './oidc-callback.service.ts'
import { startOidcSignIn } from './oidc-start.service.ts'

/**
 * OIDC of both realms: the way to the provider, back, and its back-channel logout. Browsers come here by navigation,
 * so refusals are redirects to the login page with the code; the back channel answers as its own standard says
 * (OpenID Connect Back-Channel Logout 1.0 §2.8).
 */
export function oidcRoutes(deps: AuthDeps) {
  const cookies = sessionCookies(deps.config)
  const binding = browserBinding(deps.config)

  const start = (realm: Realm) => async (c: Context<HttpEnv>) => {
    const kiosk = realm === 'user' && c.req.query('kioskMode') === 'true'
    return orToLoginPage(c, { log: deps.log, realm }, async () => {
      const address = await startOidcSignIn(deps, { realm, kiosk, browserHash: binding.bind(c) })
      return c.redirect(address.href, 302)
    })
  }

  const finish = (realm: Realm) => async (c: Context<HttpEnv>) =>
    orToLoginPage(c, { log: deps.log, realm }, async () => {
      const session = await finishOidcSignIn(deps, {
        realm,
        parameters: new URL(c.req.url).searchParams,
        browserHash: binding.read(c),
        arrival: arrivalOf(c, { replaces: cookies.read(c, realm) }),
      })
      cookies.set(c, realm, session)
      return c.redirect(loginPages[realm], 303)
    })

  const signOut = (realm: Realm) => async (c: Context<HttpEnv>) => {
    c.header('Cache-Control', 'no-store')
    const [logoutToken, ...more] = (await readForm(c)).getAll('logout_token')
    const isRefused =
      logoutToken === undefined || more.length > 0
        ? true
        : await signOutByProvider(deps, {
            realm,
            logoutToken,
            address: toAddress(c.var.client.address),
          }).then(() => false, isRefusal)
    return isRefused ? c.json({ error: 'invalid_request' }, 400) : c.body(null, 200)
  }

  return new Hono<HttpEnv>()
    .get('/login/oidc', start('user'))
    .get('/admin/login/oidc', start('admin'))
    .get('/oidc/callback', finish('user'))
    .get('/admin/oidc/callback', finish('admin'))
    .post('/oidc/backchannel', signOut('user'))
    .post('/admin/oidc/backchannel', signOut('admin'))
}

function isRefusal(error: unknown): true {
  if (error instanceof ApiError) return true
  throw error
}

import { type Context, Hono } from 'hono'
import { ApiError, type ErrorCode } from '../../errors.ts'
import { isDatabaseUnavailable } from '../../platform/database-errors.ts'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import { type Realm, sessionCookies } from '../../sessions/session-cookie.ts'
import { arrivalOf, toAddress } from '../arrival.ts'
import type { AuthDeps } from '../auth.routes.ts'
import { browserBinding } from '../identity/browser-binding.ts'
import { signOutByProvider } from './backchannel.service.ts'
import { finishOidcSignIn } from './oidc-callback.service.ts'
import { startOidcSignIn } from './oidc-start.service.ts'

/** Where a browser goes that is signed in, and one that isn't. The console's login page leads on by itself. */
const pages = { user: '/', admin: '/admin/login' } as const

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
    return orToLogin(c, realm, async () => {
      const address = await startOidcSignIn(deps, { realm, kiosk, browserHash: binding.bind(c) })
      return c.redirect(address.href, 302)
    })
  }

  const finish = (realm: Realm) => async (c: Context<HttpEnv>) =>
    orToLogin(c, realm, async () => {
      const session = await finishOidcSignIn(deps, {
        realm,
        parameters: new URL(c.req.url).searchParams,
        browserHash: binding.read(c),
        arrival: arrivalOf(c, { replaces: cookies.read(c, realm) }),
      })
      cookies.set(c, realm, session)
      return c.redirect(pages[realm], 303)
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

  /** People walk here, so that faults are pages, not JSON. */
  async function orToLogin(
    c: Context<HttpEnv>,
    realm: Realm,
    act: () => Promise<Response>,
  ): Promise<Response> {
    try {
      return await act()
    } catch (error) {
      const code = toCode(error)
      const facts = { requestId: c.var.requestId, path: c.req.path, code, err: error }
      deps.log[code === 'err.internal' ? 'error' : 'debug'](facts, 'back to the login page')
      return c.redirect(`${pages[realm]}?error=${code}`, 303)
    }
  }

  return new Hono<HttpEnv>()
    .get('/login/oidc', start('user'))
    .get('/admin/login/oidc', start('admin'))
    .get('/oidc/callback', finish('user'))
    .get('/admin/oidc/callback', finish('admin'))
    .post('/oidc/backchannel', signOut('user'))
    .post('/admin/oidc/backchannel', signOut('admin'))
}

function toCode(error: unknown): ErrorCode {
  if (error instanceof ApiError) return error.code
  return isDatabaseUnavailable(error) ? 'err.serviceUnavailable' : 'err.internal'
}

async function readForm(c: Context<HttpEnv>): Promise<URLSearchParams> {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  return new URLSearchParams(type === 'application/x-www-form-urlencoded' ? await c.req.text() : '')
}

function isRefusal(error: unknown): true {
  if (error instanceof ApiError) return true
  throw error
}

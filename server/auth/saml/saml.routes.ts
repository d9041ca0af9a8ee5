import { Hono } from 'hono'
import { apiError } from '../../errors.ts'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import { type Realm, sessionCookies } from '../../sessions/session-cookie.ts'
import { readAuthSettings } from '../../settings/auth-setting.query.ts'
import { arrivalOf } from '../arrival.ts'
import type { AuthDeps } from '../auth.routes.ts'
import { browserBinding } from '../identity/browser-binding.ts'
import { loginPages, orToLoginPage, readForm } from '../login-page.ts'
import { createIdpMetadataSource, type IdpMetadataSource } from './idp-metadata-source.ts'
import { beginSamlSignIn, finishSamlSignIn } from './saml-sign-in.service.ts'
import { toServiceProvider } from './service-provider.ts'

const prefixes = { user: '', admin: '/admin' } as const satisfies Record<Realm, string>

/**
 * SAML of both realms: the service provider's metadata, the way to the identity provider, and back. Specification
 * README "SAML". People walk through the last two, so that faults are pages, not JSON.
 */
export function samlRoutes(
  deps: AuthDeps,
  idpMetadata: IdpMetadataSource = createIdpMetadataSource(deps.log),
) {
  const samlDeps = { ...deps, idpMetadata }
  const cookies = sessionCookies(deps.config)
  const binding = browserBinding(deps.config)
  const routes = new Hono<HttpEnv>()

  for (const realm of ['user', 'admin'] as const) {
    const prefix = prefixes[realm]
    const way = { log: deps.log, realm }
    routes
      .get(`${prefix}/saml/metadata`, async (c) => {
        const settings = await readAuthSettings(deps)
        if (settings.saml[realm] === null) throw apiError('err.samlNotConfigured')
        const xml = toServiceProvider(settings, realm).getMetadata()
        return c.body(xml, 200, { 'Content-Type': 'application/samlmetadata+xml; charset=utf-8' })
      })
      .get(`${prefix}/login/saml`, (c) =>
        orToLoginPage(c, way, async () => {
          const kiosk = realm === 'user' && c.req.query('kioskMode') === 'true'
          const browserHash = binding.bind(c)
          const replaces = cookies.read(c, realm)
          return c.redirect(await beginSamlSignIn(samlDeps, realm, { kiosk, browserHash, replaces }))
        }),
      )
      .post(`${prefix}/saml/acs`, (c) =>
        orToLoginPage(c, way, async () => {
          const form = await readForm(c)
          const { session, kiosk } = await finishSamlSignIn(samlDeps, realm, {
            response: form.get('SAMLResponse') ?? undefined,
            relayState: form.get('RelayState') ?? undefined,
            browserHash: binding.read(c),
            arrival: arrivalOf(c, { replaces: cookies.read(c, realm) }),
          })
          cookies.set(c, realm, { ...session, kiosk })
          return c.redirect(loginPages[realm], 303)
        }),
      )
  }
  return routes
}

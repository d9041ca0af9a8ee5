import { type Context, Hono } from 'hono'
import { ApiError, apiError, type ErrorCode } from '../../errors.ts'
import { isDatabaseUnavailable } from '../../platform/database-errors.ts'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import { type Realm, sessionCookies } from '../../sessions/session-cookie.ts'
import { readAuthSettings } from '../../settings/auth-setting.query.ts'
import { arrivalOf } from '../arrival.ts'
import type { AuthDeps } from '../auth.routes.ts'
import { browserBinding } from '../identity/browser-binding.ts'
import { createIdpMetadataSource, type IdpMetadataSource } from './idp-metadata-source.ts'
import { beginSamlSignIn, finishSamlSignIn } from './saml-sign-in.service.ts'
import { toServiceProvider } from './service-provider.ts'

/** Where a browser lands when it is signed in, and with `?error=` when it isn't. */
const realms: readonly { realm: Realm; prefix: string; page: string }[] = [
  { realm: 'user', prefix: '', page: '/' },
  { realm: 'admin', prefix: '/admin', page: '/admin/login' },
]

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

  for (const { realm, prefix, page } of realms)
    routes
      .get(`${prefix}/saml/metadata`, async (c) => {
        const settings = await readAuthSettings(deps)
        if (settings.saml[realm] === null) throw apiError('err.samlNotConfigured')
        const xml = toServiceProvider(settings, realm).getMetadata()
        return c.body(xml, 200, { 'Content-Type': 'application/samlmetadata+xml; charset=utf-8' })
      })
      .get(`${prefix}/login/saml`, (c) =>
        orBackTo(c, deps, page, async () => {
          const kiosk = realm === 'user' && c.req.query('kioskMode') === 'true'
          const browserHash = binding.bind(c)
          const replaces = cookies.read(c, realm)
          return c.redirect(await beginSamlSignIn(samlDeps, realm, { kiosk, browserHash, replaces }))
        }),
      )
      .post(`${prefix}/saml/acs`, (c) =>
        orBackTo(c, deps, page, async () => {
          const form = await readForm(c)
          const { session, kiosk } = await finishSamlSignIn(samlDeps, realm, {
            response: form.get('SAMLResponse') ?? undefined,
            relayState: form.get('RelayState') ?? undefined,
            browserHash: binding.read(c),
            arrival: arrivalOf(c, { replaces: cookies.read(c, realm) }),
          })
          cookies.set(c, realm, { ...session, kiosk })
          return c.redirect(page, 303)
        }),
      )
  return routes
}

async function readForm(c: Context): Promise<URLSearchParams> {
  const [type] = (c.req.header('Content-Type') ?? '').split(';')
  const isForm = type?.trim().toLowerCase() === 'application/x-www-form-urlencoded'
  return new URLSearchParams(isForm ? await c.req.text() : '')
}

async function orBackTo(
  c: Context<HttpEnv>,
  { log }: Pick<AuthDeps, 'log'>,
  page: string,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    const code = toCode(error)
    const facts = { requestId: c.var.requestId, path: c.req.path, code }
    if (code === 'err.internal') log.error({ ...facts, err: error }, 'request failed')
    else log.debug({ ...facts, err: error }, 'request refused')
    return c.redirect(`${page}?error=${code}`, 303)
  }
}

function toCode(error: unknown): ErrorCode {
  if (error instanceof ApiError) return error.code
  return isDatabaseUnavailable(error) ? 'err.serviceUnavailable' : 'err.internal'
}

import { Hono } from 'hono'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { requireAdmin } from '../sessions/session-guard.ts'
import { readAuthSettings } from '../settings/auth-setting.query.ts'
import { findLogo } from '../settings/logo.query.ts'
import { readAdminStatus } from './admin-status.service.ts'
import type { SystemStatus } from './status.schema.ts'
import { readTheme } from './theme.query.ts'

/** A picture and nothing else, whoever opens its address by itself; another picture has another address. */
const logoHeaders = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
}

/** What the shells read: theme and system status without a session, the admin's status with one, half or complete. */
export const statusRoutes = (
  deps: Pick<Deps, 'db' | 'config' | 'bundleHash' | 'sealer' | 'discovery' | 'alarms'>,
) =>
  new Hono<HttpEnv>()
    .get('/theme', async (c) => ok(c, await readTheme(deps.db.lists)))
    .get('/theme/logo/:hash', async (c) => {
      const hash = c.req.param('hash')
      const logo = isHash(hash) ? await findLogo(deps.db.lists, hash) : undefined
      if (logo === undefined) throw apiError('err.notFound')
      return c.body(logo.bytes, 200, { 'Content-Type': logo.mediaType, ...logoHeaders })
    })
    .get('/system_status', async (c) => {
      const { oidc, saml } = await readAuthSettings(deps)
      const status: SystemStatus = {
        ...deps.discovery.status(),
        JsBundleHash: deps.bundleHash,
        OIDC: oidc.user !== null,
        AdminOIDC: oidc.admin !== null,
        SAML: saml.user !== null,
        AdminSAML: saml.admin !== null,
      }
      return ok(c, status)
    })
    .get('/admin/status', requireAdmin(deps, { stage: 'any' }), async (c) =>
      ok(c, await readAdminStatus(deps, c.var.admin)),
    )

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

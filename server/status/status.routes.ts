import { Hono } from 'hono'
import type { Deps } from '../context.ts'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { requireAdmin } from '../sessions/session-guard.ts'
import { readAuthSettings } from '../settings/auth-setting.query.ts'
import { readSettings } from '../settings/setting.query.ts'
import { readAdminStatus } from './admin-status.service.ts'
import type { SystemStatus, Theme } from './status.schema.ts'

/** What the shells read: theme and system status without a session, the admin's status with one, half or complete. */
export const statusRoutes = (deps: Pick<Deps, 'db' | 'config' | 'bundleHash' | 'sealer'>) =>
  new Hono<HttpEnv>()
    .get('/theme', async (c) => {
      const { Accent, HighAccessibility } = await readSettings(deps.db.lists)
      const theme: Theme = { Accent, HighAccessibility, Logo: null, LightModeLogo: null }
      return ok(c, theme)
    })
    .get('/system_status', async (c) => {
      const { oidc, saml } = await readAuthSettings(deps)
      // Address discovery is off as long as no setting turns it on.
      const status: SystemStatus = {
        IPApi: '',
        LookupPorts: [],
        IPv4Origin: '',
        IPv6Origin: '',
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

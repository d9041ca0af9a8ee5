import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { aclRoutes } from './acls/acl.routes.ts'
import { adminRoutes } from './admins/admin.routes.ts'
import { agentRoutes } from './agents/agent.routes.ts'
import { agentLinkRoutes } from './agents/agent-link.routes.ts'
import { allowlistRoutes } from './allowlists/allowlist.routes.ts'
import type { AuthDeps } from './auth/auth.routes.ts'
import { signInRoutes } from './auth/sign-in.routes.ts'
import { backendRoutes } from './backends/backend.routes.ts'
import type { Deps } from './context.ts'
import { portalLookupRoutes } from './discovery/lookup.routes.ts'
import { grantRoutes } from './grants/grant.routes.ts'
import type { GrantService } from './grants/grant.service.ts'
import { groupRoutes } from './groups/group.routes.ts'
import { healthRoutes } from './health/health.routes.ts'
import { knocRoutes } from './knocs/knoc.routes.ts'
import { licenceRoutes } from './licence/licence.routes.ts'
import { metricsRoutes } from './metrics/metrics.routes.ts'
import type { Metrics } from './metrics/metrics.ts'
import { pageRoutes } from './pages/page.routes.ts'
import type { PageFiles } from './pages/page-files.ts'
import { createPageTheme } from './pages/page-theme.ts'
import { bodyLimit, usualBodyBytes } from './platform/http/body-limit.ts'
import { clientAddressOf } from './platform/http/client-address.ts'
import { errorHandler, notFoundHandler } from './platform/http/error-handler.ts'
import type { HttpEnv } from './platform/http/http-env.ts'
import { methodCheck } from './platform/http/method-check.ts'
import { originCheck } from './platform/http/origin-check.ts'
import { rateLimit } from './platform/http/rate-limit.ts'
import { requestId } from './platform/http/request-id.ts'
import { securityHeaders } from './platform/http/security-headers.ts'
import { sessionRoutes } from './sessions/session.routes.ts'
import { sessionCookies } from './sessions/session-cookie.ts'
import { requireAdmin } from './sessions/session-guard.ts'
import { settingRoutes } from './settings/setting.routes.ts'
import { statusRoutes } from './status/status.routes.ts'
import { userRoutes } from './users/user.routes.ts'

/** What the application is made of. */
export type AppDeps = Deps & { grants: GrantService; pages: PageFiles; metrics: Pick<Metrics, 'text'> }

/** A portal page asks about once a second while something changes; a whole office is behind one address. */
const requestsOfAnAddress = { burst: 3_000, perMinute: 12_000 }

/** Lists of members and SAML metadata travel whole: 100,000 ids are 4 MB (specification README "Updates"). */
const bodyBytesOf = (path: string): number => {
  if (/^\/api\/admin\/(groups|users|knocs|settings\/authentication)(\/|$)/.test(path)) return 5 * 1024 * 1024
  // Two logos of 512 kB, in base64.
  if (path === '/api/admin/settings/customize') return 2 * 1024 * 1024
  // A SAML response of 256 kB, in base64 within a form.
  return /^\/api(\/admin)?\/saml\/acs$/.test(path) ? 512 * 1024 : usualBodyBytes
}

/** Where identity providers send browsers back, or call themselves; each has its own binding (decision 16). */
const callbacks = [
  '/api/saml/acs',
  '/api/admin/saml/acs',
  '/api/oidc/backchannel',
  '/api/admin/oidc/backchannel',
]

/** Everything under /api: one table, in order. What stands below `requireAdmin` is the administrators'. */
export const createApi = (deps: AppDeps) =>
  new Hono<HttpEnv>()
    .use(rateLimit(requestsOfAnAddress, deps.clock))
    .use(bodyLimit(bodyBytesOf))
    .use(originCheck({ publicUrl: deps.config.publicUrl, exempt: callbacks }))
    // A status with 200 entries is 100 kB. Nothing in it echoes what a request says, so its length gives nothing away.
    .use('/status', compress())
    .route('/', statusRoutes(deps))
    .route('/', signInRoutes({ ...deps, afterSignIn: afterSignIn(deps.grants) }))
    .route('/', grantRoutes(deps))
    .route('/agent', agentLinkRoutes(deps))
    .route('/v1/allowlists', allowlistRoutes(deps))
    .use('/admin/*', requireAdmin(deps))
    .route('/admin', sessionRoutes(deps))
    .route('/admin/agents', agentRoutes(deps))
    .route('/admin/backends', backendRoutes(deps))
    .route('/admin/acls', aclRoutes(deps))
    .route('/admin/knocs', knocRoutes(deps))
    .route('/admin/users', userRoutes(deps))
    .route('/admin/admins', adminRoutes(deps))
    .route('/admin/groups', groupRoutes(deps))
    .route('/admin/settings/license', licenceRoutes(deps))
    .route('/admin/settings', settingRoutes(deps))

/** The typed client's view of the API: `hc<Api>('/api')`. */
export type Api = ReturnType<typeof createApi>

/** The whole server as a fetch function: API, health, pages. */
export function createApp(deps: AppDeps) {
  const api = createApi(deps)
  const cookies = sessionCookies(deps.config)
  return new Hono<HttpEnv>()
    .onError(errorHandler(deps))
    .use(requestId())
    .use(clientAddressOf(deps.config.trustedProxies))
    .use(
      securityHeaders({
        publicUrl: deps.config.publicUrl,
        connectSources: deps.discovery.connectSources,
      }),
    )
    .route('/', healthRoutes(deps))
    .route('/', metricsRoutes(deps))
    .route('/', portalLookupRoutes({ ...deps, sight: deps.discovery.sight }))
    .route('/api', api)
    .all('/api/*', methodCheck(api.routes.map((route) => ({ ...route, path: `/api${route.path}` }))))
    .route(
      '/',
      pageRoutes(deps.pages, {
        theme: createPageTheme(deps),
        hasUserCookie: (c) => cookies.read(c, 'user') !== undefined,
      }),
    )
    .notFound(notFoundHandler)
}

const afterSignIn =
  (grants: GrantService): NonNullable<AuthDeps['afterSignIn']> =>
  async ({ client, extendedId, ...grantee }) => {
    await grants.follow(grantee, client, { hasJustBegun: true })
    if (extendedId !== null) await grants.takeOverClicks(grantee, { from: extendedId, client })
  }

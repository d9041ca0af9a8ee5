import { Hono } from 'hono'
import { adminRoutes } from '#server/admins/admin.routes.ts'
import { createAlarms } from '#server/alarms/alarm.service.ts'
import { signInRoutes } from '#server/auth/sign-in.routes.ts'
import type { SignInHook } from '#server/auth/user-admission.service.ts'
import { createDiscovery } from '#server/discovery/discovery.service.ts'
import { createRights } from '#server/entries/create-rights.ts'
import { groupRoutes } from '#server/groups/group.routes.ts'
import { systemClock } from '#server/platform/clock.ts'
import { type Config, readConfig } from '#server/platform/config.ts'
import { clientAddressOf } from '#server/platform/http/client-address.ts'
import { ok } from '#server/platform/http/envelope.ts'
import { errorHandler, notFoundHandler } from '#server/platform/http/error-handler.ts'
import type { HttpEnv } from '#server/platform/http/http-env.ts'
import { requestId } from '#server/platform/http/request-id.ts'
import { createLog } from '#server/platform/log.ts'
import { createPasswordHasher } from '#server/platform/password.ts'
import { Secret } from '#server/platform/secret.ts'
import { createSealer } from '#server/platform/secrets.ts'
import { sessionRoutes } from '#server/sessions/session.routes.ts'
import { requireAdmin, requireUser } from '#server/sessions/session-guard.ts'
import { settingRoutes } from '#server/settings/setting.routes.ts'
import { statusRoutes } from '#server/status/status.routes.ts'
import { userRoutes } from '#server/users/user.routes.ts'
import { type TestDatabase, testDatabase } from './database.ts'

/** An answer as a test looks at it. */
type Answer = { status: number; body: Body; headers: Headers }
// eslint-disable-next-line typescript/no-explicit-any -- a test says by its expectations what an answer is
type Body = any

/** Sign-in, sessions, users, groups and statuses on a real database, reached as browsers reach them. */
export type PeopleApi = Awaited<ReturnType<typeof startPeopleApi>>

/**
 * Starts it. `hook.run` is what follows a sign-in; a test may replace it. With `shared` it is another replica on the
 * database of an earlier one.
 */
export async function startPeopleApi(env: Record<string, string> = {}, shared?: TestDatabase) {
  const database = shared ?? (await testDatabase())
  const config = readConfig({ KNOC_PUBLIC_URL: 'https://knoc.example', ...env })
  const hook: { run: SignInHook } = { run: async () => undefined }
  const told: string[] = []
  const deps = toDeps(database, config, told)
  const app = new Hono<HttpEnv>()
    .basePath('/api')
    .onError(errorHandler(deps))
    .notFound(notFoundHandler)
    .use(requestId())
    .use(clientAddressOf(config.trustedProxies))
    .route('/', statusRoutes(deps))
    .route('/', signInRoutes({ ...deps, afterSignIn: (session) => hook.run(session) }))
    .get('/whoami', requireUser(deps, { machines: 'anywhere' }), (c) =>
      ok(c, { UserName: c.var.session.userName, Session: c.var.session.tag }),
    )
    .use('/admin/*', requireAdmin(deps))
    .route('/admin', sessionRoutes(deps))
    .route('/admin/users', userRoutes(deps))
    .route('/admin/groups', groupRoutes(deps))
    .route('/admin/admins', adminRoutes(deps))
    .route('/admin/settings', settingRoutes(deps))

  return {
    db: database.db,
    database,
    deps,
    hook,
    /** Sessions whose pages were told to look again. */
    told,
    browser: (peer = '198.51.100.7') => createBrowser((path, init) => app.request(path, init, { peer })),
    stop: shared === undefined ? database.drop : async () => undefined,
  }
}

function toDeps({ db }: TestDatabase, config: Config, told: string[]) {
  const events = {
    publish: (sessionIds: readonly string[]) => void told.push(...sessionIds),
    subscribe: () => () => undefined,
  }
  const log = createLog({ logLevel: 'error', replica: 'tests' })
  const sealer = createSealer(new Secret(Buffer.alloc(32, 7).toString('base64')))
  return {
    db: { grants: db, lists: db, background: db },
    config,
    log,
    // Real argon2id at the least cost: thousands of sign-ins in these tests are not about its strength.
    passwords: createPasswordHasher(undefined, { memoryCost: 1024, timeCost: 1, parallelism: 1 }),
    sealer,
    // Nothing listens: it never looks at the settings here.
    discovery: createDiscovery({
      config,
      db,
      sealer,
      isGrantable: () => true,
      certificate: undefined,
      clock: systemClock,
      log,
    }),
    // No agent is linked here: orders stay rows, which is what these tests look at.
    rights: createRights({ db, gateway: { nudge: () => undefined }, events }),
    alarms: createAlarms({ db, queueHealth: async () => ({ degraded: null }) }),
    bundleHash: 'bundle-1',
  }
}

/** Keeps cookies as a browser does, and lets a test look at them and put old ones back. */
export function createBrowser(ask: (path: string, init: RequestInit) => Response | Promise<Response>) {
  const jar = new Map<string, string>()

  async function call(
    method: string,
    path: string,
    { json, raw, headers = {} }: { json?: unknown; raw?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const body = raw ?? (json === undefined ? undefined : JSON.stringify(json))
    const response = await ask(`/api${path}`, {
      method,
      headers: {
        Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    })
    for (const line of response.headers.getSetCookie()) keep(line)
    const text = await response.text()
    const isJson = response.headers.get('Content-Type')?.startsWith('application/json') === true
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
  }

  function keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === '' || /max-age=0(;|$)/i.test(line)) jar.delete(name)
    else jar.set(name, value)
  }

  return {
    jar,
    get: (path: string, headers?: Record<string, string>) => call('GET', path, headers && { headers }),
    post: (path: string, json?: unknown, headers: Record<string, string> = {}) =>
      call('POST', path, { json, headers }),
    put: (path: string, json?: unknown, headers: Record<string, string> = {}) =>
      call('PUT', path, { json, headers }),
    delete: (path: string) => call('DELETE', path),
    raw: (method: string, path: string, raw: string, headers: Record<string, string> = {}) =>
      call(method, path, { raw, headers }),
  }
}

/** A browser of the tests. */
export type Browser = ReturnType<PeopleApi['browser']>

import { Hono } from 'hono'
import type { Deps } from '../context.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'

/** The console's settings. Mounted at /admin/settings, behind the admin guard. Console §7. */
export const settingRoutes = (_deps: Pick<Deps, 'db' | 'sealer' | 'config'>) => new Hono<HttpEnv & AdminEnv>()

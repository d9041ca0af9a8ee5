import { Hono } from 'hono'
import type { Deps } from '../context.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'

/** The console's administrators. Mounted at /admin/admins, behind the admin guard. Console §2 "Admins". */
export const adminRoutes = (_deps: Pick<Deps, 'db' | 'passwords' | 'sealer' | 'config'>) =>
  new Hono<HttpEnv & AdminEnv>()

import { Hono } from 'hono'
import { actingAdmin } from '../audit/acting-admin.ts'
import type { Deps } from '../context.ts'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { validate } from '../platform/http/validate.ts'
import { idParamSchema } from '../platform/wire.schema.ts'
import { endAdminSessionById, endAllAdminSessions } from './admin-session.service.ts'
import { endAllSessions, endSessionById } from './session.service.ts'
import { sessionCookies } from './session-cookie.ts'
import type { AdminEnv } from './session-guard.ts'

/**
 * An administrator ends one session of a user or of an administrator, or all of all; his own as well. Mounted at
 * /admin, behind the admin guard. Console §7.
 */
export function sessionRoutes(deps: Pick<Deps, 'db' | 'rights' | 'config'>) {
  const cookies = sessionCookies(deps.config)
  return new Hono<HttpEnv & AdminEnv>()
    .delete('/sessions', async (c) => {
      await endAllSessions(deps, c.var.admin.name)
      return ok(c, null)
    })
    .delete('/sessions/:id', validate('param', idParamSchema), async (c) => {
      await endSessionById(deps, { ...c.req.valid('param'), adminName: c.var.admin.name })
      return ok(c, null)
    })
    .delete('/adminsessions', async (c) => {
      await endAllAdminSessions(deps, actingAdmin(c))
      cookies.clear(c, 'admin')
      return ok(c, null)
    })
    .delete('/adminsessions/:id', validate('param', idParamSchema), async (c) => {
      const { id } = c.req.valid('param')
      await endAdminSessionById(deps, { id, ...actingAdmin(c) })
      if (id.toLowerCase() === c.var.admin.sessionId) cookies.clear(c, 'admin')
      return ok(c, null)
    })
}

import { Hono } from 'hono'
import type { Deps } from '../context.ts'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { validate } from '../platform/http/validate.ts'
import { idParamSchema } from '../platform/wire.schema.ts'
import { endAllSessions, endSessionById } from './session.service.ts'
import type { AdminEnv } from './session-guard.ts'

/** An administrator ends one session of a user, or all of all. Mounted at /admin, behind the admin guard. */
export const sessionRoutes = (deps: Pick<Deps, 'db' | 'rights'>) =>
  new Hono<HttpEnv & AdminEnv>()
    .delete('/sessions', async (c) => {
      await endAllSessions(deps, c.var.admin.name)
      return ok(c, null)
    })
    .delete('/sessions/:id', validate('param', idParamSchema), async (c) => {
      await endSessionById(deps, { ...c.req.valid('param'), adminName: c.var.admin.name })
      return ok(c, null)
    })

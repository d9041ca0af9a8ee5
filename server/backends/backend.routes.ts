import { Hono } from 'hono'
import { actingAdmin } from '../audit/acting-admin.ts'
import type { Deps } from '../context.ts'
import { checkId } from '../platform/http/check-id.ts'
import { created, ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { listed } from '../platform/http/list.ts'
import { validate } from '../platform/http/validate.ts'
import { idParamSchema, listQuerySchema } from '../platform/wire.schema.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'
import { listBackends } from './backend.query.ts'
import { backendSchema, backendUpdateSchema } from './backend.schema.ts'
import { createBackend, deleteBackend, updateBackend } from './backend.service.ts'

/** The console's backends, one by one. Mounted at /admin/backends, behind the admin guard. */
export function backendRoutes(deps: Pick<Deps, 'db' | 'rights'>) {
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', validate('query', listQuerySchema), async (c) => {
      const query = c.req.valid('query')
      return listed(c, await listBackends(deps.db.lists, query), query)
    })
    .post('/', validate('json', backendSchema), async (c) => {
      const { Name, AgentID, Config } = c.req.valid('json')
      return created(
        c,
        await createBackend(deps, { name: Name, fields: { AgentID, Config }, ...actingAdmin(c) }),
      )
    })
    .put('/:id', validate('param', idParamSchema), validate('json', backendUpdateSchema), async (c) => {
      const { id } = c.req.valid('param')
      const { ID, Name, ...change } = c.req.valid('json')
      checkId(id, ID)
      await updateBackend(deps, { id, name: Name, change, ...actingAdmin(c) })
      return ok(c, null)
    })
    .delete('/:id', validate('param', idParamSchema), async (c) => {
      await deleteBackend(deps, { id: c.req.valid('param').id, ...actingAdmin(c) })
      return ok(c, null)
    })
}

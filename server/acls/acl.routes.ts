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
import { listAcls } from './acl.query.ts'
import { aclSchema, aclUpdateSchema } from './acl.schema.ts'
import { createAcl, deleteAcl, updateAcl } from './acl.service.ts'

/** The console's ACLs, one by one. Mounted at /admin/acls, behind the admin guard. */
export function aclRoutes(deps: Pick<Deps, 'db' | 'config' | 'rights'>) {
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', validate('query', listQuerySchema), async (c) => {
      const query = c.req.valid('query')
      return listed(c, await listAcls(deps.db.lists, query), query)
    })
    .post('/', validate('json', aclSchema), async (c) =>
      created(c, await createAcl(deps, { request: c.req.valid('json'), ...actingAdmin(c) })),
    )
    .put('/:id', validate('param', idParamSchema), validate('json', aclUpdateSchema), async (c) => {
      const { id } = c.req.valid('param')
      const request = c.req.valid('json')
      checkId(id, request.ID)
      await updateAcl(deps, { id, request, ...actingAdmin(c) })
      return ok(c, null)
    })
    .delete('/:id', validate('param', idParamSchema), async (c) => {
      await deleteAcl(deps, { id: c.req.valid('param').id, ...actingAdmin(c) })
      return ok(c, null)
    })
}

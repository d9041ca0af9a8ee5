import { Hono } from 'hono'
import { actingAdmin } from '../audit/acting-admin.ts'
import type { Deps } from '../context.ts'
import { checkId } from '../platform/http/check-id.ts'
import { created, ok } from '../platform/http/envelope.ts'
import { ifMatchOf, okWithEtag } from '../platform/http/etag.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { listed } from '../platform/http/list.ts'
import { validate } from '../platform/http/validate.ts'
import { idParamSchema, listQuerySchema } from '../platform/wire.schema.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'
import { getKnoc, listKnocs } from './knoc.query.ts'
import { knocSchema, knocUpdateSchema } from './knoc.schema.ts'
import { createKnoc, deleteKnoc } from './knoc.service.ts'
import { updateKnoc } from './update-knoc.service.ts'

/** Whole knocs: list, read, make, change, delete. Mounted at /admin/knocs, behind the admin guard. */
export function knocRoutes(deps: Pick<Deps, 'db' | 'config' | 'rights'>) {
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', validate('query', listQuerySchema), async (c) => {
      const query = c.req.valid('query')
      return listed(c, await listKnocs(deps.db.lists, query), query)
    })
    .post('/', validate('json', knocSchema), async (c) =>
      created(c, await createKnoc(deps, { request: c.req.valid('json'), ...actingAdmin(c) })),
    )
    .get('/:id', validate('param', idParamSchema), async (c) => {
      const { knoc, etag } = await getKnoc(deps.db.lists, c.req.valid('param').id)
      return okWithEtag(c, knoc, etag)
    })
    .put('/:id', validate('param', idParamSchema), validate('json', knocUpdateSchema), async (c) => {
      const { id } = c.req.valid('param')
      const request = c.req.valid('json')
      checkId(id, request.ID)
      checkId(id, request.ACL?.ID)
      const etag = await updateKnoc(deps, { id, request, ifMatch: ifMatchOf(c), ...actingAdmin(c) })
      return okWithEtag(c, null, etag)
    })
    .delete('/:id', validate('param', idParamSchema), async (c) => {
      await deleteKnoc(deps, { id: c.req.valid('param').id, ...actingAdmin(c) })
      return ok(c, null)
    })
}

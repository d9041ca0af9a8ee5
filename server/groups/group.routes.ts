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
import { groupEtag, toGroupRow } from './group.answer.ts'
import { getGroup, listGroups } from './group.query.ts'
import { groupSchema, groupUpdateSchema } from './group.schema.ts'
import { createGroup, deleteGroup, updateGroup } from './group.service.ts'

/** The console's groups. Mounted at /admin/groups, behind the admin guard. Console §2 "Groups". */
export function groupRoutes(deps: Pick<Deps, 'db' | 'rights'>) {
  const { lists } = deps.db
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', validate('query', listQuerySchema), async (c) => {
      const query = c.req.valid('query')
      const { rows, total } = await listGroups(lists, query)
      return listed(c, { rows: rows.map(toGroupRow), total }, query)
    })
    .post('/', validate('json', groupSchema), async (c) =>
      created(c, await createGroup(deps, { request: c.req.valid('json'), ...actingAdmin(c) })),
    )
    .get('/:id', validate('param', idParamSchema), async (c) => {
      const group = await getGroup(lists, c.req.valid('param').id)
      return okWithEtag(c, toGroupRow(group), groupEtag(group))
    })
    .put('/:id', validate('param', idParamSchema), validate('json', groupUpdateSchema), async (c) => {
      const { id } = c.req.valid('param')
      const request = c.req.valid('json')
      checkId(id, request.ID)
      const etag = await updateGroup(deps, { id, request, ifMatch: ifMatchOf(c), ...actingAdmin(c) })
      return okWithEtag(c, null, etag)
    })
    .delete('/:id', validate('param', idParamSchema), async (c) => {
      await deleteGroup(deps, { id: c.req.valid('param').id, ...actingAdmin(c) })
      return ok(c, null)
    })
}

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
import { listLiveSessions } from '../sessions/session.query.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'
import { toAclRow, toGroupRow, toSessionRow, toUserRow, userEtag } from './user.answer.ts'
import { getUser, listUserAcls, listUserGroups, listUserIds, listUsers } from './user.query.ts'
import { userCreateSchema, userUpdateSchema } from './user.schema.ts'
import { createUser, deleteUser, resetUserSecondFactor, updateUser } from './user.service.ts'
import { streamUsers } from './user-stream.ts'

/** The console's users. Mounted at /admin/users, behind the admin guard. Console §2 "Users". */
export function userRoutes(deps: Pick<Deps, 'db' | 'rights' | 'passwords'>) {
  const { lists } = deps.db
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', validate('query', listQuerySchema), async (c) => {
      const query = c.req.valid('query')
      if (query.limit === undefined) return streamUsers(c, lists, await listUserIds(lists, query))
      const { rows, total } = await listUsers(lists, query)
      return listed(c, { rows: rows.map(toUserRow), total }, query)
    })
    .post('/', validate('json', userCreateSchema), async (c) =>
      created(c, await createUser(deps, { request: c.req.valid('json'), ...actingAdmin(c) })),
    )
    .get('/:id', validate('param', idParamSchema), async (c) => {
      const user = await getUser(lists, c.req.valid('param').id)
      return okWithEtag(c, toUserRow(user), userEtag(user))
    })
    .put('/:id', validate('param', idParamSchema), validate('json', userUpdateSchema), async (c) => {
      const { id } = c.req.valid('param')
      const request = c.req.valid('json')
      checkId(id, request.ID)
      const etag = await updateUser(deps, { id, request, ifMatch: ifMatchOf(c), ...actingAdmin(c) })
      return okWithEtag(c, null, etag)
    })
    .delete('/:id', validate('param', idParamSchema), async (c) => {
      await deleteUser(deps, { id: c.req.valid('param').id, ...actingAdmin(c) })
      return ok(c, null)
    })
    .delete('/:id/totpToken', validate('param', idParamSchema), async (c) => {
      await resetUserSecondFactor(deps, { id: c.req.valid('param').id, ...actingAdmin(c) })
      return ok(c, null)
    })
    .get('/:id/sessions', validate('param', idParamSchema), async (c) => {
      const { id } = await getUser(lists, c.req.valid('param').id)
      return ok(c, (await listLiveSessions(lists, id)).map(toSessionRow))
    })
    .get('/:id/groups', validate('param', idParamSchema), async (c) => {
      const { id } = await getUser(lists, c.req.valid('param').id)
      return ok(c, (await listUserGroups(lists, id)).map(toGroupRow))
    })
    .get('/:id/acls', validate('param', idParamSchema), async (c) => {
      const { id } = await getUser(lists, c.req.valid('param').id)
      return ok(c, (await listUserAcls(lists, id)).map(toAclRow))
    })
}

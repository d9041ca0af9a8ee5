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
import { listLiveAdminSessions } from '../sessions/admin-session.query.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'
import { adminEtag, toAdminRow, toAdminSessionRow } from './admin.answer.ts'
import { getAdmin, listAdmins } from './admin.query.ts'
import { adminCreateSchema, adminUpdateSchema } from './admin.schema.ts'
import {
  type ActingOwner,
  createAdmin,
  deleteAdmin,
  resetAdminSecondFactor,
  updateAdmin,
} from './admin.service.ts'

/** The console's administrators. Mounted at /admin/admins, behind the admin guard. Console §2 "Admins". */
export function adminRoutes(deps: Pick<Deps, 'db' | 'passwords'>) {
  const { lists } = deps.db
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', validate('query', listQuerySchema), async (c) => {
      const query = c.req.valid('query')
      const { rows, total } = await listAdmins(lists, query)
      return listed(c, { rows: rows.map(toAdminRow), total }, query)
    })
    .post('/', validate('json', adminCreateSchema), async (c) =>
      created(c, await createAdmin(deps, { request: c.req.valid('json'), ...actingAdmin(c) })),
    )
    .get('/:id', validate('param', idParamSchema), async (c) => {
      const admin = await getAdmin(lists, c.req.valid('param').id)
      return okWithEtag(c, toAdminRow(admin), adminEtag(admin))
    })
    .put('/:id', validate('param', idParamSchema), validate('json', adminUpdateSchema), async (c) => {
      const { id } = c.req.valid('param')
      const request = c.req.valid('json')
      checkId(id, request.ID)
      const etag = await updateAdmin(deps, { id, request, ifMatch: ifMatchOf(c), ...actingOwner(c) })
      return okWithEtag(c, null, etag)
    })
    .delete('/:id', validate('param', idParamSchema), async (c) => {
      await deleteAdmin(deps, { id: c.req.valid('param').id, ...actingOwner(c) })
      return ok(c, null)
    })
    .delete('/:id/totpToken', validate('param', idParamSchema), async (c) => {
      await resetAdminSecondFactor(deps, { id: c.req.valid('param').id, ...actingOwner(c) })
      return ok(c, null)
    })
    .get('/:id/sessions', validate('param', idParamSchema), async (c) => {
      const { id } = await getAdmin(lists, c.req.valid('param').id)
      const sessions = await listLiveAdminSessions(lists, id)
      return ok(c, sessions.map(toAdminSessionRow(c.var.admin.sessionId)))
    })
}

const actingOwner = (c: {
  var: { admin: { name: string; id: string; sessionId: string }; requestId?: string }
}): ActingOwner => ({
  ...actingAdmin(c),
  self: { id: c.var.admin.id, sessionId: c.var.admin.sessionId },
})

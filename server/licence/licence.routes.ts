import { Hono } from 'hono'
import { actingAdmin } from '../audit/acting-admin.ts'
import type { Deps } from '../context.ts'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { validate } from '../platform/http/validate.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'
import { licenceSchema } from './licence.schema.ts'
import { licenceStatus, refreshLicence, removeLicence, saveLicence } from './licence.service.ts'

/** The licence: read, save, remove, check anew. Mounted at /admin/settings/license, behind the admin guard. */
export function licenceRoutes(deps: Pick<Deps, 'db' | 'config' | 'rights'>) {
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', async (c) => ok(c, await licenceStatus(deps.db.lists)))
    .post('/', validate('json', licenceSchema), async (c) => {
      await saveLicence(deps, { key: c.req.valid('json').License, ...actingAdmin(c) })
      return ok(c, await licenceStatus(deps.db.grants))
    })
    .delete('/', async (c) => {
      await removeLicence(deps, actingAdmin(c))
      return ok(c, null)
    })
    .post('/refresh', async (c) => ok(c, await refreshLicence(deps)))
}

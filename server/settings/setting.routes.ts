import { type Context, Hono } from 'hono'
import { actingAdmin } from '../audit/acting-admin.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { ok } from '../platform/http/envelope.ts'
import { ifMatchOf, okWithEtag } from '../platform/http/etag.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { toRefusal, validate } from '../platform/http/validate.ts'
import type { AdminEnv } from '../sessions/session-guard.ts'
import { authEtag, toAuthAnswer } from './auth-setting.answer.ts'
import { readStoredAuthSettings } from './auth-setting.query.ts'
import { generateSamlKeyPair, updateAuthSettings } from './auth-setting.service.ts'
import { authSettingsChangeSchema, keyPairRequestSchema } from './auth-setting-wire.schema.ts'
import { configChangeSchema, customizeChangeSchema } from './setting.schema.ts'
import { customize, readSettingsAnswer, settingsEtag, updateConfig } from './setting.service.ts'

/** The console's settings. Mounted at /admin/settings, behind the admin guard. Console §7. */
export function settingRoutes(deps: Pick<Deps, 'db' | 'sealer' | 'config'>) {
  const { lists } = deps.db
  return new Hono<HttpEnv & AdminEnv>()
    .get('/', async (c) => {
      const settings = await readSettingsAnswer(lists)
      return okWithEtag(c, settings, settingsEtag(settings))
    })
    .post('/config', validate('json', configChangeSchema), async (c) => {
      const change = { request: c.req.valid('json'), ifMatch: ifMatchOf(c), ...actingAdmin(c) }
      return okWithEtag(c, null, await updateConfig(deps, change))
    })
    .post('/customize', validate('json', customizeChangeSchema), async (c) => {
      const change = { request: c.req.valid('json'), ifMatch: ifMatchOf(c), ...actingAdmin(c) }
      return okWithEtag(c, null, await customize(deps, change))
    })
    .get('/authentication', async (c) => {
      const stored = await readStoredAuthSettings(lists)
      return okWithEtag(c, toAuthAnswer(stored, deps.config), authEtag(stored))
    })
    .post('/authentication', validate('json', authSettingsChangeSchema), async (c) => {
      const change = { request: c.req.valid('json'), ifMatch: ifMatchOf(c), ...actingAdmin(c) }
      return okWithEtag(c, null, await updateAuthSettings(deps, change))
    })
    .post('/generateUserSamlKeyCert', async (c) => {
      const isConfirmed = await readConfirmation(c)
      return ok(c, await generateSamlKeyPair(deps, { prefix: '', isConfirmed, ...actingAdmin(c) }))
    })
    .post('/generateAdminSamlKeyCert', async (c) => {
      const isConfirmed = await readConfirmation(c)
      return ok(c, await generateSamlKeyPair(deps, { prefix: 'Admin', isConfirmed, ...actingAdmin(c) }))
    })
}

/** The body may be left out. */
async function readConfirmation(c: Context): Promise<boolean> {
  const text = await c.req.text()
  const parsed = keyPairRequestSchema.safeParse(text === '' ? {} : toJson(text), { reportInput: true })
  if (!parsed.success) throw toRefusal(parsed.error.issues)
  return parsed.data.Confirm
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw apiError('err.badRequest', { cause })
  }
}

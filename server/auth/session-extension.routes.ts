import { Hono } from 'hono'
import { z } from 'zod'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { validate } from '../platform/http/validate.ts'
import { sessionCookies } from '../sessions/session-cookie.ts'
import { requireUser } from '../sessions/session-guard.ts'
import { arrivalOf } from './arrival.ts'
import type { AuthDeps } from './auth.routes.ts'
import { typedPasswordSchema } from './auth.schema.ts'
import { codeSchema } from './second-factor/second-factor.schema.ts'
import { extendSession } from './session-extension.service.ts'

const extensionSchema = z.strictObject({ Password: typedPasswordSchema, Code: codeSchema.optional() })

/** Staying signed in: a warning before the end and one step to sign in again, without losing the page. */
export function sessionExtensionRoutes(deps: AuthDeps) {
  const cookies = sessionCookies(deps.config)
  return new Hono<HttpEnv>().post(
    '/sessions/current/extend',
    requireUser(deps),
    validate('json', extensionSchema),
    async (c) => {
      const { Password, Code } = c.req.valid('json')
      const replaces = cookies.read(c, 'user')
      // A machine's session has no cookie to put a new token in: it signs in with its key.
      const session = await extendSession(deps, {
        ...arrivalOf(c, { replaces }),
        session: c.var.session,
        password: Password,
        code: Code,
      })
      cookies.set(c, 'user', { ...session, kiosk: false })
      return ok(c, null)
    },
  )
}

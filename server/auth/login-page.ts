import type { Context } from 'hono'
import { ApiError, type ErrorCode } from '../errors.ts'
import { isDatabaseUnavailable } from '../platform/database-errors.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import type { Log } from '../platform/log.ts'
import type { Realm } from '../sessions/session-cookie.ts'

/** Where a browser goes when an identity provider sent it back, signed in or not. Each page leads on by itself. */
export const loginPages: Readonly<Record<Realm, string>> = { user: '/', admin: '/admin/login' }

/** Does what a browser came for by navigation; a refusal leads to the login page, which says its code. */
export async function orToLoginPage(
  c: Context<HttpEnv>,
  { log, realm }: { log: Log; realm: Realm },
  act: () => Promise<Response>,
): Promise<Response> {
  try {
    return await act()
  } catch (error) {
    const code = toCode(error)
    const facts = { requestId: c.var.requestId, path: c.req.path, code, err: error }
    log[code === 'err.internal' ? 'error' : 'debug'](facts, 'back to the login page')
    return c.redirect(`${loginPages[realm]}?error=${code}`, 303)
  }
}

/** A form that an identity provider sent; empty when the body is something else. */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  return new URLSearchParams(type === 'application/x-www-form-urlencoded' ? await c.req.text() : '')
}

function toCode(error: unknown): ErrorCode {
  if (error instanceof ApiError) return error.code
  return isDatabaseUnavailable(error) ? 'err.serviceUnavailable' : 'err.internal'
}

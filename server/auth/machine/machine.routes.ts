import { type Context, Hono } from 'hono'
import { readPresentedKey } from '../../api-keys/presented-key.ts'
import { apiError } from '../../errors.ts'
import { systemClock } from '../../platform/clock.ts'
import { ok } from '../../platform/http/envelope.ts'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import { rateLimit } from '../../platform/http/rate-limit.ts'
import { toRefusal } from '../../platform/http/validate.ts'
import { arrivalOf } from '../arrival.ts'
import type { UserAdmissionDeps } from '../user-admission.service.ts'
import { signInByKey } from './key-sign-in.service.ts'
import { type UserAuthAnswer, userAuthSchema } from './machine.schema.ts'

/** A site's hosts may start at once and share an address; each sign-in makes a session. */
const signInsOfAnAddress = { burst: 240, perMinute: 120 }

/** The token of the machine's session so far: the new one goes on from it, and no door closes in between. */
const replacesHeader = 'X-Knoc-Replaces'

/** Signing in with an API key of purpose user_auth. Specification README "Machine calls". */
export function machineRoutes(deps: UserAdmissionDeps) {
  return new Hono<HttpEnv>().post('/v1/user_auth', rateLimit(signInsOfAnAddress, systemClock), async (c) => {
    checkEmpty(await c.req.text())
    const { token, endsAt } = await signInByKey(deps, {
      presented: readPresentedKey(c),
      arrival: arrivalOf(c, { replaces: readReplaced(c) }),
    })
    return ok(c, { Token: token, Ends: endsAt.toISOString() } satisfies UserAuthAnswer)
  })
}

function readReplaced(c: Context): string | undefined {
  const token = c.req.header(replacesHeader)
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
}

/** The body may be missing or `{}`; `validate` would want it to be there. */
function checkEmpty(body: string): void {
  if (body === '') return
  const parsed = userAuthSchema.safeParse(toJson(body))
  if (!parsed.success) throw toRefusal(parsed.error.issues)
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw apiError('err.badRequest', { detail: 'the body is not JSON', cause })
  }
}

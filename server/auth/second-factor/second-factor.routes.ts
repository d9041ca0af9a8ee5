import { Hono } from 'hono'
import { ok } from '../../platform/http/envelope.ts'
import type { HttpEnv } from '../../platform/http/http-env.ts'
import { validate } from '../../platform/http/validate.ts'
import { sessionCookies } from '../../sessions/session-cookie.ts'
import { type AdminEnv, requireAdmin, requireUser, type UserEnv } from '../../sessions/session-guard.ts'
import { arrivalOf } from '../arrival.ts'
import type { AuthDeps } from '../auth.routes.ts'
import { offerSecret } from './enrolment.service.ts'
import { adminVerifySchema, userVerifySchema } from './second-factor.schema.ts'
import { deferEnrolment, findVisitor, passSecondStep, readMethods } from './second-factor.service.ts'

const anyStage = { stage: 'any' } as const

/** The second step of signing in: codes, enrolment, recovery. Portal §7 `/otp/*`, `/admin/otp/*`. */
export const secondFactorRoutes = (deps: AuthDeps) =>
  new Hono<HttpEnv>().route('/otp', userRoutes(deps)).route('/admin/otp', adminRoutes(deps))

function userRoutes(deps: AuthDeps) {
  const cookies = sessionCookies(deps.config)
  const visitorOf = ({ id, userId, stage }: UserEnv['Variables']['session']) =>
    findVisitor(deps, { realm: 'user', userId, sessionId: id, stage })

  return new Hono<HttpEnv>()
    .get('/methods', requireUser(deps, anyStage), async (c) =>
      ok(c, await readMethods(deps, await visitorOf(c.var.session))),
    )
    .get('/generate', requireUser(deps, anyStage), async (c) =>
      ok(c, await offerSecret(deps, await visitorOf(c.var.session))),
    )
    .post('/verify', requireUser(deps, anyStage), validate('json', userVerifySchema), async (c) => {
      const { kiosk } = c.var.session
      const arrival = arrivalOf(c, { kiosk, replaces: cookies.read(c, 'user') })
      const visitor = await visitorOf(c.var.session)
      const { session, recoveryCodes } = await passSecondStep(
        deps,
        visitor,
        c.req.valid('json').Code,
        arrival,
      )
      cookies.set(c, 'user', { ...session, kiosk })
      return ok(c, toEnrolled(recoveryCodes))
    })
}

function adminRoutes(deps: AuthDeps) {
  const cookies = sessionCookies(deps.config)
  const visitorOf = ({ sessionId, name, stage }: AdminEnv['Variables']['admin']) =>
    findVisitor(deps, { realm: 'admin', name, sessionId, stage })

  return new Hono<HttpEnv>()
    .get('/methods', requireAdmin(deps, anyStage), async (c) =>
      ok(c, await readMethods(deps, await visitorOf(c.var.admin))),
    )
    .get('/generate', requireAdmin(deps, anyStage), async (c) =>
      ok(c, await offerSecret(deps, await visitorOf(c.var.admin))),
    )
    .post('/verify', requireAdmin(deps, anyStage), validate('json', adminVerifySchema), async (c) => {
      const { Code } = c.req.valid('json')
      const arrival = arrivalOf(c, { replaces: cookies.read(c, 'admin') })
      const visitor = await visitorOf(c.var.admin)
      const { session, recoveryCodes } =
        Code === undefined
          ? { session: await deferEnrolment(deps, visitor, arrival), recoveryCodes: null }
          : await passSecondStep(deps, visitor, Code, arrival)
      cookies.set(c, 'admin', { ...session, kiosk: false })
      return ok(c, toEnrolled(recoveryCodes))
    })
}

const toEnrolled = (codes: string[] | null) => (codes === null ? null : { RecoveryCodes: codes })

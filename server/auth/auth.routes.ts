import { Hono } from 'hono'
import { stepCodes } from '#machines/sign-in.machine.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { validate } from '../platform/http/validate.ts'
import { sessionCookies } from '../sessions/session-cookie.ts'
import { requireAdmin, requireUser } from '../sessions/session-guard.ts'
import { signInAdmin } from './admin-sign-in.service.ts'
import { arrivalOf, toAddress } from './arrival.ts'
import { adminLoginSchema, adminPasswordSchema, loginSchema, userPasswordSchema } from './auth.schema.ts'
import { readDeviceTokens } from './known-device.cookie.ts'
import { changeAdminPassword, changeUserPassword } from './password-change.service.ts'
import { signOutAdmin, signOutUser } from './sign-out.service.ts'
import type { SignInHook } from './user-admission.service.ts'
import { signInUser } from './user-sign-in.service.ts'

/** What the routes of signing in and out need; `afterSignIn` grants what a sign-in grants. */
export type AuthDeps = Pick<Deps, 'db' | 'rights' | 'passwords' | 'sealer' | 'config' | 'log'> & {
  afterSignIn?: SignInHook
}

/**
 * Signing in and out of both realms, and changing the own password. At `/password` the method picks the realm: PUT
 * the user's, POST the admin's. Portal §7, specification README "Which realm a call means".
 */
export function authRoutes(deps: AuthDeps) {
  const cookies = sessionCookies(deps.config)
  const anyStage = { stage: 'any' } as const

  return new Hono<HttpEnv>()
    .post('/login', validate('json', loginSchema), async (c) => {
      const { UserName, Password, KioskMode } = c.req.valid('json')
      const { step, session } = await signInUser(deps, {
        ...arrivalOf(c, { kiosk: KioskMode, replaces: cookies.read(c, 'user') }),
        userName: UserName,
        password: Password,
        adminToken: cookies.read(c, 'admin'),
      })
      cookies.set(c, 'user', { ...session, kiosk: KioskMode })
      if (step !== 'signedIn') throw apiError(stepCodes[step])
      return ok(c, null)
    })
    .post('/logout', requireUser(deps, { ...anyStage, machines: 'anywhere' }), async (c) => {
      const { id, userId, kind } = c.var.session
      await signOutUser(deps, { id, userId, address: toAddress(c.var.client.address) })
      if (kind === 'portal') cookies.clear(c, 'user')
      return ok(c, null)
    })
    .post('/admin/login', validate('json', adminLoginSchema), async (c) => {
      const { UserName, Password } = c.req.valid('json')
      const { answer, session } = await signInAdmin(deps, {
        ...arrivalOf(c, { replaces: cookies.read(c, 'admin') }),
        userName: UserName,
        password: Password,
      })
      cookies.set(c, 'admin', { ...session, kiosk: false })
      return ok(c, answer)
    })
    .post('/admin/logout', requireAdmin(deps, anyStage), async (c) => {
      const { sessionId, name } = c.var.admin
      await signOutAdmin(deps, { sessionId, name, address: toAddress(c.var.client.address) })
      cookies.clear(c, 'admin')
      return ok(c, null)
    })
    .put('/password', requireUser(deps), validate('json', userPasswordSchema), async (c) => {
      const { CurrentPassword, NewPassword } = c.req.valid('json')
      await changeUserPassword(deps, {
        userName: c.var.session.userName,
        sessionId: c.var.session.id,
        address: toAddress(c.var.client.address),
        deviceTokens: readDeviceTokens(c),
        currentPassword: CurrentPassword,
        newPassword: NewPassword,
      })
      return ok(c, null)
    })
    .post('/password', requireAdmin(deps), validate('json', adminPasswordSchema), async (c) => {
      const { ExistingPassword, NewPassword } = c.req.valid('json')
      await changeAdminPassword(deps, {
        userName: c.var.admin.name,
        sessionId: c.var.admin.sessionId,
        address: toAddress(c.var.client.address),
        deviceTokens: readDeviceTokens(c),
        currentPassword: ExistingPassword,
        newPassword: NewPassword,
      })
      return ok(c, null)
    })
}

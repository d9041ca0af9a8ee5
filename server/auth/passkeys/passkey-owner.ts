import type { Context, MiddlewareHandler } from 'hono'
import type { Deps } from '../../context.ts'
import { apiError } from '../../errors.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import { type AdminEnv, requireAdmin, requireUser, type UserEnv } from '../../sessions/session-guard.ts'

/** Whose passkeys a request is about: the account that its session belongs to, of either realm. */
export type PasskeyOwner = {
  realm: Realm
  id: string
  userName: string
  /** The session that asks. */
  sessionId: string
}

/** What the guards of this file put. */
export type OwnerEnv = { Variables: { owner: PasskeyOwner & { kiosk: boolean } } }

type GuardDeps = Pick<Deps, 'db' | 'config'>

/**
 * Lets an account manage its passkeys: signed in completely, by a browser, and proven by us (local) or by a
 * directory (LDAP); whoever an identity provider signs in has his second factor there. On a public computer nobody
 * leaves a way in behind. Specification README "Kiosk".
 *
 * @throws what the realm's guard throws; err.forbidden.
 */
export const requireManager = (deps: GuardDeps, realm: Realm): MiddlewareHandler<OwnerEnv> =>
  guarded(realm, guardOf(deps, realm, 'complete'), ({ authType, kiosk }) => {
    const hasOwn = authType === 'local' || authType === 'LDAP'
    if (kiosk || !hasOwn) throw apiError('err.forbidden')
  })

/**
 * Lets a half session in, for its second step.
 *
 * @throws what the realm's guard throws; err.userAlreadyVerified or err.alreadyVerified for a complete session.
 */
export const requireHalf = (deps: GuardDeps, realm: Realm): MiddlewareHandler<OwnerEnv> =>
  guarded(realm, guardOf(deps, realm, 'any'), ({ stage }) => {
    if (stage === 'complete')
      throw apiError(realm === 'user' ? 'err.userAlreadyVerified' : 'err.alreadyVerified')
  })

type Signed = OwnerEnv['Variables']['owner'] & {
  authType: string
  stage: 'half' | 'complete'
}
type AnyEnv = { Variables: UserEnv['Variables'] & AdminEnv['Variables'] & OwnerEnv['Variables'] }

function guardOf(deps: GuardDeps, realm: Realm, stage: 'complete' | 'any'): MiddlewareHandler {
  return realm === 'user' ? requireUser(deps, { stage }) : requireAdmin(deps, { stage })
}

function guarded(
  realm: Realm,
  guard: MiddlewareHandler,
  check: (signed: Signed) => void,
): MiddlewareHandler<OwnerEnv> {
  return async function guardOwner(c, next) {
    return guard(c, async () => {
      const { authType, stage, ...owner } = read(c as unknown as Context<AnyEnv>, realm)
      check({ ...owner, authType, stage })
      c.set('owner', owner)
      await next()
    })
  }
}

function read(c: Context<AnyEnv>, realm: Realm): Signed {
  if (realm === 'admin') {
    const { id, name, sessionId, authType, stage } = c.var.admin
    return { realm, id, userName: name, sessionId, authType, stage, kiosk: false }
  }
  const { id: sessionId, userId, userName, authType, stage, kiosk } = c.var.session
  return { realm, id: userId, userName, sessionId, authType, stage, kiosk }
}

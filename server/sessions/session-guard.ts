import type { Context, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Kysely } from 'kysely'
import { nextSignInStep, stepCodes } from '#machines/sign-in.machine.ts'
import { findAllowedFromOfSession } from '../api-keys/api-key.query.ts'
import { isAllowedFrom } from '../api-keys/api-key-check.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { hashToken } from '../platform/random.ts'
import { findLiveAdminSession, type LiveAdminSession, touchAdminSession } from './admin-session.store.ts'
import { findLiveSession, type LiveSession, touchSession } from './session.store.ts'
import { sessionCookies } from './session-cookie.ts'
import { checkSessionTag, sessionTag } from './session-tag.ts'
import { isDeferable } from './totp-deferral.ts'

/** The user's session that a request acts in. */
export type UserSession = Omit<LiveSession, 'isStale'> & {
  /** Hash to answer in the status; see `sessionTag`. */
  tag: string
}

/** The administrator that a request acts for. */
export type AdminPrincipal = Omit<LiveAdminSession, 'isStale' | 'userName'> & {
  /** The unique user name: what audit events and LastModifiedBy tell. */
  name: string
  tag: string
}

/** What `requireUser` gives to the routes behind it. */
export type UserEnv = { Variables: { session: UserSession } }
/** What `requireAdmin` gives to the routes behind it. */
export type AdminEnv = { Variables: { admin: AdminPrincipal } }

type GuardOptions = {
  /** `any` also lets half sessions in: for the second step, logout, and the admin's status. */
  stage?: 'complete' | 'any'
}

type UserGuardOptions = GuardOptions & {
  /**
   * Lets machines in, by Bearer token: from where their key may be used, or from anywhere, which is for what only
   * ends access. Without it a machine's token is worth nothing here. Specification README "Machine calls".
   */
  machines?: 'whereKeyMay' | 'anywhere'
}

/**
 * Lets a signed-in user in, by the portal's cookie or, where machines may, by their session's Bearer token, and puts
 * `session`. A request with a Bearer token is a machine's: its cookies aren't looked at.
 *
 * @throws err.invalidSession without a live session of the user realm; err.totpVerificationRequired or
 * err.totpEnrolmentRequired for a half one; err.sessionChanged when the page believes in another;
 * err.addressNotAllowed for a machine that is elsewhere than its key may be used.
 */
export function requireUser(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  { stage = 'complete', machines }: UserGuardOptions = {},
): MiddlewareHandler<UserEnv & HttpEnv> {
  const cookies = sessionCookies(config)
  return createMiddleware<UserEnv & HttpEnv>(async function guardUser(c, next) {
    const bearer = bearerToken(c)
    if (bearer !== undefined && machines === undefined) throw apiError('err.invalidSession')
    const token = bearer ?? cookies.read(c, 'user')
    const kind = bearer === undefined ? 'portal' : 'machine'
    const found = token === undefined ? undefined : await findLiveSession(db.grants, hashToken(token), kind)
    if (found === undefined) throw apiError('err.invalidSession')
    const { isStale, ...session } = found
    checkSessionTag(c, session.id)
    if (kind === 'machine' && machines === 'whereKeyMay')
      await checkKeyMay(db.grants, session.id, c.var.client.address)
    if (stage === 'complete') checkComplete({ realm: 'user', ...session, deferable: false })
    if (isStale) await touchSession(db.grants, session.id)
    c.set('session', { ...session, tag: sessionTag(session.id) })
    await next()
  })
}

/** Lets a signed-in administrator in, by the console's cookie, and puts `admin`. Throws as `requireUser` does. */
export function requireAdmin(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  { stage = 'complete' }: GuardOptions = {},
): MiddlewareHandler<AdminEnv> {
  const cookies = sessionCookies(config)
  return createMiddleware<AdminEnv>(async function guardAdmin(c, next) {
    const token = cookies.read(c, 'admin')
    const found = token === undefined ? undefined : await findLiveAdminSession(db.grants, hashToken(token))
    if (found === undefined) throw apiError('err.invalidSession')
    const { isStale, userName, ...admin } = found
    checkSessionTag(c, admin.sessionId)
    if (stage === 'complete') checkComplete({ realm: 'admin', ...admin, deferable: isDeferable(admin) })
    if (isStale) await touchAdminSession(db.grants, admin.sessionId)
    c.set('admin', { ...admin, name: userName, tag: sessionTag(admin.sessionId) })
    await next()
  })
}

/** What limits a key limits the sessions it made: a token that was carried off is of no use elsewhere. */
async function checkKeyMay(db: Kysely<DB>, sessionId: string, address: string): Promise<void> {
  const allowedFrom = await findAllowedFromOfSession(db, sessionId)
  if (allowedFrom === undefined) throw apiError('err.invalidSession')
  if (!isAllowedFrom(allowedFrom, address)) throw apiError('err.addressNotAllowed', { extra: address })
}

function checkComplete(session: {
  realm: 'user' | 'admin'
  stage: 'half' | 'complete'
  totpEnabled: boolean
  totpConfirmed: boolean
  hasPasskey: boolean
  deferable: boolean
}): void {
  if (session.stage === 'complete') return
  const step = nextSignInStep(session)
  // The second factor was lifted meanwhile: the half session still isn't one, its owner signs in again.
  throw apiError(step === 'signedIn' ? 'err.invalidSession' : stepCodes[step])
}

function bearerToken(c: Context): string | undefined {
  return /^Bearer ([\w-]{1,200})$/i.exec(c.req.header('Authorization') ?? '')?.[1]
}

import type { Deps } from '../context.ts'
import { hasAdminSession } from '../sessions/admin-session.service.ts'
import type { CreatedSession } from '../sessions/session.service.ts'
import type { Arrival } from './arrival.ts'
import { verifyCredentials } from './credentials.service.ts'
import { type Admission, admitUser, type UserAdmissionDeps } from './user-admission.service.ts'

/** A sign-in to the portal as the browser asks for it. */
export type UserSignIn = Arrival & {
  userName: string
  password: string
  /** The browser's admin cookie. */
  adminToken: string | undefined
}

/**
 * Signs a user in by name and password, or as far as the second factor. Portal §4 "Login flow".
 *
 * @throws err.invalidCredentials, or err.unauthorised in its place for a browser with an admin session;
 * err.accountDisabled; err.directoryUnavailable; err.tooManyRequests.
 */
export async function signInUser(
  deps: UserAdmissionDeps & Pick<Deps, 'passwords' | 'sealer' | 'config'>,
  { userName, password, adminToken, ...arrival }: UserSignIn,
): Promise<Admission<CreatedSession>> {
  const { account, claims } = await verifyCredentials(
    deps,
    { realm: 'user', userName, password, client: arrival.client },
    async () =>
      (await hasAdminSession(deps.db.grants, adminToken)) ? 'err.unauthorised' : 'err.invalidCredentials',
  )
  return admitUser(deps, { account, ...(claims && { claims }), isComplete: false }, arrival)
}

import { nextSignInStep } from '#machines/sign-in.machine.ts'
import { apiError } from '../errors.ts'
import type { CreatedSession } from '../sessions/session.service.ts'
import type { UserSession } from '../sessions/session-guard.ts'
import type { Arrival } from './arrival.ts'
import type { AuthDeps } from './auth.routes.ts'
import { verifyCredentials } from './credentials.service.ts'
import { type UseCode, verifyCode } from './second-factor/code-check.service.ts'
import { type Admitted, admitUser } from './user-admission.service.ts'

/** What somebody proves again who wants to stay: the password, and a code where the account has a second factor. */
export type Extension = Arrival & { session: UserSession; password: string; code: string | undefined }

/**
 * Signs a user in again before the session's end, in one step and without leaving the page. It is a whole sign-in: the
 * new session has its own end, the old one ends once the new one holds its doors. Specification README "Kiosk": a
 * session on a public computer can't be extended. Users of identity providers sign in again there.
 *
 * @throws err.forbidden (kiosk), err.passwordNotLocal, err.invalidCredentials, err.invalidField (Code is missing),
 * err.invalidCode, err.totpEnrolmentRequired, err.accountDisabled, err.directoryUnavailable, err.tooManyRequests
 */
export async function extendSession(
  deps: AuthDeps,
  { session, password, code, ...arrival }: Extension,
): Promise<Admitted<CreatedSession>> {
  if (session.kiosk) throw apiError('err.forbidden')
  if (!['local', 'LDAP'].includes(session.authType)) throw apiError('err.passwordNotLocal')
  const { account, claims } = await verifyCredentials(
    deps,
    { realm: 'user', userName: session.userName, password, client: arrival.client },
    async () => 'err.invalidCredentials',
  )
  const step = nextSignInStep(account)
  if (step === 'enrolling') throw apiError('err.totpEnrolmentRequired')
  let secondStep: UseCode | undefined
  if (step === 'verifyingTotp') {
    if (code === undefined) throw apiError('err.invalidField', { extra: 'Code' })
    secondStep = await verifyCode(deps, { ...arrival, account, typed: code })
  }
  const proven = { account, ...(claims && { claims }), isComplete: true, ...(secondStep && { secondStep }) }
  return (await admitUser(deps, proven, arrival)).session
}

import { canDefer, nextSignInStep } from '#machines/sign-in.machine.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { inTransaction } from '../platform/database.ts'
import { createAdminSession } from '../sessions/admin-session.service.ts'
import type { SignInClient } from '../sessions/session.service.ts'
import { lockAdminAccount, markAdminSignedIn } from './account.store.ts'
import type { AdminLoginAnswer } from './auth.schema.ts'
import { checkUnchanged, verifyCredentials } from './credentials.service.ts'

/** A sign-in to the console as the browser asks for it. */
export type AdminSignIn = {
  userName: string
  password: string
  client: SignInClient
  /** The browser's admin cookie so far. */
  replaces: string | undefined
}

/**
 * Signs an administrator in by name and password; the answer says whether the second factor is still to come, and
 * the session is a half one until then. Never depends on the licence.
 *
 * @throws err.invalidCredentials, err.accountDisabled, err.tooManyRequests
 */
export async function signInAdmin(
  deps: Pick<Deps, 'db' | 'passwords'>,
  { userName, password, client, replaces }: AdminSignIn,
): Promise<{ answer: AdminLoginAnswer; session: { token: string; secondsLeft: number } }> {
  const account = await verifyCredentials(
    deps,
    { realm: 'admin', userName, password, client },
    async () => 'err.invalidCredentials',
  )
  const stage = nextSignInStep(account) === 'signedIn' ? 'complete' : 'half'
  const session = await inTransaction(deps.db.grants, async (tx) => {
    checkUnchanged(account, await lockAdminAccount(tx, account.id))
    if (stage === 'complete') {
      await markAdminSignedIn(tx, account.id)
      await writeAudit(tx, [
        { kind: 'LoginAdmin', fields: { AdminName: account.userName, IpAddress: client.address } },
      ])
    }
    return createAdminSession(tx, { adminId: account.id, stage, client, replaces })
  })
  const answer = {
    TotpEnabled: account.totpEnabled,
    AdminTotpVerified: account.totpConfirmed,
    TotpEnrolmentDeferable: canDefer(account),
  }
  return { answer, session }
}

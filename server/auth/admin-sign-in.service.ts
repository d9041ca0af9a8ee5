import { canDefer } from '#machines/sign-in.machine.ts'
import type { Deps } from '../context.ts'
import { admitAdmin, type CreatedAdminSession } from './admin-admission.service.ts'
import type { Arrival } from './arrival.ts'
import type { AdminLoginAnswer } from './auth.schema.ts'
import { verifyCredentials } from './credentials.service.ts'
import type { Admitted } from './user-admission.service.ts'

/**
 * Signs an administrator in by name and password; the answer says whether the second factor is still to come, and
 * the session is a half one until then.
 *
 * @throws err.invalidCredentials, err.accountDisabled, err.directoryUnavailable, err.tooManyRequests
 */
export async function signInAdmin(
  deps: Pick<Deps, 'db' | 'passwords' | 'sealer' | 'config' | 'log'>,
  { userName, password, ...arrival }: Arrival & { userName: string; password: string },
): Promise<{ answer: AdminLoginAnswer; session: Admitted<CreatedAdminSession> }> {
  const { account, claims } = await verifyCredentials(
    deps,
    { realm: 'admin', userName, password, client: arrival.client },
    async () => 'err.invalidCredentials',
  )
  const { session } = await admitAdmin(
    deps,
    { account, ...(claims && { claims }), isComplete: false },
    arrival,
  )
  const answer = {
    TotpEnabled: account.totpEnabled,
    AdminTotpVerified: account.totpConfirmed,
    HasPasskey: account.hasPasskey,
    TotpEnrolmentDeferable: canDefer(account),
  }
  return { answer, session }
}

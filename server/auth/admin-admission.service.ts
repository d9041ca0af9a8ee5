import { nextSignInStep } from '#machines/sign-in.machine.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { inTransaction } from '../platform/database.ts'
import { createAdminSession } from '../sessions/admin-session.service.ts'
import { lockAdminAccount, markAdminSignedIn } from './account.store.ts'
import type { Arrival } from './arrival.ts'
import { applyAdminClaims } from './claims.store.ts'
import { checkUnchanged } from './credentials.service.ts'
import type { Proven } from './identity/identity.ts'
import { rememberDevice } from './known-device.service.ts'
import type { Admission } from './user-admission.service.ts'

/** An admin session as its new owner gets it. */
export type CreatedAdminSession = { id: string; token: string; secondsLeft: number }

/**
 * Lets an administrator in whose identity is proven, by whatever source; the session is a half one until the second
 * factor. Never depends on the licence. The one place where administrators' sessions begin.
 *
 * @throws err.accountDisabled, err.invalidCredentials (the account changed since the proof)
 */
export async function admitAdmin(
  deps: Pick<Deps, 'db'>,
  { account, claims, isComplete, identitySession, secondStep }: Proven,
  { client, replaces, requestId }: Arrival,
): Promise<Admission<CreatedAdminSession>> {
  const step = isComplete ? 'signedIn' : nextSignInStep(account)
  const session = await inTransaction(deps.db.grants, async (tx) => {
    const current = checkUnchanged(account, await lockAdminAccount(tx, account.id))
    let deviceToken: string | null = null
    if (claims !== undefined) await applyAdminClaims(tx, account, claims)
    if (step === 'signedIn') {
      await secondStep?.(tx, current)
      deviceToken = await rememberDevice(tx, account, client.deviceTokens.admin)
      await markAdminSignedIn(tx, account.id)
      const fields = { AdminName: account.userName, IpAddress: client.address }
      await writeAudit(tx, [{ kind: 'LoginAdmin', fields }], requestId)
    }
    const created = await createAdminSession(tx, {
      adminId: account.id,
      stage: step === 'signedIn' ? 'complete' : 'half',
      client,
      replaces,
      identitySession: identitySession ?? null,
    })
    return { ...created, deviceToken }
  })
  return { step, session }
}

import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import { endOtherAdminSessions } from '../sessions/admin-session.service.ts'
import { endOtherSessions, type SignInClient } from '../sessions/session.service.ts'
import { findAdminAccount, findUserAccount, replacePassword } from './account.store.ts'
import { countFailures } from './failure-limits.ts'
import type { Account } from './identity/identity.ts'
import { hashNewPassword } from './passwords/new-password.service.ts'

/** Who changes the own password, from where, and what was typed. */
export type PasswordChange = {
  userName: string
  /** The session that stays. */
  sessionId: string
  address: string
  /** The browser's device cookies. */
  deviceTokens: SignInClient['deviceTokens']
  currentPassword: string
  newPassword: string
}

type PasswordDeps = Pick<Deps, 'db' | 'rights' | 'passwords'>

/**
 * Changes a signed-in user's password. The session stays, all others of the account end with their grants.
 *
 * @throws err.passwordNotLocal, err.invalidCredentials, err.passwordLeaked, err.passwordIsUserName,
 * err.tooManyRequests
 */
export async function changeUserPassword(deps: PasswordDeps, change: PasswordChange): Promise<void> {
  const account = await findUserAccount(deps.db.grants, change.userName)
  const { current, newHash } = await prove(deps, account, change)
  await deps.rights.change({ users: [current.id] }, 'sessionEnded', async (tx) => {
    if (!(await replacePassword(tx, current, newHash))) throw apiError('err.invalidCredentials')
    await endOtherSessions(tx, { userId: current.id, except: change.sessionId }, 'sessionEnded')
    await writeAudit(tx, [
      { kind: 'ChangePassword', fields: { UserName: current.userName, IpAddress: change.address } },
    ])
  })
}

/** The same for an administrator; throws the same. */
export async function changeAdminPassword(deps: PasswordDeps, change: PasswordChange): Promise<void> {
  const account = await findAdminAccount(deps.db.grants, change.userName)
  const { current, newHash } = await prove(deps, account, change)
  await inTransaction(deps.db.grants, async (tx) => {
    if (!(await replacePassword(tx, current, newHash))) throw apiError('err.invalidCredentials')
    await endOtherAdminSessions(tx, { adminId: current.id, except: change.sessionId })
    await writeAudit(tx, [
      { kind: 'ChangePassword', fields: { AdminName: current.userName, IpAddress: change.address } },
    ])
  })
}

async function prove(
  deps: PasswordDeps,
  account: Account | undefined,
  { userName, address, deviceTokens, currentPassword, newPassword }: PasswordChange,
): Promise<{ current: Account; newHash: string }> {
  if (account === undefined) throw apiError('err.invalidSession')
  if (account.authType !== 'local') throw apiError('err.passwordNotLocal')
  const { isRight } = await countFailures(
    deps,
    { realm: account.realm, userName, client: { address, deviceTokens } },
    async () => ({
      isRight: await deps.passwords.verifyPassword(account.passwordHash ?? undefined, currentPassword),
    }),
  )
  if (!isRight) throw apiError('err.invalidCredentials')
  const chosen = { password: newPassword, userName: account.userName, field: 'NewPassword' }
  return { current: account, newHash: await hashNewPassword(deps, chosen) }
}

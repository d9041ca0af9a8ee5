import { writeAudit } from '../audit/audit.store.ts'
import type { Deps } from '../context.ts'
import { ApiError, apiError, type ErrorCode } from '../errors.ts'
import type { SignInClient } from '../sessions/session.service.ts'
import { findAdminAccount, findUserAccount } from './account.store.ts'
import { countFailures } from './failure-limits.ts'
import type { Account, IdentityClaims } from './identity/identity.ts'
import { passwordCheck } from './identity/sources.ts'

/** What somebody typed, and where. */
export type Credentials = {
  realm: 'user' | 'admin'
  userName: string
  password: string
  client: SignInClient
}

/**
 * The account that a user name and a password prove, and that may sign in, with what its source says of its owner.
 *
 * Unknown name and wrong password look the same and take the same time; that an account is disabled is said only to
 * whoever knows its password. Each refusal is audited; a name that is no account's is not written down.
 *
 * @throws what `refusal` says for wrong credentials, err.accountDisabled, err.directoryUnavailable,
 * err.tooManyRequests.
 */
export async function verifyCredentials(
  deps: Pick<Deps, 'db' | 'passwords' | 'sealer' | 'config' | 'log'>,
  { realm, userName, password, client }: Credentials,
  refusal: () => Promise<ErrorCode>,
): Promise<{ account: Account; claims?: IdentityClaims }> {
  const prove = passwordCheck(deps)
  const find = realm === 'user' ? findUserAccount : findAdminAccount
  const { account, isRight, claims } = await countFailures(deps, { realm, userName, client }, async () => {
    const account = await find(deps.db.grants, userName)
    const proof = await prove(account, password).catch(async (error: unknown) => {
      if (error instanceof ApiError && error.code === 'err.directoryUnavailable')
        await tell(account, error.code)
      throw error
    })
    return { account, ...proof }
  })
  const code = isRight && account !== undefined ? findObstacle(account) : await refusal()
  if (account !== undefined && code === undefined) return { account, ...(claims && { claims }) }
  await tell(account, code ?? 'err.invalidCredentials')
  throw apiError(code ?? 'err.invalidCredentials')

  async function tell(account: Account | undefined, code: ErrorCode): Promise<void> {
    const who = account !== undefined && { [nameField[realm]]: account.userName }
    const fields = { IpAddress: client.address, ErrorMessage: code, ...who }
    await writeAudit(deps.db.grants, [{ kind: 'LoginFailed', fields, detail: { realm } }])
  }
}

/** Why an account may not sign in although its owner proved who he is. The licence is no reason. */
export function findObstacle(account: Account): ErrorCode | undefined {
  return account.loginEnabled && !account.isExpired ? undefined : 'err.accountDisabled'
}

/** What a proof was about: with another of these the account is somebody else's to prove. */
const provedFields = ['passwordHash', 'authType', 'thirdPartyAuth'] as const

/**
 * Judges an account again under its lock: between the proof and the session somebody may have changed the password
 * or the DN, disabled or deleted it.
 *
 * @returns the account as it stands.
 * @throws err.invalidCredentials, err.accountDisabled
 */
export function checkUnchanged(proved: Account, current: Account | undefined): Account {
  if (current === undefined || provedFields.some((field) => current[field] !== proved[field]))
    throw apiError('err.invalidCredentials')
  const obstacle = findObstacle(current)
  if (obstacle !== undefined) throw apiError(obstacle)
  return current
}

const nameField = { user: 'UserName', admin: 'AdminName' } as const

import type { Deps } from '../../context.ts'
import type { Account, PasswordSource } from './identity.ts'
import { localSource } from './local.ts'

/**
 * Chooses who checks an account's password, by its AuthType. An unknown name and an account that has no password
 * (SAML, OIDC, apikey) go to the local source without an account: refused after the same time.
 */
export function passwordCheck(
  deps: Pick<Deps, 'passwords'>,
): (account: Account | undefined, password: string) => Promise<boolean> {
  const local = localSource(deps)
  const sources: Record<string, PasswordSource> = { local }

  return async function isRightPassword(account, password) {
    const source = account === undefined ? undefined : sources[account.authType]
    return source === undefined ? local.isRight(undefined, password) : source.isRight(account, password)
  }
}

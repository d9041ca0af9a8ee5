import type { Deps } from '../../context.ts'
import { ldapSource } from '../ldap/ldap-source.ts'
import type { Account, PasswordProof, PasswordSource } from './identity.ts'
import { localSource } from './local.ts'

/**
 * Chooses who checks an account's password, by its AuthType. An unknown name and an account that has no password
 * (SAML, OIDC, apikey) go to the local source without an account: refused after the same time.
 */
export function passwordCheck(
  deps: Pick<Deps, 'db' | 'sealer' | 'config' | 'log' | 'passwords'>,
): (account: Account | undefined, password: string) => Promise<PasswordProof> {
  const local = localSource(deps)
  const sources: Record<string, PasswordSource> = { local, LDAP: ldapSource(deps) }

  return async function prove(account, password) {
    const source = account === undefined ? undefined : sources[account.authType]
    return source === undefined ? local.prove(undefined, password) : source.prove(account, password)
  }
}

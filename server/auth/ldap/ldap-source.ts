import type { Deps } from '../../context.ts'
import { type LdapSettings, readAuthSettings } from '../../settings/auth-setting.query.ts'
import type { Account, PasswordProof, PasswordSource } from '../identity/identity.ts'
import { isBlank } from './blank-password.ts'
import { withDirectory } from './directory.ts'
import { bindAsService, findPeople, mostGroups, readGroupNames } from './directory-person.ts'
import { normaliseDn } from './distinguished-name.ts'

/**
 * Accounts whose password a directory keeps; their `thirdPartyAuth` is the name (DN) they bind with.
 *
 * With a service account the person is searched first, by the user name and the settings' filter: exactly one has to
 * be found, and when the account has a DN it has to be that one, so that the filter says who may and the DN who it
 * is. Then the person binds. Specification README "LDAP".
 */
export const ldapSource = (deps: Pick<Deps, 'db' | 'sealer' | 'config' | 'log'>): PasswordSource => ({
  async prove(account, password) {
    if (account === undefined) return refused
    const warn = (why: string) => deps.log.warn({ account: account.id, realm: account.realm }, why)
    const { ldap } = await readAuthSettings(deps)
    if (ldap === null) warn('LDAP sign-in refused: no directory is configured')
    if (ldap === null || isBlank(password)) return refused
    return proveInDirectory(ldap, { account, password, warn })
  },
})

type Attempt = { account: Account; password: string; warn: (why: string) => void }

const refused: PasswordProof = { isRight: false }

async function proveInDirectory(
  settings: LdapSettings,
  { account, password, warn }: Attempt,
): Promise<PasswordProof> {
  const own = account.thirdPartyAuth ?? ''
  if (settings.service === null && normaliseDn(own) === undefined) {
    warn('LDAP sign-in refused: the account’s DN is not one')
    return refused
  }
  const { service, groupFilter } = settings
  return withDirectory(settings, async (client) => {
    if (service !== null) await bindAsService(client, service)
    const dn = service === null ? own : pick(await findPeople(client, settings, account.userName), own, warn)
    if (dn === undefined || !(await takesPassword(() => client.bind(dn, password)))) return refused
    if (groupFilter === '') return { isRight: true }

    if (service !== null) await bindAsService(client, service)
    const { names, isCut } = await readGroupNames(client, settings, { dn, username: account.userName })
    if (isCut) warn(`LDAP: only the first ${mostGroups} groups of the account are read`)
    return { isRight: true, claims: { groups: names } }
  })
}

/** The one entry that was found, if it is the account's. */
function pick(found: readonly string[], own: string, warn: Attempt['warn']): string | undefined {
  const [dn, ...others] = found
  const name = dn === undefined ? undefined : normaliseDn(dn)
  if (dn === undefined) warn('LDAP sign-in refused: the search finds nobody')
  else if (others.length > 0) warn('LDAP sign-in refused: the search finds more than one')
  else if (name === undefined) warn('LDAP sign-in refused: what the search finds has no name')
  else if (own !== '' && normaliseDn(own) !== name) warn('LDAP sign-in refused: the search finds another DN')
  else return dn
  return undefined
}

/**
 * How a directory says that this person may not in (RFC 4511 §A): wrong password, no such entry, no password there,
 * locked or disabled there, a name it can't read. Everything else is a directory that doesn't work.
 */
const refusals = new Set([49, 48, 32, 34, 50, 53, 19])

async function takesPassword(bind: () => Promise<void>): Promise<boolean> {
  try {
    await bind()
    return true
  } catch (error) {
    if (refusals.has(Number((error as { code?: unknown }).code))) return false
    throw error
  }
}

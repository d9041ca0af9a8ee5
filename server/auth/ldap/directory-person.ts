import type { Client, SearchOptions } from 'ldapts'
import type { LdapSettings } from '../../settings/auth-setting.query.ts'
import { isBlank } from './blank-password.ts'
import { unavailable } from './directory.ts'
import { toFilter } from './ldap-filter.ts'

/** Finds people where the settings name no filter of their own. */
export const usualUserFilter = '(uid={username})'

/** Names of one person's groups that are read; the rest is left out, and the caller is told. */
export const mostGroups = 1000

/**
 * Binds as the service account.
 *
 * @throws err.directoryUnavailable also when it is refused: nobody can sign in then, and it is nobody's failure.
 */
export async function bindAsService(
  client: Client,
  { bindDn, bindPassword }: NonNullable<LdapSettings['service']>,
): Promise<void> {
  const password = bindPassword.expose()
  if (isBlank(password) || !isBindName(bindDn))
    throw unavailable('the service account has no name or password')
  await client.bind(bindDn, password).catch((cause: unknown) => {
    throw unavailable(`the service account is refused: ${String(cause)}`, cause)
  })
}

/** A DN, or as Active Directory takes it too, `name@domain`; never the name of a SASL mechanism, as ldapts would read it. */
const isBindName = (name: string): boolean => /[=@]/.test(name)

/** Names of the entries that the user filter finds for a user name, two at most: more than one is nobody. */
export async function findPeople(
  client: Client,
  { searchBase, userFilter }: LdapSettings,
  username: string,
): Promise<string[]> {
  const filter = toFilter(userFilter || usualUserFilter, { username })
  const { searchEntries } = await client.search(searchBase, { ...oneLook, filter, sizeLimit: 2 })
  return searchEntries.map(({ dn }) => dn)
}

/** Names (cn) of the groups that the group filter finds; `isCut` when there are more than are read. */
export async function readGroupNames(
  client: Client,
  { searchBase, groupFilter }: LdapSettings,
  person: { dn: string; username: string },
): Promise<{ names: string[]; isCut: boolean }> {
  const { searchEntries } = await client.search(searchBase, {
    ...oneLook,
    filter: toFilter(groupFilter, person),
    attributes: ['cn'],
    sizeLimit: mostGroups,
  })
  const names = searchEntries
    .flatMap((entry) => Object.entries(entry).find(([type]) => type.toLowerCase() === 'cn')?.[1] ?? [])
    .filter((name) => typeof name === 'string')
  return { names: names.slice(0, mostGroups), isCut: searchEntries.length >= mostGroups }
}

/** No attributes, no aliases; a reference to another server is not followed. */
const oneLook = {
  scope: 'sub',
  attributes: ['1.1'],
  timeLimit: 4,
} as const satisfies SearchOptions

import { apiError } from '../errors.ts'
import type { Config } from '../platform/config.ts'
import type { AuthSettingName, StoredAuthSettings } from './auth-setting.schema.ts'
import { type AuthSettingsChange, recorded } from './auth-setting-wire.schema.ts'

/** What a request changes: the new value by name, secrets in the clear; '' removes one. */
export type AuthChanges = Partial<Record<AuthSettingName, string | boolean>>
/** The same as it is asked for: what isn't said is undefined. */
type Wanted = Partial<Record<AuthSettingName, string | boolean | undefined>>

/** A part of the settings that both realms have. */
export const realmPrefixes = ['', 'Admin'] as const
export type RealmPrefix = (typeof realmPrefixes)[number]

/**
 * A secret, the address it is sent to, and what it is the secret of. A recorded secret goes to no other address than
 * the one it was entered for (decision 15), and goes with what it belongs to.
 */
const secrets = [
  { secret: 'OIDCClientSecret', address: 'OIDCIssuer', owner: 'OIDCIssuer' },
  { secret: 'AdminOIDCClientSecret', address: 'AdminOIDCIssuer', owner: 'AdminOIDCIssuer' },
  { secret: 'LDAPBindPassword', address: 'LDAPURL', owner: 'LDAPBindDN' },
] as const

const plainNames = [
  'SAMLMetadataURL',
  'SAMLMetadataFile',
  'AdminSAMLMetadataURL',
  'AdminSAMLMetadataFile',
  'OIDCIssuer',
  'OIDCClientID',
  'AdminOIDCIssuer',
  'AdminOIDCClientID',
  'LDAPURL',
  'LDAPStartTLS',
  'LDAPSkipVerifyTLS',
  'LDAPBindDN',
  'LDAPSearchBase',
  'LDAPUserFilter',
  'LDAPGroupFilter',
] as const satisfies readonly AuthSettingName[]

/**
 * What a request really changes of what is stored.
 *
 * @throws err.credentialsRequired (Extra the secret) when a recorded secret would be sent to another address,
 * err.invalidField for a request that contradicts itself
 */
export function toAuthChanges(
  stored: StoredAuthSettings,
  request: AuthSettingsChange,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): AuthChanges {
  const wanted: Wanted = {
    ...Object.fromEntries(plainNames.map((name) => [name, request[name]])),
    PublicURL: toPublicUrl(request.PublicURL, publicUrl),
    ...toFiles(request, ''),
    ...toFiles(request, 'Admin'),
  }
  const changes = keepDifferent(stored, wanted)
  for (const rule of secrets) Object.assign(changes, toSecret(rule, { stored, request, changes }))
  return changes
}

/** What is in force once the changes are made; secrets that stay are still sealed. */
export const afterChanges = (stored: StoredAuthSettings, changes: AuthChanges): StoredAuthSettings => ({
  ...stored,
  ...(changes as Partial<StoredAuthSettings>),
})

/** The environment's own address is not stored, so that it is followed when the environment changes. */
function toPublicUrl(given: string | undefined, publicUrl: string): string | undefined {
  const origin = given?.replace(/\/+$/, '')
  return origin === publicUrl.replace(/\/+$/, '') ? '' : origin
}

/** A file that is uploaded replaces the recorded one; to take one away is said by its own flag. */
function toFiles(request: AuthSettingsChange, prefix: RealmPrefix): Wanted {
  const files = (['SAMLKeyFile', 'SAMLCertFile'] as const).map((file) => {
    const given = request[`${prefix}${file}`]
    const flag = `${prefix}Remove${file}` as const
    const isGiven = given !== undefined && given.trim() !== '' && given !== recorded
    if (isGiven && request[flag] === true) throw apiError('err.invalidField', { extra: flag })
    return [`${prefix}${file}`, isGiven ? given : request[flag] === true ? '' : undefined]
  })
  return Object.fromEntries(files) as Wanted
}

function keepDifferent(stored: StoredAuthSettings, wanted: Wanted): AuthChanges {
  const names = Object.keys(wanted) as AuthSettingName[]
  return Object.fromEntries(
    names
      .filter((name) => wanted[name] !== undefined && wanted[name] !== stored[name])
      .map((name) => [name, wanted[name]]),
  )
}

function toSecret(
  { secret, address, owner }: (typeof secrets)[number],
  {
    stored,
    request,
    changes,
  }: { stored: StoredAuthSettings; request: AuthSettingsChange; changes: AuthChanges },
): AuthChanges {
  const next = afterChanges(stored, changes)
  const given = request[secret]
  if (typeof given === 'string' && given !== '' && given !== recorded) {
    const without = [address, owner].find((name) => next[name] === '')
    if (without !== undefined) throw apiError('err.invalidField', { extra: without })
    return { [secret]: given }
  }
  if (stored[secret] === '') return {}
  if (given === null || next[address] === '' || next[owner] === '') return { [secret]: '' }
  if (changes[address] !== undefined) throw apiError('err.credentialsRequired', { extra: secret })
  return {}
}

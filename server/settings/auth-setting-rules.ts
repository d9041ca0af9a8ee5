import { parseDirectoryUrl } from '../auth/ldap/directory-url.ts'
import { normaliseDn } from '../auth/ldap/distinguished-name.ts'
import { checkLdapFilter } from '../auth/ldap/ldap-filter.ts'
import { discoverProvider } from '../auth/oidc/discovery.ts'
import { fetchIdpMetadata, readIdpMetadata } from '../auth/saml/idp-metadata.ts'
import { checkKeyPair } from '../auth/saml/key-pair.ts'
import type { Deps } from '../context.ts'
import { ApiError, apiError } from '../errors.ts'
import type { Config } from '../platform/config.ts'
import { isOrigin } from '../platform/config-values.ts'
import type { AuthSettingName, StoredAuthSettings } from './auth-setting.schema.ts'
import { type AuthChanges, afterChanges, type RealmPrefix, realmPrefixes } from './auth-setting-change.ts'

type Change = { stored: StoredAuthSettings; changes: AuthChanges }

/**
 * The rules of Settings → Authentication that need nobody else. Console §5.
 *
 * @throws err.invalidField, err.ldapUrlScheme, err.ldapFilterInvalid, err.samlMetadataInvalid, err.keyPairInvalid;
 * Extra the field
 */
export function checkAuthChanges(
  { config, sealer }: Pick<Deps, 'config' | 'sealer'>,
  { stored, changes }: Change,
): void {
  const next = afterChanges(stored, changes)
  checkPublicUrl(next.PublicURL, config)
  checkDirectory(next)
  for (const prefix of realmPrefixes) {
    const file = `${prefix}SAMLMetadataFile` as const
    if (changes[file]) about(file, () => readIdpMetadata(next[file]))
    checkUpload(sealer, prefix, { stored, changes })
    if (next[`${prefix}OIDCIssuer`] !== '') need(next, `${prefix}OIDCClientID`)
  }
}

/**
 * The rules that ask somebody else: metadata behind a new address, the OpenID configuration of a new issuer.
 *
 * @throws err.samlMetadataUnreachable, err.samlMetadataInvalid, err.oidcDiscoveryFailed; Extra the field
 */
export async function checkProviders(
  { config }: { config: Config },
  { stored, changes }: Change,
): Promise<void> {
  const next = afterChanges(stored, changes)
  for (const prefix of realmPrefixes) {
    const [metadata, issuer] = [`${prefix}SAMLMetadataURL`, `${prefix}OIDCIssuer`] as const
    if (changes[metadata]) await aboutLater(metadata, fetchIdpMetadata(next[metadata]))
    if (!changes[issuer]) continue
    const settings = { issuer: next[issuer], clientId: next[`${prefix}OIDCClientID`], clientSecret: null }
    await discoverProvider(settings, config).catch((cause: unknown) => {
      const detail = cause instanceof ApiError ? (cause.detail ?? '') : ''
      throw apiError('err.oidcDiscoveryFailed', { extra: issuer, detail, cause })
    })
  }
}

/**
 * Only what identity providers are told changes with it: cookies, the Origin rule and agents keep the environment's
 * address. Its scheme must be that one's, because cookies are made for it.
 */
function checkPublicUrl(url: string, { publicUrl }: Pick<Config, 'publicUrl'>): void {
  if (url === '') return
  if (!isOrigin(url) || new URL(url).protocol !== new URL(publicUrl).protocol)
    throw apiError('err.invalidField', { extra: 'PublicURL' })
}

function checkDirectory(next: StoredAuthSettings): void {
  if (next.LDAPUserFilter !== '')
    about('LDAPUserFilter', () => checkLdapFilter(next.LDAPUserFilter, ['{username}']))
  if (next.LDAPGroupFilter !== '') about('LDAPGroupFilter', () => checkLdapFilter(next.LDAPGroupFilter))
  if (next.LDAPSearchBase !== '' && normaliseDn(next.LDAPSearchBase) === undefined)
    throw apiError('err.invalidField', { extra: 'LDAPSearchBase' })
  // A DN, or `name@domain`, which Active Directory takes too.
  if (next.LDAPBindDN !== '' && !/[=@]/.test(next.LDAPBindDN))
    throw apiError('err.invalidField', { extra: 'LDAPBindDN' })
  if (next.LDAPURL === '') return
  parseDirectoryUrl(next.LDAPURL)
  if (next.LDAPBindDN !== '') need(next, 'LDAPBindPassword')
}

/** A key is uploaded with its certificate, or fits the one that is recorded, and the other way about. */
function checkUpload(sealer: Deps['sealer'], prefix: RealmPrefix, { stored, changes }: Change): void {
  const [keyName, certificateName] = [`${prefix}SAMLKeyFile`, `${prefix}SAMLCertFile`] as const
  const given = [keyName, certificateName].find((name) => changes[name])
  if (given === undefined) return
  const place = { table: 'settings', column: 'value', id: keyName }
  const recordedKey = stored[keyName] === '' ? '' : sealer.open(stored[keyName], place)
  const key = typeof changes[keyName] === 'string' ? changes[keyName] : recordedKey
  const certificate = afterChanges(stored, changes)[certificateName]
  about(given, () => checkKeyPair(key, certificate))
}

function need(next: StoredAuthSettings, name: AuthSettingName): void {
  if (next[name] === '') throw apiError('err.invalidField', { extra: name })
}

/** Names the field in what a check of its value throws. */
function about(field: AuthSettingName, check: () => unknown): void {
  try {
    check()
  } catch (error) {
    throw withField(field, error)
  }
}

async function aboutLater(field: AuthSettingName, check: Promise<unknown>): Promise<void> {
  await check.catch((error: unknown) => {
    throw withField(field, error)
  })
}

const withField = (field: AuthSettingName, error: unknown): unknown =>
  error instanceof ApiError
    ? apiError(error.code, { extra: field, cause: error, ...(error.detail && { detail: error.detail }) })
    : error

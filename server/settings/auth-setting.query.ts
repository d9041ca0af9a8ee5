import type { Kysely } from 'kysely'
import type { Deps } from '../context.ts'
import type { DB } from '../platform/database.types.ts'
import { Secret } from '../platform/secret.ts'
import type { Realm } from '../sessions/session-cookie.ts'
import { type AuthSettingName, authSettingsSchema, type StoredAuthSettings } from './auth-setting.schema.ts'

/** SAML of one realm. Not configured without metadata. */
export type SamlSettings = {
  metadataUrl: string
  /** The identity provider's metadata as XML; '' when it is read from the address. */
  metadataFile: string
  /** Our private key (PEM) and certificate (PEM); null: requests aren't signed, assertions can't be encrypted. */
  keyPair: { key: Secret; certificate: string } | null
}

/** OIDC of one realm. */
export type OidcSettings = { issuer: string; clientId: string; clientSecret: Secret | null }

/** The directory. */
export type LdapSettings = {
  url: string
  startTls: boolean
  skipVerifyTls: boolean
  /** The service account of search-then-bind; null: users bind with the name that stands in their account. */
  service: { bindDn: string; bindPassword: Secret } | null
  searchBase: string
  /** With `{username}`; '' = the usual one. */
  userFilter: string
  /** With `{dn}` and `{username}`; '' = groups aren't read. */
  groupFilter: string
}

/** Settings → Authentication as signing in uses them; what is null isn't configured. */
export type AuthSettings = {
  /** Origin of the addresses that identity providers are told, without a slash at the end. */
  publicUrl: string
  saml: Record<Realm, SamlSettings | null>
  oidc: Record<Realm, OidcSettings | null>
  ldap: LdapSettings | null
}

/** The stored fields as they are, sealed values sealed. */
export async function readStoredAuthSettings(db: Kysely<DB>): Promise<StoredAuthSettings> {
  const rows = await db
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', 'in', Object.keys(authSettingsSchema.shape))
    .execute()
  return authSettingsSchema.parse(Object.fromEntries(rows.map(({ name, value }) => [name, value])))
}

/** One small SELECT, then the secrets opened; read for each sign-in, so that a change holds at once on every replica. */
export async function readAuthSettings({
  db,
  sealer,
  config,
}: Pick<Deps, 'db' | 'sealer' | 'config'>): Promise<AuthSettings> {
  const stored = await readStoredAuthSettings(db.grants)
  const open = (name: AuthSettingName): Secret | null => {
    const sealed = stored[name]
    return sealed === '' || typeof sealed !== 'string'
      ? null
      : new Secret(sealer.open(sealed, { table: 'settings', column: 'value', id: name }))
  }
  const saml = (prefix: '' | 'Admin'): SamlSettings | null => {
    const [metadataUrl, metadataFile] = [
      stored[`${prefix}SAMLMetadataURL`],
      stored[`${prefix}SAMLMetadataFile`],
    ]
    if (metadataUrl === '' && metadataFile === '') return null
    const [key, certificate] = [open(`${prefix}SAMLKeyFile`), stored[`${prefix}SAMLCertFile`]]
    return {
      metadataUrl,
      metadataFile,
      keyPair: key === null || certificate === '' ? null : { key, certificate },
    }
  }
  const oidc = (prefix: '' | 'Admin'): OidcSettings | null => {
    const [issuer, clientId] = [stored[`${prefix}OIDCIssuer`], stored[`${prefix}OIDCClientID`]]
    if (issuer === '' || clientId === '') return null
    return { issuer, clientId, clientSecret: open(`${prefix}OIDCClientSecret`) }
  }
  return {
    publicUrl: toPublicUrl(stored, config.publicUrl),
    saml: { user: saml(''), admin: saml('Admin') },
    oidc: { user: oidc(''), admin: oidc('Admin') },
    ldap: stored.LDAPURL === '' ? null : toLdap(stored, open('LDAPBindPassword')),
  }
}

/** Origin that others are told of this installation: the saved one, until then the environment's. */
export async function readPublicUrl(db: Kysely<DB>, { publicUrl }: { publicUrl: string }): Promise<string> {
  return toPublicUrl(await readStoredAuthSettings(db), publicUrl)
}

/** Whether a service account of the directory finds people by their user name; without one each account needs its DN. */
export async function directorySearches(db: Kysely<DB>): Promise<boolean> {
  const { LDAPURL, LDAPBindDN, LDAPBindPassword } = await readStoredAuthSettings(db)
  return ![LDAPURL, LDAPBindDN, LDAPBindPassword].includes('')
}

const toPublicUrl = ({ PublicURL }: StoredAuthSettings, publicUrl: string): string =>
  (PublicURL || publicUrl).replace(/\/+$/, '')

function toLdap(stored: StoredAuthSettings, bindPassword: Secret | null): LdapSettings {
  return {
    url: stored.LDAPURL,
    startTls: stored.LDAPStartTLS,
    skipVerifyTls: stored.LDAPSkipVerifyTLS,
    service:
      stored.LDAPBindDN === '' || bindPassword === null ? null : { bindDn: stored.LDAPBindDN, bindPassword },
    searchBase: stored.LDAPSearchBase,
    userFilter: stored.LDAPUserFilter,
    groupFilter: stored.LDAPGroupFilter,
  }
}

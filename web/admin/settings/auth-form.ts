import { z } from 'zod'
import {
  type AuthSettingsAnswer,
  type AuthSettingsChange,
  authSettingsChangeSchema,
} from '#server/settings/auth-setting-wire.schema.ts'

/** Wire names of the admins' settings begin so; the users' have no prefix. Specification README "Settings names". */
export const realmPrefixes = ['', 'Admin'] as const
export type RealmPrefix = (typeof realmPrefixes)[number]

/** What the form holds of one realm; the names are the wire's where the wire has them. */
type RealmValues<Prefix extends RealmPrefix> = Record<
  | `${Prefix}SAMLMetadataURL`
  | `${Prefix}SAMLMetadataFile`
  | `${Prefix}SAMLKeyFile`
  | `${Prefix}SAMLCertFile`
  | `${Prefix}OIDCIssuer`
  | `${Prefix}OIDCClientID`
  | `${Prefix}OIDCClientSecret`,
  string
> &
  Record<`${Prefix}SAMLSource`, 'url' | 'file'> &
  Record<`${Prefix}RemoveKeyPair` | `${Prefix}RemoveClientSecret`, boolean>

/** Settings → Authentication as a form. Secrets and keys are empty: what is recorded stays unless they are filled. */
export type AuthValues = RealmValues<''> &
  RealmValues<'Admin'> & {
    PublicURL: string
    LDAPURL: string
    LDAPStartTLS: boolean
    LDAPSkipVerifyTLS: boolean
    LDAPBindDN: string
    LDAPBindPassword: string
    LDAPSearchBase: string
    LDAPUserFilter: string
    LDAPGroupFilter: string
  }
export type AuthField = keyof AuthValues

/** What the form starts with. */
export const toAuthValues = (stored: AuthSettingsAnswer): AuthValues => ({
  PublicURL: stored.PublicURL,
  ...toUserValues(stored),
  ...toAdminValues(stored),
  LDAPURL: stored.LDAPURL,
  LDAPStartTLS: stored.LDAPStartTLS,
  LDAPSkipVerifyTLS: stored.LDAPSkipVerifyTLS,
  LDAPBindDN: stored.LDAPBindDN,
  LDAPBindPassword: '',
  LDAPSearchBase: stored.LDAPSearchBase,
  LDAPUserFilter: stored.LDAPUserFilter,
  LDAPGroupFilter: stored.LDAPGroupFilter,
})

const toUserValues = (stored: AuthSettingsAnswer): RealmValues<''> => ({
  SAMLSource: stored.SAMLMetadataFile === '' ? 'url' : 'file',
  SAMLMetadataURL: stored.SAMLMetadataURL,
  SAMLMetadataFile: stored.SAMLMetadataFile,
  SAMLKeyFile: '',
  SAMLCertFile: '',
  RemoveKeyPair: false,
  OIDCIssuer: stored.OIDCIssuer,
  OIDCClientID: stored.OIDCClientID,
  OIDCClientSecret: '',
  RemoveClientSecret: false,
})

const toAdminValues = (stored: AuthSettingsAnswer): RealmValues<'Admin'> => ({
  AdminSAMLSource: stored.AdminSAMLMetadataFile === '' ? 'url' : 'file',
  AdminSAMLMetadataURL: stored.AdminSAMLMetadataURL,
  AdminSAMLMetadataFile: stored.AdminSAMLMetadataFile,
  AdminSAMLKeyFile: '',
  AdminSAMLCertFile: '',
  AdminRemoveKeyPair: false,
  AdminOIDCIssuer: stored.AdminOIDCIssuer,
  AdminOIDCClientID: stored.AdminOIDCClientID,
  AdminOIDCClientSecret: '',
  AdminRemoveClientSecret: false,
})

/** Settings that are sent as they are, when they differ from what is stored. */
const plainFields = [
  'PublicURL',
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
] as const

/** The body to send: what differs from what is stored. An absent field stays as it is. */
export function toAuthChange(values: AuthValues, stored: AuthSettingsAnswer): AuthSettingsChange {
  const plain = Object.fromEntries(
    plainFields.filter((name) => values[name] !== stored[name]).map((name) => [name, values[name]]),
  )
  const password = values.LDAPBindPassword === '' ? {} : { LDAPBindPassword: values.LDAPBindPassword }
  return {
    ...plain,
    ...password,
    ...Object.assign({}, ...realmPrefixes.map((prefix) => toRealmChange(prefix, values, stored))),
  }
}

/** Metadata come from one place: choosing the address gives up the file, and the other way about. */
function toRealmChange(
  prefix: RealmPrefix,
  values: AuthValues,
  stored: AuthSettingsAnswer,
): Record<string, unknown> {
  const isByFile = values[`${prefix}SAMLSource`] === 'file'
  const [url, file] = [`${prefix}SAMLMetadataURL`, `${prefix}SAMLMetadataFile`] as const
  const metadata = { [url]: isByFile ? '' : values[url], [file]: isByFile ? values[file] : '' }
  const change: Record<string, unknown> = Object.fromEntries(
    Object.entries(metadata).filter(([name, value]) => value !== stored[name as typeof url | typeof file]),
  )
  for (const part of ['Key', 'Cert'] as const) {
    const name = `${prefix}SAML${part}File` as const
    if (values[`${prefix}RemoveKeyPair`]) change[`${prefix}RemoveSAML${part}File`] = true
    else if (values[name].trim() !== '') change[name] = values[name]
  }
  const secret = `${prefix}OIDCClientSecret` as const
  if (values[`${prefix}RemoveClientSecret`]) change[secret] = null
  else if (values[secret] !== '') change[secret] = values[secret]
  return change
}

/** The form's rule is the wire's own, asked about what would be sent. */
export const authFormSchema = (stored: AuthSettingsAnswer) =>
  z.custom<AuthValues>().superRefine((values, context) => {
    const { error } = authSettingsChangeSchema.safeParse(toAuthChange(values, stored))
    for (const { path, message } of error?.issues ?? [])
      context.addIssue({
        code: 'custom',
        path,
        message: message.startsWith('err.') ? message : 'err.invalidField',
      })
  })

/** The tabs of the section, and which field stands on which; null: above them. */
export const authTabs = ['saml', 'oidc', 'ldap'] as const
export type AuthTab = (typeof authTabs)[number]
export function tabOf(field: string): AuthTab | null {
  if (field === 'PublicURL') return null
  if (field.startsWith('LDAP')) return 'ldap'
  return field.includes('OIDC') || field.endsWith('ClientSecret') ? 'oidc' : 'saml'
}

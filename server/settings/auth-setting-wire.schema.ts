import { z } from 'zod'
import type { AuthSettingName, StoredAuthSettings } from './auth-setting.schema.ts'

/** What stands in the place of a recorded secret. Specification README "Secrets in answers and updates". */
export const recorded = 'RECORDED'

const text = (max: number) => z.string().trim().max(max).optional()
const web = text(2048).refine((value) => isOf(value, ['http:', 'https:']), 'err.urlScheme')
const directory = text(2048).refine(
  (value) => isOf(value, ['ldap:', 'ldaps:', 'ldapi:']),
  'err.ldapUrlScheme',
)
/** Absent, '' or RECORDED: stays. Null: is removed. */
const secret = z.string().max(1024).nullish()
/** A PEM file; absent or '': stays. */
const file = z.string().max(65_536).optional()

/**
 * POST /api/admin/settings/authentication: absent fields stay, '' removes a setting; secrets and files that are
 * uploaded have their own rules. Console §3, §5, specification README "Settings names".
 */
export const authSettingsChangeSchema = z.strictObject({
  PublicURL: web,
  SAMLMetadataURL: web,
  SAMLMetadataFile: text(512 * 1024),
  SAMLKeyFile: file,
  SAMLCertFile: file,
  RemoveSAMLKeyFile: z.boolean().optional(),
  RemoveSAMLCertFile: z.boolean().optional(),
  AdminSAMLMetadataURL: web,
  AdminSAMLMetadataFile: text(512 * 1024),
  AdminSAMLKeyFile: file,
  AdminSAMLCertFile: file,
  AdminRemoveSAMLKeyFile: z.boolean().optional(),
  AdminRemoveSAMLCertFile: z.boolean().optional(),
  OIDCIssuer: web,
  OIDCClientID: text(1024),
  OIDCClientSecret: secret,
  AdminOIDCIssuer: web,
  AdminOIDCClientID: text(1024),
  AdminOIDCClientSecret: secret,
  LDAPURL: directory,
  LDAPStartTLS: z.boolean().optional(),
  LDAPSkipVerifyTLS: z.boolean().optional(),
  LDAPBindDN: text(1024),
  LDAPBindPassword: secret,
  LDAPSearchBase: text(1024),
  LDAPUserFilter: text(4096),
  LDAPGroupFilter: text(4096),
})
export type AuthSettingsChange = z.output<typeof authSettingsChangeSchema>

/** Fields that are never answered as they are. */
type Hidden = 'SAMLKeyFile' | 'SAMLCertFile' | 'AdminSAMLKeyFile' | 'AdminSAMLCertFile'

/** GET /api/admin/settings/authentication; secrets read RECORDED or ''. */
export type AuthSettingsAnswer = Omit<StoredAuthSettings, Hidden> & {
  SAMLKeyFileSet: boolean
  SAMLCertFileSet: boolean
  AdminSAMLKeyFileSet: boolean
  AdminSAMLCertFileSet: boolean
}

/** Names of fields that answer RECORDED in place of what is stored. */
export const recordedSettings = [
  'OIDCClientSecret',
  'AdminOIDCClientSecret',
  'LDAPBindPassword',
] as const satisfies readonly AuthSettingName[]

/** POST /api/admin/settings/generateUserSamlKeyCert and …AdminSamlKeyCert; the body may be left out. */
export const keyPairRequestSchema = z.strictObject({ Confirm: z.boolean().default(false) })

/** What they answer: the new certificate as PEM. */
export type GeneratedKeyPair = { Certificate: string }

function isOf(value: string | undefined, schemes: readonly string[]): boolean {
  if (value === undefined || value === '') return true
  return URL.canParse(value) && schemes.includes(new URL(value).protocol)
}

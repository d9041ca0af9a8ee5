import { z } from 'zod'

/**
 * What is stored of Settings → Authentication, one row of `settings` a field. Console §3 "Auth settings",
 * specification README "Settings names". Secrets are sealed for their row; certificates are not secret.
 */
export const authSettingsSchema = z.object({
  /** Where browsers reach the portal, for the addresses that identity providers are told; '' = the environment's. */
  PublicURL: text(),
  SAMLMetadataURL: text(),
  SAMLMetadataFile: text(),
  SAMLKeyFile: text(),
  SAMLCertFile: text(),
  AdminSAMLMetadataURL: text(),
  AdminSAMLMetadataFile: text(),
  AdminSAMLKeyFile: text(),
  AdminSAMLCertFile: text(),
  OIDCIssuer: text(),
  OIDCClientID: text(),
  OIDCClientSecret: text(),
  AdminOIDCIssuer: text(),
  AdminOIDCClientID: text(),
  AdminOIDCClientSecret: text(),
  LDAPURL: text(),
  LDAPStartTLS: z.boolean().catch(false),
  LDAPSkipVerifyTLS: z.boolean().catch(false),
  LDAPBindDN: text(),
  LDAPBindPassword: text(),
  LDAPSearchBase: text(),
  LDAPUserFilter: text(),
  LDAPGroupFilter: text(),
})
export type StoredAuthSettings = z.output<typeof authSettingsSchema>
export type AuthSettingName = keyof StoredAuthSettings

/** Settings whose value is sealed under the master key, for the place `settings.value` of their name. */
export const sealedSettings = [
  'SAMLKeyFile',
  'AdminSAMLKeyFile',
  'OIDCClientSecret',
  'AdminOIDCClientSecret',
  'LDAPBindPassword',
] as const satisfies readonly AuthSettingName[]

function text() {
  return z.string().catch('')
}

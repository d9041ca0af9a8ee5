import { describe, expect, it } from 'vitest'
import {
  type AuthSettingsAnswer,
  authSettingsChangeSchema,
} from '#server/settings/auth-setting-wire.schema.ts'
import { type AuthValues, authFormSchema, tabOf, toAuthChange, toAuthValues } from './auth-form.ts'

const stored: AuthSettingsAnswer = {
  PublicURL: 'https://knoc.example.org',
  SAMLMetadataURL: 'https://idp.example.org/metadata',
  SAMLMetadataFile: '',
  SAMLKeyFileSet: true,
  SAMLCertFileSet: true,
  AdminSAMLMetadataURL: '',
  AdminSAMLMetadataFile: '<EntityDescriptor/>',
  AdminSAMLKeyFileSet: false,
  AdminSAMLCertFileSet: false,
  OIDCIssuer: 'https://op.example.org',
  OIDCClientID: 'knoc',
  OIDCClientSecret: 'RECORDED',
  AdminOIDCIssuer: '',
  AdminOIDCClientID: '',
  AdminOIDCClientSecret: '',
  LDAPURL: 'ldaps://ldap.example.org',
  LDAPStartTLS: false,
  LDAPSkipVerifyTLS: false,
  LDAPBindDN: 'cn=knoc,dc=example,dc=org',
  LDAPBindPassword: 'RECORDED',
  LDAPSearchBase: 'dc=example,dc=org',
  LDAPUserFilter: '(uid={username})',
  LDAPGroupFilter: '',
}
const typed = (values: Partial<AuthValues>): AuthValues => ({ ...toAuthValues(stored), ...values })
const change = (values: Partial<AuthValues>) => {
  const body = toAuthChange(typed(values), stored)
  expect(authSettingsChangeSchema.safeParse(body).error).toBeUndefined()
  return body
}
const faults = (values: Partial<AuthValues>) =>
  (authFormSchema(stored).safeParse(typed(values)).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')} ${message}`,
  )

describe('the form of Settings → Authentication', () => {
  it('never shows a secret, and sends nothing that stays as it is', () => {
    expect(JSON.stringify(toAuthValues(stored))).not.toContain('RECORDED')
    expect(change({})).toEqual({})
  })

  it('sends what was typed, secrets included', () => {
    expect(change({ LDAPStartTLS: true, LDAPGroupFilter: '(member={dn})', LDAPBindPassword: 'x' })).toEqual({
      LDAPStartTLS: true,
      LDAPGroupFilter: '(member={dn})',
      LDAPBindPassword: 'x',
    })
    expect(change({ LDAPURL: '', OIDCClientSecret: 'new' })).toEqual({
      LDAPURL: '',
      OIDCClientSecret: 'new',
    })
  })

  it('takes metadata from one place', () => {
    expect(change({ SAMLSource: 'file', SAMLMetadataFile: '<x/>' })).toEqual({
      SAMLMetadataURL: '',
      SAMLMetadataFile: '<x/>',
    })
    expect(change({ AdminSAMLSource: 'url', AdminSAMLMetadataURL: 'https://a.example' })).toEqual({
      AdminSAMLMetadataURL: 'https://a.example',
      AdminSAMLMetadataFile: '',
    })
  })

  it('uploads a key pair, or removes it, realm by realm', () => {
    expect(change({ AdminSAMLKeyFile: 'KEY', AdminSAMLCertFile: 'CERT' })).toEqual({
      AdminSAMLKeyFile: 'KEY',
      AdminSAMLCertFile: 'CERT',
    })
    expect(change({ RemoveKeyPair: true, SAMLKeyFile: 'typed before' })).toEqual({
      RemoveSAMLKeyFile: true,
      RemoveSAMLCertFile: true,
    })
    expect(change({ AdminRemoveKeyPair: true })).toEqual({
      AdminRemoveSAMLKeyFile: true,
      AdminRemoveSAMLCertFile: true,
    })
  })

  it('removes a client secret only when that is said', () => {
    expect(change({ RemoveClientSecret: true, OIDCClientSecret: 'x' })).toEqual({ OIDCClientSecret: null })
  })

  it('refuses addresses of other schemes, each at its field', () => {
    expect(faults({ SAMLMetadataURL: 'ftp://x' })).toEqual(['SAMLMetadataURL err.urlScheme'])
    expect(faults({ PublicURL: 'knoc.example.org' })).toEqual(['PublicURL err.urlScheme'])
    expect(faults({ LDAPURL: 'cldap://x' })).toEqual(['LDAPURL err.ldapUrlScheme'])
    expect(faults({ LDAPURL: 'http://x' })).toEqual(['LDAPURL err.ldapUrlScheme'])
    for (const LDAPURL of ['ldap://x', 'ldaps://x:636', 'ldapi://%2Frun%2Fslapd', ''])
      expect(faults({ LDAPURL })).toEqual([])
    expect(faults({ OIDCClientID: 'x'.repeat(2_000) })).toEqual(['OIDCClientID err.invalidField'])
  })

  it('knows on which tab a field stands', () => {
    expect(tabOf('PublicURL')).toBeNull()
    expect(tabOf('AdminSAMLKeyFile')).toBe('saml')
    expect(tabOf('RemoveKeyPair')).toBe('saml')
    expect(tabOf('AdminOIDCClientSecret')).toBe('oidc')
    expect(tabOf('LDAPBindPassword')).toBe('ldap')
  })
})

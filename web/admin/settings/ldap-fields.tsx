import { Controller, type UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Banner } from '../../components/banner.tsx'
import { Switch } from '../../components/switch.tsx'
import { PasswordField, TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import type { AuthValues } from './auth-form.ts'

type Props = {
  form: UseFormReturn<AuthValues>
  /** Whether the service account's password is recorded. */
  hasPassword: boolean
}

/** The directory: its address, how it is reached, who searches in it, and what for. Console §3, README "Settings names". */
export function LdapFields({ form, hasPassword }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const messageOf = (name: keyof AuthValues) => errors.ofField(form.formState.errors[name]?.message)
  const [url, isStartTls, isUnverified] = form.watch(['LDAPURL', 'LDAPStartTLS', 'LDAPSkipVerifyTLS'])
  const isPlain = /^ldap:/i.test(url.trim()) && !isStartTls
  const text = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const
  return (
    <div className="grid gap-5 lg:grid-cols-2">
      <TextField
        {...text}
        label={t('admin.auth.ldapUrl')}
        description={t('admin.auth.ldapUrlText')}
        placeholder="ldaps://ldap.example.org"
        error={messageOf('LDAPURL')}
        {...form.register('LDAPURL')}
        className="lg:col-span-2"
      />
      <div className="flex flex-col gap-4 lg:col-span-2">
        {(['LDAPStartTLS', 'LDAPSkipVerifyTLS'] as const).map((name) => (
          <Controller
            key={name}
            control={form.control}
            name={name}
            render={({ field }) => (
              <Switch
                label={t(`admin.auth.${name}`)}
                description={t(`admin.auth.${name}.text`)}
                checked={field.value}
                onChange={field.onChange}
              />
            )}
          />
        ))}
        {isPlain ? <Banner tone="warn" title={t('admin.auth.ldapPlain')} /> : null}
        {isUnverified ? <Banner tone="warn" title={t('admin.auth.ldapUnverified')} /> : null}
      </div>
      <TextField
        {...text}
        label={t('admin.auth.bindDn')}
        optional
        description={t('admin.auth.bindDnText')}
        placeholder="cn=knoc,dc=example,dc=org"
        error={messageOf('LDAPBindDN')}
        {...form.register('LDAPBindDN')}
      />
      <PasswordField
        label={t('admin.auth.bindPassword')}
        optional
        autoComplete="off"
        placeholder={hasPassword ? t('field.recorded') : undefined}
        error={messageOf('LDAPBindPassword')}
        {...form.register('LDAPBindPassword')}
      />
      <TextField
        {...text}
        label={t('admin.auth.searchBase')}
        optional
        description={t('admin.auth.searchBaseText')}
        placeholder="ou=people,dc=example,dc=org"
        error={messageOf('LDAPSearchBase')}
        {...form.register('LDAPSearchBase')}
        className="lg:col-span-2"
      />
      <TextField
        {...text}
        label={t('admin.auth.userFilter')}
        optional
        description={t('admin.auth.userFilterText', placeholders)}
        placeholder="(uid={username})"
        error={messageOf('LDAPUserFilter')}
        {...form.register('LDAPUserFilter')}
      />
      <TextField
        {...text}
        label={t('admin.auth.groupFilter')}
        optional
        description={t('admin.auth.groupFilterText', placeholders)}
        placeholder="(&(objectClass=groupOfNames)(member={dn}))"
        error={messageOf('LDAPGroupFilter')}
        {...form.register('LDAPGroupFilter')}
      />
    </div>
  )
}

/** What a filter stands for, as it is written there; braces mean something else in our own texts. */
const placeholders = { username: '{username}', dn: '{dn}' }

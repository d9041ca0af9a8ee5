import type { UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Checkbox } from '../../components/checkbox.tsx'
import { PasswordField, TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import type { AuthValues, RealmPrefix } from './auth-form.ts'
import { CopyRows } from './copy-rows.tsx'
import { RealmCard } from './realm-card.tsx'

type Props = {
  form: UseFormReturn<AuthValues>
  prefix: RealmPrefix
  /** Origin of the addresses that the provider is told. */
  origin: string
  /** Whether a client secret is recorded. */
  hasSecret: boolean
}

/** OpenID Connect of one realm, and the addresses to tell the provider. Specification README "Settings names". */
export function OidcFields({ form, prefix, origin, hasSecret }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const messageOf = (name: keyof AuthValues) => errors.ofField(form.formState.errors[name]?.message)
  const [issuer, clientId, secret, remove] = [
    `${prefix}OIDCIssuer`,
    `${prefix}OIDCClientID`,
    `${prefix}OIDCClientSecret`,
    `${prefix}RemoveClientSecret`,
  ] as const
  const base = `${origin}/api${prefix === '' ? '' : '/admin'}/oidc`
  return (
    <RealmCard prefix={prefix}>
      <TextField
        label={t('admin.auth.issuer')}
        description={t('admin.auth.issuerText')}
        type="url"
        autoComplete="off"
        placeholder="https://login.example.org"
        error={messageOf(issuer)}
        {...form.register(issuer)}
      />
      <TextField
        label={t('admin.auth.clientId')}
        autoComplete="off"
        spellCheck={false}
        error={messageOf(clientId)}
        {...form.register(clientId)}
      />
      <PasswordField
        label={t('admin.auth.clientSecret')}
        optional
        autoComplete="off"
        placeholder={hasSecret ? t('field.recorded') : undefined}
        disabled={form.watch(remove)}
        error={messageOf(secret)}
        {...form.register(secret)}
      />
      {hasSecret ? <Checkbox label={t('admin.auth.removeSecret')} {...form.register(remove)} /> : null}
      <CopyRows
        title={t('admin.auth.tellProvider')}
        rows={[
          { label: t('admin.auth.callback'), text: `${base}/callback` },
          { label: t('admin.auth.backchannel'), text: `${base}/backchannel` },
        ]}
      />
    </RealmCard>
  )
}

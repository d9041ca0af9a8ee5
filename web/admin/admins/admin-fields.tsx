import { zodResolver } from '@hookform/resolvers/zod'
import { Controller, useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { type AdminRow, adminAuthTypes } from '#server/admins/admin.schema.ts'
import { accountKinds } from '#server/users/account.schema.ts'
import { Select } from '../../components/select.tsx'
import { Switch } from '../../components/switch.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { useDirtyForm } from '../../shell/dirty-forms.ts'
import { ChangedMeanwhile } from '../components/changed-meanwhile.tsx'
import { PasswordPair } from '../people/password-pair.tsx'
import { SecondFactorSwitch } from '../people/second-factor-switch.tsx'
import { useFollowedUserName } from '../people/use-followed-user-name.ts'
import { useRefusal } from '../people/use-refusal.ts'
import { type AdminForm, type AdminValues, adminFormSchema, toAdminValues } from './admin-form.ts'
import { useIsOwn } from './is-own.ts'

type Props = {
  formId: string
  admin: AdminRow | undefined
  onSave: (form: AdminForm, onError: (error: unknown) => void) => void
  onReload: () => void
}

/** Where the admin form shows what the server refuses. */
const places = {
  fields: ['Name', 'UserName', 'AuthType', 'DN', 'ConfirmPassword'],
  renamed: { PlainPassword: 'Password' },
  codes: {
    'err.userNameTaken': 'UserName',
    'err.passwordLeaked': 'Password',
    'err.passwordLength': 'Password',
    'err.distinguishedNameRequired': 'DN',
  },
} as const

/** The fields of an administrator, much as a user's; nobody disables the own second factor. Console §5 "Admin". */
export function AdminFields({ formId, admin, onSave, onReload }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const isOwn = useIsOwn()
  const form = useForm<AdminValues, unknown, AdminForm>({
    resolver: zodResolver(adminFormSchema(admin)),
    defaultValues: toAdminValues(admin),
  })
  const { errors: faults, isDirty } = form.formState
  useDirtyForm(isDirty)
  const { refuse, isOutdated } = useRefusal(form, places)
  const isNew = admin === undefined
  const followed = useFollowedUserName(form, isNew)
  const authType = form.watch('AuthType')
  const kind = accountKinds[authType]
  const submit = form.handleSubmit((values) => onSave(values, refuse))
  return (
    <form
      id={formId}
      noValidate
      onSubmit={(event) => void submit(event)}
      className="grid gap-4 pb-2 sm:grid-cols-2"
    >
      {isOutdated ? (
        <div className="sm:col-span-2">
          <ChangedMeanwhile onReload={onReload} />
        </div>
      ) : null}
      <TextField
        label={t('admin.users.name')}
        autoComplete="off"
        autoFocus
        error={errors.ofField(faults.Name?.message)}
        {...form.register('Name')}
        className="sm:col-span-2"
      />
      <TextField
        label={t('admin.users.userName')}
        description={isNew ? t('admin.users.userNameText') : t('admin.users.userNameFixed')}
        disabled={!isNew}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={errors.ofField(faults.UserName?.message)}
        {...form.register('UserName', followed)}
      />
      <Controller
        control={form.control}
        name="AuthType"
        render={({ field }) => (
          <Select
            label={t('admin.users.authType')}
            value={field.value}
            onChange={field.onChange}
            disabled={!isNew}
            error={errors.ofField(faults.AuthType?.message)}
            options={adminAuthTypes.map((value) => ({ value, label: t(`admin.authType.${value}`) }))}
          />
        )}
      />
      {kind.hasPassword ? <PasswordPair form={form} isKept={!isNew} /> : null}
      {kind.hasDistinguishedName ? (
        <TextField
          label={t('admin.people.dn')}
          description={t('admin.people.dnText')}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          error={errors.ofField(faults.DN?.message)}
          {...form.register('DN')}
          className="sm:col-span-2"
        />
      ) : null}
      <div className="flex flex-col gap-4 sm:col-span-2">
        <Controller
          control={form.control}
          name="TOTPEnabled"
          render={({ field }) => (
            <SecondFactorSwitch
              authType={authType}
              checked={field.value}
              onChange={field.onChange}
              lockedText={admin && isOwn(admin) && admin.TOTPEnabled ? t('admin.totp.own') : undefined}
            />
          )}
        />
        <Controller
          control={form.control}
          name="LoginEnabled"
          render={({ field }) => (
            <Switch
              label={t('admin.users.loginEnabled')}
              description={t('admin.admins.loginEnabledText')}
              checked={field.value}
              onChange={field.onChange}
            />
          )}
        />
      </div>
    </form>
  )
}

import { zodResolver } from '@hookform/resolvers/zod'
import { Controller, useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { accountKinds } from '#server/users/account.schema.ts'
import { creatableAuthTypes, type UserRow } from '#server/users/user.schema.ts'
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
import { toUserValues, type UserForm, type UserValues, userFormSchema } from './user-form.ts'
import { UserKeyFields } from './user-key-fields.tsx'

type Props = {
  formId: string
  user: UserRow | undefined
  sessionLimit: number | null
  onSave: (form: UserForm, onError: (error: unknown) => void) => void
  onReload: () => void
}

/** Where the user form shows what the server refuses. */
const places = {
  fields: ['Name', 'Company', 'UserName', 'Duration', 'SessionLimit', 'ValidUntil', 'AuthType'],
  renamed: {
    PlainPassword: 'Password',
    ThirdPartyAuth: 'DN',
    'ApiKey.Name': 'KeyName',
    'ApiKey.AllowedFrom': 'AllowedFrom',
    'ApiKey.ExpiredAfter': 'KeyExpiry',
  },
  codes: {
    'err.userNameTaken': 'UserName',
    'err.passwordLeaked': 'Password',
    'err.passwordLength': 'Password',
    'err.distinguishedNameRequired': 'DN',
    'err.apiKeyNameTaken': 'KeyName',
  },
} as const

/** The fields of a user: which of them depends on how the user signs in. Console §5 "User form". */
export function UserFields({ formId, user, sessionLimit, onSave, onReload }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const rules = { user, sessionLimit }
  const form = useForm<UserValues, unknown, UserForm>({
    resolver: zodResolver(userFormSchema(rules)),
    defaultValues: toUserValues(rules),
  })
  const { errors: faults, isDirty } = form.formState
  useDirtyForm(isDirty)
  const { refuse, isOutdated } = useRefusal(form, places)
  const isNew = user === undefined
  const followed = useFollowedUserName(form, isNew)
  const authType = form.watch('AuthType')
  const kind = accountKinds[authType]
  const submit = form.handleSubmit((values) => onSave(values, refuse))
  return (
    <form
      id={formId}
      noValidate
      onSubmit={(event) => {
        // The dialog may stand inside another form of the page: React passes the event on to it.
        event.stopPropagation()
        void submit(event)
      }}
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
      />
      <TextField
        label={t('admin.users.company')}
        optional
        autoComplete="off"
        error={errors.ofField(faults.Company?.message)}
        {...form.register('Company')}
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
            options={(isNew ? creatableAuthTypes : [field.value]).map((value) => ({
              value,
              label: t(`admin.authType.${value}`),
            }))}
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
      {authType === 'apikey' && isNew ? <UserKeyFields form={form} /> : null}
      <TextField
        label={t('admin.users.duration')}
        description={t('admin.users.durationText')}
        inputMode="numeric"
        error={errors.ofField(faults.Duration?.message)}
        {...form.register('Duration')}
      />
      <TextField
        label={t('admin.users.sessionLimit')}
        optional
        description={
          sessionLimit === null
            ? t('admin.users.sessionLimitFree')
            : t('admin.users.sessionLimitText', { count: sessionLimit })
        }
        inputMode="numeric"
        error={errors.ofField(faults.SessionLimit?.message)}
        {...form.register('SessionLimit')}
      />
      <TextField
        type="date"
        label={t('admin.users.validUntil')}
        optional
        description={t('admin.users.validUntilText')}
        error={errors.ofField(faults.ValidUntil?.message)}
        {...form.register('ValidUntil')}
      />
      <div className="flex flex-col gap-4 sm:col-span-2">
        <Controller
          control={form.control}
          name="TOTPEnabled"
          render={({ field }) => (
            <SecondFactorSwitch authType={authType} checked={field.value} onChange={field.onChange} />
          )}
        />
        <Controller
          control={form.control}
          name="LoginEnabled"
          render={({ field }) => (
            <Switch
              label={t('admin.users.loginEnabled')}
              description={t('admin.users.loginEnabledText')}
              checked={field.value}
              onChange={field.onChange}
            />
          )}
        />
      </div>
    </form>
  )
}

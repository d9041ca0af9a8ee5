import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { creatableAuthTypes, type UserRow } from '#server/users/user.schema.ts'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { useDirtyForm } from '../../shell/dirty-forms.ts'
import { EditForm } from '../components/edit-form.tsx'
import { NameField, SignInFields, SignInSwitches } from '../people/account-fields.tsx'
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
  return (
    <EditForm
      formId={formId}
      onSubmit={form.handleSubmit((values) => onSave(values, refuse))}
      isOutdated={isOutdated}
      onReload={onReload}
    >
      <NameField form={form} />
      <TextField
        label={t('admin.users.company')}
        optional
        autoComplete="off"
        error={errors.ofField(faults.Company?.message)}
        {...form.register('Company')}
      />
      <SignInFields
        form={form}
        isNew={isNew}
        authTypes={isNew ? creatableAuthTypes : [form.getValues('AuthType')]}
      />
      {form.watch('AuthType') === 'apikey' && isNew ? <UserKeyFields form={form} /> : null}
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
      <SignInSwitches form={form} loginText={t('admin.users.loginEnabledText')} />
    </EditForm>
  )
}

import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { type AdminRow, adminAuthTypes } from '#server/admins/admin.schema.ts'
import { useDirtyForm } from '../../shell/dirty-forms.ts'
import { EditForm } from '../components/edit-form.tsx'
import { NameField, SignInFields, SignInSwitches } from '../people/account-fields.tsx'
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
  const isOwn = useIsOwn()
  const form = useForm<AdminValues, unknown, AdminForm>({
    resolver: zodResolver(adminFormSchema(admin)),
    defaultValues: toAdminValues(admin),
  })
  useDirtyForm(form.formState.isDirty)
  const { refuse, isOutdated } = useRefusal(form, places)
  const isNew = admin === undefined
  return (
    <EditForm
      formId={formId}
      onSubmit={form.handleSubmit((values) => onSave(values, refuse))}
      isOutdated={isOutdated}
      onReload={onReload}
    >
      <NameField form={form} className="sm:col-span-2" />
      <SignInFields form={form} isNew={isNew} authTypes={adminAuthTypes} />
      <SignInSwitches
        form={form}
        loginText={t('admin.admins.loginEnabledText')}
        secondFactorLockedText={admin && isOwn(admin) && admin.TOTPEnabled ? t('admin.totp.own') : undefined}
      />
    </EditForm>
  )
}

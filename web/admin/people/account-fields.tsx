import { Controller, type FieldValues, type Path, type UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { type AuthType, accountKinds } from '#server/users/account.schema.ts'
import { Select } from '../../components/select.tsx'
import { Switch } from '../../components/switch.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { PasswordPair } from './password-pair.tsx'
import { SecondFactorSwitch } from './second-factor-switch.tsx'
import { useFollowedUserName } from './use-followed-user-name.ts'

/** What the forms of users and admins hold alike. */
type Account = {
  Name: string
  UserName: string
  AuthType: AuthType
  DN: string
  Password: string
  ConfirmPassword: string
  TOTPEnabled: boolean
  LoginEnabled: boolean
}

type Props<Values extends FieldValues & Account> = { form: UseFormReturn<Values>; isNew: boolean }

/** Who somebody is in words. Console §5. */
export function NameField<Values extends FieldValues & Account>({
  form,
  className,
}: Pick<Props<Values>, 'form'> & { className?: string }) {
  const { t } = useTranslation()
  return (
    <TextField
      label={t('admin.users.name')}
      autoComplete="off"
      autoFocus
      error={useFault(form, 'Name')}
      {...form.register('Name' as Path<Values>)}
      className={className}
    />
  )
}

/** How somebody signs in: the name for it, which of the ways, and what that way needs to know. */
export function SignInFields<Values extends FieldValues & Account>({
  form,
  isNew,
  authTypes,
}: Props<Values> & { authTypes: readonly AuthType[] }) {
  const { t } = useTranslation()
  const followed = useFollowedUserName(form, isNew)
  const kind = accountKinds[form.watch('AuthType' as Path<Values>) as AuthType]
  const faults = {
    UserName: useFault(form, 'UserName'),
    AuthType: useFault(form, 'AuthType'),
    DN: useFault(form, 'DN'),
  }
  return (
    <>
      <TextField
        label={t('admin.users.userName')}
        description={isNew ? t('admin.users.userNameText') : t('admin.users.userNameFixed')}
        disabled={!isNew}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={faults.UserName}
        {...form.register('UserName' as Path<Values>, followed)}
      />
      <Controller
        control={form.control}
        name={'AuthType' as Path<Values>}
        render={({ field }) => (
          <Select
            label={t('admin.users.authType')}
            value={field.value}
            onChange={field.onChange}
            disabled={!isNew}
            error={faults.AuthType}
            options={authTypes.map((value) => ({ value, label: t(`admin.authType.${value}`) }))}
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
          error={faults.DN}
          {...form.register('DN' as Path<Values>)}
          className="sm:col-span-2"
        />
      ) : null}
    </>
  )
}

/** Whether a second factor is asked for, and whether signing in is allowed at all. */
export function SignInSwitches<Values extends FieldValues & Account>({
  form,
  loginText,
  secondFactorLockedText,
}: Pick<Props<Values>, 'form'> & {
  /** What switching the login off does. */
  loginText: string
  /** Why the second factor can't be switched. */
  secondFactorLockedText?: string | undefined
}) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-4 sm:col-span-2">
      <Controller
        control={form.control}
        name={'TOTPEnabled' as Path<Values>}
        render={({ field }) => (
          <SecondFactorSwitch
            authType={form.watch('AuthType' as Path<Values>) as AuthType}
            checked={field.value}
            onChange={field.onChange}
            lockedText={secondFactorLockedText}
          />
        )}
      />
      <Controller
        control={form.control}
        name={'LoginEnabled' as Path<Values>}
        render={({ field }) => (
          <Switch
            label={t('admin.users.loginEnabled')}
            description={loginText}
            checked={field.value}
            onChange={field.onChange}
          />
        )}
      />
    </div>
  )
}

function useFault<Values extends FieldValues & Account>(
  form: UseFormReturn<Values>,
  name: keyof Account,
): string | undefined {
  const errors = useErrorText()
  const message = form.formState.errors[name]?.message
  return errors.ofField(typeof message === 'string' ? message : undefined)
}

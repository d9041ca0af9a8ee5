import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { PasswordField } from '../../components/text-field.tsx'
import { PasswordStrengthMeter } from '../../forms/password-strength-meter.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'

type Passwords = { Name: string; UserName: string; Password: string; ConfirmPassword: string }

type Props<Values extends FieldValues & Passwords> = {
  form: UseFormReturn<Values>
  /** An account that has a password already keeps it when the fields stay empty. */
  isKept: boolean
}

/** A new password with its strength, and once more. Console §5. */
export function PasswordPair<Values extends FieldValues & Passwords>({ form, isKept }: Props<Values>) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const messageOf = (name: keyof Passwords) => {
    const message = form.formState.errors[name]?.message
    return errors.ofField(typeof message === 'string' ? message : undefined)
  }
  const [password, name, userName] = form.watch([
    'Password' as Path<Values>,
    'Name' as Path<Values>,
    'UserName' as Path<Values>,
  ]) as string[]
  return (
    <>
      <div className="flex flex-col gap-2">
        <PasswordField
          label={t('admin.users.password')}
          optional={isKept}
          description={t(isKept ? 'admin.users.passwordKept' : 'password.newText')}
          autoComplete="new-password"
          error={messageOf('Password')}
          {...form.register('Password' as Path<Values>)}
        />
        {password ? (
          <PasswordStrengthMeter
            password={password}
            ownWords={[name, userName].flatMap((text) => text?.split(/[\s.]+/) ?? []).filter(Boolean)}
          />
        ) : null}
      </div>
      <PasswordField
        label={t('admin.users.confirmPassword')}
        optional={isKept}
        autoComplete="new-password"
        error={messageOf('ConfirmPassword')}
        {...form.register('ConfirmPassword' as Path<Values>)}
      />
    </>
  )
}

import type { ReactNode } from 'react'
import { type Resolver, useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { PasswordField, TextField } from '../components/text-field.tsx'
import { useErrorText } from '../i18n/use-error-text.ts'
import { PasskeySignInButton } from '../passkeys/passkey-sign-in-button.tsx'
import { useRetryWait } from '../signin/retry-wait.ts'
import type { SignIn } from './use-sign-in.ts'

/** The rules are loaded with the first try to sign in: the page shows sooner without them. */
const lazyRules: Resolver<{ UserName: string; Password: string }> = async (...form) =>
  (await import('./login-rules.ts')).loginRules(...form)

type Props = SignIn & {
  isKiosk: boolean
  autoFocus?: boolean | undefined
  /** Stands between the fields and the button. */
  children?: ReactNode
}

/** Name and password of an account of ours or of the directory; a passkey instead, but not on a public computer. */
export function LoginForm({ isKiosk, autoFocus, failure, setFailure, signIn, finish, children }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { register, handleSubmit, formState, setFocus, resetField } = useForm({
    resolver: lazyRules,
    defaultValues: { UserName: '', Password: '' },
  })
  const isWaiting = useRetryWait(failure) > 0

  const submit = handleSubmit(async (body) => {
    if (isWaiting || (await signIn({ ...body, KioskMode: isKiosk }))) return
    resetField('Password')
    setFocus('Password')
  })
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-5">
      <TextField
        label={t('login.userName')}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus={autoFocus}
        error={errors.ofField(formState.errors.UserName?.message)}
        {...register('UserName')}
      />
      <PasswordField
        label={t('login.password')}
        autoComplete="current-password"
        error={errors.ofField(formState.errors.Password?.message)}
        {...register('Password')}
      />
      {children}
      <Button
        type="submit"
        variant="primary"
        size="lg"
        wide
        busy={formState.isSubmitting}
        disabled={isWaiting}
      >
        {t('login.submit')}
      </Button>
      {isKiosk ? null : (
        <PasskeySignInButton realm="user" onDone={() => void finish()} onError={setFailure} />
      )}
    </form>
  )
}

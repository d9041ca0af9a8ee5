import { type ReactNode, type SubmitEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { PasswordField, TextField } from '../components/text-field.tsx'
import { useErrorText } from '../i18n/use-error-text.ts'
import { PasskeySignInButton } from '../passkeys/passkey-sign-in-button.tsx'
import { useDirtyForm } from '../shell/dirty-forms.ts'
import { useRetryWait } from '../signin/retry-wait.ts'
import type { LoginFaults, LoginField } from './login-rules.ts'
import type { SignIn } from './use-sign-in.ts'

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
  const userName = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  const [faults, setFaults] = useState<LoginFaults>({})
  const [isBusy, setIsBusy] = useState(false)
  const [isTouched, setIsTouched] = useState(false)
  const isWaiting = useRetryWait(failure) > 0
  useDirtyForm(isTouched)

  const tryIt = async () => {
    const body = { UserName: userName.current?.value ?? '', Password: password.current?.value ?? '' }
    // The rules are loaded with the first try: the page shows sooner without them.
    const found = (await import('./login-rules.ts')).loginFaults(body)
    setFaults(found)
    if (found.UserName !== undefined) return userName.current?.focus()
    if (found.Password !== undefined) return password.current?.focus()
    if (await signIn({ ...body, KioskMode: isKiosk })) return
    if (password.current) password.current.value = ''
    password.current?.focus()
  }
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isBusy || isWaiting) return
    setIsBusy(true)
    void tryIt()
      .catch(setFailure)
      .finally(() => setIsBusy(false))
  }
  const rule = (field: LoginField) => ({
    error: errors.ofField(faults[field]),
    onChange: () => field in faults && setFaults({ ...faults, [field]: undefined }),
  })
  return (
    <form noValidate onSubmit={submit} onInput={() => setIsTouched(true)} className="flex flex-col gap-5">
      <TextField
        ref={userName}
        name="UserName"
        label={t('login.userName')}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus={autoFocus}
        {...rule('UserName')}
      />
      <PasswordField
        ref={password}
        name="Password"
        label={t('login.password')}
        autoComplete="current-password"
        {...rule('Password')}
      />
      {children}
      <Button type="submit" variant="primary" size="lg" wide busy={isBusy} disabled={isWaiting}>
        {t('login.submit')}
      </Button>
      {isKiosk ? null : (
        <PasskeySignInButton realm="user" onDone={() => void finish()} onError={setFailure} />
      )}
    </form>
  )
}

import { useMutation } from '@tanstack/react-query'
import { type ChangeEvent, type SubmitEvent, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isFailure } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { PasswordField } from '../components/text-field.tsx'
import { PasskeySignInButton } from '../passkeys/passkey-sign-in-button.tsx'
import { useDirtyForm } from '../shell/dirty-forms.ts'
import { CodeField } from './code-field.tsx'
import { useRetryWait } from './retry-wait.ts'
import { SignInError } from './sign-in-error.tsx'

export type ExtendBody = { Password: string; Code?: string }

type Props = {
  open: boolean
  onClose: () => void
  /** The account has a second factor: its code is asked for as well. */
  needsCode: boolean
  /** Makes the new session and takes it up; its failure is shown here. */
  onExtend: (body: ExtendBody) => Promise<void>
  /** Takes up the session that a passkey made; undefined for accounts that can't sign in with one alone. */
  onPasskey?: (() => Promise<void>) | undefined
}

/** Signing in again over the page, which stays as it is: the password and the code where there is one, or a passkey. */
export function ExtendDialog({ open, onClose, ...form }: Props) {
  const { t } = useTranslation()
  const formId = useId()
  const [isBusy, setIsBusy] = useState(false)
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="sm"
      title={t('extend.title')}
      description={t('extend.lead')}
      footer={
        <>
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={isBusy}>
            {t('extend.stay')}
          </Button>
        </>
      }
    >
      {/* Passwords don't stay in a closed dialog. */}
      <ExtendForm {...form} id={formId} onDone={onClose} onBusy={setIsBusy} />
    </Dialog>
  )
}

function ExtendForm({
  id,
  needsCode,
  onExtend,
  onPasskey,
  onDone,
  onBusy,
}: Pick<Props, 'needsCode' | 'onExtend' | 'onPasskey'> & {
  id: string
  onDone: () => void
  onBusy: (isBusy: boolean) => void
}) {
  const { t } = useTranslation()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [isTried, setIsTried] = useState(false)
  const [passkeyFailure, setPasskeyFailure] = useState<unknown>(null)
  const passwordField = useRef<HTMLInputElement>(null)
  const codeField = useRef<HTMLInputElement>(null)
  const extend = useMutation({
    mutationFn: onExtend,
    onMutate: () => {
      setPasskeyFailure(null)
      onBusy(true)
    },
    onSettled: () => onBusy(false),
    onSuccess: onDone,
    onError: (error) => {
      const field = isFailure(error, 'err.invalidCode') ? codeField : passwordField
      field.current?.focus()
      field.current?.select()
    },
  })
  const isWaiting = useRetryWait(extend.error) > 0
  useDirtyForm(password !== '')
  const lacks = { password: password === '', code: needsCode && code.trim() === '' }
  const faultOf = (isLacking: boolean) => (isTried && isLacking ? t('error.required') : undefined)

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isWaiting || extend.isPending) return
    setIsTried(true)
    if (lacks.password) passwordField.current?.focus()
    else if (lacks.code) codeField.current?.focus()
    else extend.mutate({ Password: password, ...(needsCode && { Code: code.trim() }) })
  }
  return (
    <form id={id} noValidate onSubmit={submit} className="flex flex-col gap-4 pb-1">
      <SignInError failure={extend.error ?? passkeyFailure} />
      <PasswordField
        ref={passwordField}
        autoFocus
        label={t('login.password')}
        autoComplete="current-password"
        value={password}
        onChange={(event: ChangeEvent<HTMLInputElement>) => setPassword(event.target.value)}
        error={faultOf(lacks.password)}
      />
      {needsCode ? (
        <CodeField
          ref={codeField}
          takesRecoveryCode
          value={code}
          onChange={setCode}
          error={faultOf(lacks.code)}
        />
      ) : null}
      {onPasskey ? (
        <PasskeySignInButton
          realm="user"
          onDone={() => void onPasskey().then(onDone, setPasskeyFailure)}
          onError={(error) => {
            extend.reset()
            setPasskeyFailure(error)
          }}
        />
      ) : null}
    </form>
  )
}

import { useMutation, useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { PasskeyStepButton } from '../passkeys/passkey-step-button.tsx'
import { hasPasskeys } from '../passkeys/use-passkey-act.ts'
import { useDirtyForm } from '../shell/dirty-forms.ts'
import { CodeField } from './code-field.tsx'
import type { Realm } from './realm.ts'
import { useRetryWait } from './retry-wait.ts'
import { fetchMethods, ignoreVerified, isSessionLoss, verifyCode } from './second-step-api.ts'
import { SignInError } from './sign-in-error.tsx'

type Props = {
  realm: Realm
  /** Refuses an empty field before asking the server: the admins' rule, users have none. Portal §2. */
  isCodeRequired?: boolean | undefined
  /** The session is complete, its cookie set; who is signed in is still to be read. Its failure is shown here. */
  onVerified: () => Promise<void>
  /** The half session is over. */
  onExpired: () => void
  /** Back to the login, which logs out. */
  onBack: () => void
}

/** The second step: a code of the app, a recovery code, or a passkey. */
export function VerifyStep({ realm, isCodeRequired = false, onVerified, onExpired, onBack }: Props) {
  const { t } = useTranslation()
  const [code, setCode] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const [passkeyError, setPasskeyError] = useState<unknown>(null)
  const field = useRef<HTMLInputElement>(null)
  const methods = useQuery({
    queryKey: ['secondStep', realm],
    queryFn: ({ signal }) => fetchMethods(realm, { signal }),
    gcTime: 0,
  }).data
  const verify = useMutation({
    mutationFn: async () => {
      await verifyCode(realm, code.trim()).catch(ignoreVerified)
      await onVerified()
    },
    onMutate: () => setPasskeyError(null),
    onError: (error) => {
      if (isSessionLoss(error)) return onExpired()
      field.current?.focus()
      field.current?.select()
    },
  })
  const failPasskey = (error: unknown) => (isSessionLoss(error) ? onExpired() : setPasskeyError(error))
  const failure = passkeyError ?? verify.error
  const isWaiting = useRetryWait(failure) > 0
  useDirtyForm(code !== '')

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isWaiting || verify.isPending) return
    const lacksCode = isCodeRequired && code.trim() === ''
    setIsMissing(lacksCode)
    if (lacksCode) field.current?.focus()
    else verify.mutate()
  }
  // With passkeys alone there is no code to type.
  const takesCode = !methods || methods.Totp || methods.RecoveryCodesLeft > 0 || !methods.Passkey
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-5">
      <SignInError failure={failure} />
      {takesCode ? (
        <>
          <CodeField
            ref={field}
            autoFocus
            takesRecoveryCode
            value={code}
            onChange={setCode}
            error={isMissing ? t('error.required') : undefined}
          />
          <Button type="submit" variant="primary" size="lg" wide busy={verify.isPending} disabled={isWaiting}>
            {t('otp.submit')}
          </Button>
        </>
      ) : hasPasskeys() ? null : (
        <Banner tone="warn" title={t('passkeys.unsupported')} />
      )}
      {methods?.Passkey ? (
        <PasskeyStepButton
          realm={realm}
          onDone={() => void onVerified().catch(failPasskey)}
          onError={failPasskey}
        />
      ) : null}
      <button
        type="button"
        onClick={onBack}
        className="link inline-flex min-h-6 w-fit items-center self-center rounded text-sm"
      >
        {t('otp.back')}
      </button>
    </form>
  )
}

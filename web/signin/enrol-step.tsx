import { useMutation, useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { useDirtyForm } from '../shell/dirty-forms.ts'
import { CodeField } from './code-field.tsx'
import { QrCode } from './qr-code.tsx'
import type { Realm } from './realm.ts'
import { RecoveryCodes } from './recovery-codes.tsx'
import { useRetryWait } from './retry-wait.ts'
import {
  confirmSecret,
  deferEnrolment,
  fetchPendingSecret,
  isAlreadyVerified,
  isSessionLoss,
} from './second-step-api.ts'
import { SignInError } from './sign-in-error.tsx'

type Props = {
  realm: Realm
  /** A second factor exists and the codes are kept, or it existed already: the session has to be read anew. */
  onEnrolled: () => Promise<void>
  /** The half session is over. */
  onExpired: () => void
  /** Back to the login, which logs out; left out where there is no way back. */
  onBack?: (() => void) | undefined
  /** Offers 'Do this next time', for admins who may; called when it is put off. */
  onDeferred?: (() => Promise<void>) | undefined
}

/** Setting up an authenticator app: QR code, secret, first code, then the recovery codes once. Portal §2. */
export function EnrolStep({ realm, onEnrolled, onExpired, onBack, onDeferred }: Props) {
  const { t } = useTranslation()
  const [code, setCode] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const secret = useQuery({
    queryKey: ['pendingSecret', realm],
    queryFn: ({ signal }) => fetchPendingSecret(realm, { signal }),
    // It isn't kept longer than it is shown.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const onError = (error: unknown) => {
    if (isSessionLoss(error)) return onExpired()
    field.current?.focus()
    field.current?.select()
  }
  const confirm = useMutation({ mutationFn: () => confirmSecret(realm, code.trim()), onError })
  const goOn = useMutation({ mutationFn: onEnrolled })
  const defer = useMutation({
    mutationFn: async () => {
      await deferEnrolment()
      await onDeferred?.()
    },
    onError,
  })
  const failure = goOn.error ?? defer.error ?? confirm.error ?? secret.error
  const isWaiting = useRetryWait(failure) > 0
  // Recovery codes are shown once.
  useDirtyForm(code !== '' || confirm.data !== undefined)
  const isOver = isSessionLoss(secret.error)
  useEffect(() => {
    if (isOver) onExpired()
  }, [isOver, onExpired])

  if (confirm.data)
    return (
      <div className="flex flex-col gap-5">
        <SignInError failure={goOn.error} />
        <RecoveryCodes
          codes={confirm.data.RecoveryCodes}
          busy={goOn.isPending}
          onKept={() => goOn.mutate()}
        />
      </div>
    )

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isWaiting || confirm.isPending) return
    const lacksCode = code.trim() === ''
    setIsMissing(lacksCode)
    if (lacksCode) field.current?.focus()
    else confirm.mutate()
  }
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-5">
      <SignInError failure={failure} />
      <p className="text-ink">{t('otp.scan')}</p>
      {isAlreadyVerified(secret.error) ? (
        <Button onClick={() => goOn.mutate()}>{t('otp.goOn')}</Button>
      ) : secret.error ? (
        <Button onClick={() => void secret.refetch()}>{t('kit.retry')}</Button>
      ) : (
        <div className="flex flex-col items-center gap-4">
          {secret.data ? (
            <QrCode
              text={secret.data.URL}
              label={t('otp.qr')}
              className="size-52 max-w-full rounded-2xl border border-line"
            />
          ) : (
            <Skeleton className="size-52 rounded-2xl" />
          )}
          <PendingSecretText secret={secret.data?.Secret} />
        </div>
      )}
      <CodeField
        ref={field}
        value={code}
        onChange={setCode}
        error={isMissing ? t('error.required') : undefined}
      />
      <Button type="submit" variant="primary" size="lg" wide busy={confirm.isPending} disabled={isWaiting}>
        {t('otp.enrol')}
      </Button>
      {onDeferred ? (
        <Button size="lg" wide busy={defer.isPending} onClick={() => defer.mutate()}>
          {t('otp.defer')}
        </Button>
      ) : null}
      {onBack ? (
        <button
          type="button"
          onClick={onBack}
          className="link inline-flex min-h-6 w-fit items-center self-center rounded text-sm"
        >
          {t('otp.back')}
        </button>
      ) : null}
    </form>
  )
}

/** For whoever can't scan: in groups of four, copied without the gaps. */
function PendingSecretText({ secret }: { secret: string | undefined }) {
  const { t } = useTranslation()
  if (secret === undefined) return <Skeleton className="h-12 w-full" />
  return (
    <div className="flex w-full items-center gap-2 rounded-xl bg-sunken px-4 py-2">
      <div className="min-w-0 flex-1">
        <p className="text-xs font-semibold text-muted">{t('otp.secret')}</p>
        <p className="font-mono text-sm wrap-anywhere text-ink">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</p>
      </div>
      <CopyButton compact text={secret} label={t('otp.copySecret')} />
    </div>
  )
}

import { zodResolver } from '@hookform/resolvers/zod'
import { LogIn } from 'lucide-react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { adminLoginSchema } from '#server/auth/auth.schema.ts'
import { Button } from '../../components/button.tsx'
import { PasswordField, TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { PasskeySignInButton } from '../../passkeys/passkey-sign-in-button.tsx'
import { useRetryWait } from '../../signin/retry-wait.ts'
import type { useAdminSignIn } from './use-admin-sign-in.ts'

type Props = {
  attempt: ReturnType<typeof useAdminSignIn>
  failure: unknown
  onPasskeyError: (error: unknown) => void
}

/** Name and password of an account of ours or of the directory, or a passkey instead. */
export function AdminLoginForm({ attempt, failure, onPasskeyError }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const form = useForm({
    resolver: zodResolver(adminLoginSchema),
    defaultValues: { UserName: '', Password: '' },
  })
  const { errors: faults } = form.formState
  const isWaiting = useRetryWait(failure) > 0
  const submit = form.handleSubmit((body) => {
    if (isWaiting || attempt.isPending) return
    onPasskeyError(null)
    attempt.mutate(body, { onError: () => form.setFocus('Password', { shouldSelect: true }) })
  })
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-5">
      <TextField
        label={t('login.userName')}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        error={errors.ofField(faults.UserName?.message)}
        {...form.register('UserName')}
      />
      <PasswordField
        label={t('login.password')}
        autoComplete="current-password"
        error={errors.ofField(faults.Password?.message)}
        {...form.register('Password')}
      />
      <Button
        type="submit"
        variant="primary"
        size="lg"
        wide
        icon={LogIn}
        busy={attempt.isPending}
        disabled={isWaiting}
      >
        {t('login.submit')}
      </Button>
      <PasskeySignInButton realm="admin" onDone={() => attempt.mutate(null)} onError={onPasskeyError} />
    </form>
  )
}

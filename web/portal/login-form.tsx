import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Resolver, useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { useSearch } from 'wouter'
import { ApiFailure } from '../api.ts'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { Checkbox } from '../components/checkbox.tsx'
import { PasswordField, TextField } from '../components/text-field.tsx'
import { isTextKey } from '../i18n/start-i18n.ts'
import { useErrorText } from '../i18n/use-error-text.ts'
import { login } from './portal-api.ts'
import { clearSession, refreshSession } from './user-session.ts'

/** The rules are loaded with the first try to sign in: the page shows sooner without them. */
const lazyRules: Resolver<{ UserName: string; Password: string; KioskMode?: boolean | undefined }> = async (
  ...form
) => (await import('./login-rules.ts')).loginRules(...form)

/** Name, password, public computer; what went wrong stands above. */
export function LoginForm() {
  const { t } = useTranslation()
  const errors = useErrorText()
  const queryClient = useQueryClient()
  const [failure, setFailure] = useState<unknown>(null)
  const { register, handleSubmit, formState, setFocus, resetField } = useForm({
    resolver: lazyRules,
    defaultValues: { UserName: '', Password: '', KioskMode: false },
  })
  const complaint = useComplaint(failure)

  const submit = handleSubmit(async (body) => {
    setFailure(null)
    clearSession(queryClient)
    try {
      await login(body)
      // The guard leads on as soon as the session is known.
      await refreshSession(queryClient)
    } catch (error) {
      if (await leadsToAdminFlow(error)) return window.location.assign('/admin/login')
      setFailure(error)
      resetField('Password')
      setFocus('Password')
    }
  })
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="mt-8 flex flex-col gap-5">
      {complaint ? <Banner tone="danger" title={t('error.labelled', { message: complaint })} /> : null}
      <TextField
        label={t('login.userName')}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        error={errors.ofField(formState.errors.UserName?.message)}
        {...register('UserName')}
      />
      <PasswordField
        label={t('login.password')}
        autoComplete="current-password"
        error={errors.ofField(formState.errors.Password?.message)}
        {...register('Password')}
      />
      <Checkbox label={t('login.kiosk')} description={t('login.kioskText')} {...register('KioskMode')} />
      <Button type="submit" variant="primary" size="lg" wide busy={formState.isSubmitting}>
        {t('login.submit')}
      </Button>
    </form>
  )
}

/** A browser that is signed in as an admin goes on as one. The machine that knows is loaded when it is needed. */
async function leadsToAdminFlow(error: unknown): Promise<boolean> {
  if (!(error instanceof ApiFailure)) return false
  const { signInStateAfter } = await import('./sign-in-flow.ts')
  return signInStateAfter(error.code) === 'adminFlow'
}

/** What the last try said, or before any the code that the address brings; only codes of the catalogue are shown. */
function useComplaint(failure: unknown): string | null {
  const { i18n } = useTranslation()
  const errors = useErrorText()
  const code = new URLSearchParams(useSearch()).get('error') ?? ''
  if (failure !== null) return errors.ofError(failure)
  return code.startsWith('err.') && isTextKey(i18n, code) ? i18n.t(code) : null
}

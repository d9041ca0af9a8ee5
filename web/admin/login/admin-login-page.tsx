import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { LogIn } from 'lucide-react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { useLocation, useSearchParams } from 'wouter'
import { nextSignInStep, stepCodes } from '#machines/sign-in.machine.ts'
import { adminLoginSchema } from '#server/auth/auth.schema.ts'
import { ApiFailure } from '../../api.ts'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { PasswordField, TextField } from '../../components/text-field.tsx'
import { isTextKey } from '../../i18n/start-i18n.ts'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { BrandLogo } from '../../shell/brand-logo.tsx'
import { ColourModeButton } from '../../shell/colour-mode-button.tsx'
import { login } from '../admin-api.ts'
import { queries } from '../admin-queries.ts'

/** The admins' sign-in. Portal §2 "Admin login". */
export function AdminLoginPage() {
  const { t, i18n } = useTranslation()
  const errors = useErrorText()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const [search] = useSearchParams()
  const form = useForm({
    resolver: zodResolver(adminLoginSchema),
    defaultValues: { UserName: '', Password: '' },
  })
  const signIn = useMutation({
    mutationFn: async (body: { UserName: string; Password: string }) => {
      const answer = await login(body)
      const step = nextSignInStep({
        realm: 'admin',
        totpEnabled: answer.TotpEnabled,
        totpConfirmed: answer.AdminTotpVerified,
        hasPasskey: answer.HasPasskey,
        deferable: answer.TotpEnrolmentDeferable,
      })
      if (step !== 'signedIn') throw new ApiFailure({ status: 403, code: stepCodes[step] })
      await client.fetchQuery({ ...queries.status, staleTime: 0 })
    },
    onSuccess: () => navigate('/admin/home', { replace: true }),
    onError: () => form.setFocus('Password', { shouldSelect: true }),
  })
  const submit = form.handleSubmit((body) => signIn.mutate(body))
  const given = search.get('error')
  const message = signIn.error
    ? errors.ofError(signIn.error)
    : given?.startsWith('err.') && isTextKey(i18n, given)
      ? i18n.t(given)
      : undefined
  return (
    <div className="flex flex-1 flex-col">
      <div className="flex justify-end p-3">
        <ColourModeButton />
      </div>
      <main className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center gap-6 px-4 pb-24">
        <div className="flex items-center gap-3">
          <BrandLogo />
          <span className="rounded-md bg-accent-soft px-2 py-1 text-xs font-bold tracking-wide text-on-accent-soft uppercase">
            {t('admin.nav.console')}
          </span>
        </div>
        <Card className="flex flex-col gap-6 sm:p-8">
          <div>
            <h1 className="text-2xl font-bold tracking-tight text-ink">{t('admin.login.title')}</h1>
            <p className="mt-1 text-[0.9375rem] text-muted">{t('admin.login.lead')}</p>
          </div>
          {message ? <Banner tone="danger" title={t('error.labelled', { message })} /> : null}
          <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-5">
            <TextField
              label={t('login.userName')}
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              autoFocus
              error={errors.ofField(form.formState.errors.UserName?.message)}
              {...form.register('UserName')}
            />
            <PasswordField
              label={t('login.password')}
              autoComplete="current-password"
              error={errors.ofField(form.formState.errors.Password?.message)}
              {...form.register('Password')}
            />
            <Button type="submit" variant="primary" size="lg" wide icon={LogIn} busy={signIn.isPending}>
              {t('login.submit')}
            </Button>
          </form>
        </Card>
        <a href="/" className="link inline-flex min-h-6 w-fit items-center self-center text-sm">
          {t('admin.login.portal')}
        </a>
      </main>
    </div>
  )
}

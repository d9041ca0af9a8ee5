import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Skeleton } from '../../components/skeleton.tsx'
import { SignInError } from '../../signin/sign-in-error.tsx'
import { useSsoWays } from '../../signin/sign-in-ways.ts'
import { SsoButtons } from '../../signin/sso-buttons.tsx'
import { useEnterForSso } from '../../signin/use-enter-for-sso.ts'
import { AdminLoginForm } from './admin-login-form.tsx'
import { AdminSignInFrame } from './admin-sign-in-frame.tsx'
import { useAdminSignIn } from './use-admin-sign-in.ts'

/** The admins' sign-in: single sign-on where there is one, local accounts behind a toggle. Portal §2 "Admin login". */
export function AdminLoginPage() {
  const { t } = useTranslation()
  const ways = useSsoWays('admin')
  const [isLocalShown, setIsLocalShown] = useState(false)
  const [passkeyError, setPasskeyError] = useState<unknown>(null)
  const localId = useId()
  const attempt = useAdminSignIn()
  useEnterForSso('admin', ways ?? [])
  const failure = passkeyError ?? attempt.error
  const form = { attempt, failure, onPasskeyError: setPasskeyError }
  return (
    <AdminSignInFrame
      title={t('admin.login.title')}
      lead={t('admin.login.lead')}
      footer={
        <a href="/" className="link inline-flex min-h-6 w-fit items-center self-center text-sm">
          {t('admin.login.portal')}
        </a>
      }
    >
      <SignInError failure={failure} />
      {ways === undefined ? (
        <output aria-label={t('kit.loading')} className="flex flex-col gap-5">
          <Skeleton className="h-12 w-full" />
          <Skeleton className="h-12 w-full" />
        </output>
      ) : null}
      {ways?.length === 0 ? <AdminLoginForm {...form} /> : null}
      {ways && ways.length > 0 ? (
        <>
          <SsoButtons realm="admin" ways={ways} />
          <button
            type="button"
            aria-expanded={isLocalShown}
            aria-controls={isLocalShown ? localId : undefined}
            onClick={() => setIsLocalShown(!isLocalShown)}
            className="link inline-flex min-h-6 w-fit items-center rounded text-sm"
          >
            {t(isLocalShown ? 'signIn.localHide' : 'signIn.localShow')}
          </button>
          {isLocalShown ? (
            <div id={localId} className="border-t border-line pt-5">
              <AdminLoginForm {...form} />
            </div>
          ) : null}
        </>
      ) : null}
    </AdminSignInFrame>
  )
}

import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { LocalAccounts } from '../../signin/local-accounts.tsx'
import { SignInError } from '../../signin/sign-in-error.tsx'
import { useSsoWays } from '../../signin/sign-in-ways.ts'
import { SsoButtons } from '../../signin/sso-buttons.tsx'
import { useEnterForSso } from '../../signin/use-enter-for-sso.ts'
import { WaysLoading } from '../../signin/ways-loading.tsx'
import { AdminLoginForm } from './admin-login-form.tsx'
import { AdminSignInFrame } from './admin-sign-in-frame.tsx'
import { useAdminSignIn } from './use-admin-sign-in.ts'

/** The admins' sign-in: single sign-on where there is one, local accounts behind a toggle. Portal §2 "Admin login". */
export function AdminLoginPage() {
  const { t } = useTranslation()
  const ways = useSsoWays('admin')
  const [passkeyError, setPasskeyError] = useState<unknown>(null)
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
      {ways === undefined ? <WaysLoading /> : null}
      {ways?.length === 0 ? <AdminLoginForm {...form} /> : null}
      {ways && ways.length > 0 ? (
        <>
          <SsoButtons realm="admin" ways={ways} />
          <LocalAccounts>
            <AdminLoginForm {...form} />
          </LocalAccounts>
        </>
      ) : null}
    </AdminSignInFrame>
  )
}

import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Checkbox } from '../components/checkbox.tsx'
import { browserStorage } from '../shell/browser-storage.ts'
import { LocalAccounts } from '../signin/local-accounts.tsx'
import { SignInError } from '../signin/sign-in-error.tsx'
import { useSsoWays } from '../signin/sign-in-ways.ts'
import { SsoButtons } from '../signin/sso-buttons.tsx'
import { useEnterForSso } from '../signin/use-enter-for-sso.ts'
import { WaysLoading } from '../signin/ways-loading.tsx'
import { LoginForm } from './login-form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'
import { SignOutNotice } from './sign-out-notice.tsx'
import { useSignIn } from './use-sign-in.ts'

/** Sign-in of users: single sign-on where there is one, with local accounts behind a toggle. Portal §2 "User login". */
export function LoginPage() {
  const { t } = useTranslation()
  const ways = useSsoWays('user')
  const [isKiosk, setIsKiosk] = useState(false)
  const attempt = useSignIn()
  useEnterForSso('user', ways ?? [], isKiosk)

  const kiosk = (
    <Checkbox
      label={t('login.kiosk')}
      description={t('login.kioskText')}
      checked={isKiosk}
      onChange={({ target }) => {
        setIsKiosk(target.checked)
        browserStorage.setKiosk(target.checked)
      }}
    />
  )
  const form = { isKiosk, ...attempt }
  return (
    <SignInFrame
      title={t('login.title')}
      lead={t('login.lead')}
      footer={
        <a href="/admin/login" className="link inline-flex min-h-6 items-center rounded">
          {t('login.admin')}
        </a>
      }
    >
      <div className="flex flex-col gap-5">
        <SignOutNotice />
        <SignInError failure={attempt.failure} />
        {ways === undefined ? <WaysLoading /> : null}
        {ways?.length === 0 ? <LoginForm {...form}>{kiosk}</LoginForm> : null}
        {ways && ways.length > 0 ? (
          <>
            <SsoButtons realm="user" ways={ways} kioskMode={isKiosk} />
            {kiosk}
            <LocalAccounts>
              <LoginForm {...form} autoFocus />
            </LocalAccounts>
          </>
        ) : null}
      </div>
    </SignInFrame>
  )
}

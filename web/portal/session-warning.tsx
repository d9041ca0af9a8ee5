import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiFailure } from '../api.ts'
import { useToast } from '../components/toast.tsx'
import type { ExtendBody } from '../signin/extend-dialog.tsx'
import { useSessionExpiry } from '../signin/session-expiry.ts'
import { SessionNotice } from '../signin/session-notice.tsx'
import { SignInError } from '../signin/sign-in-error.tsx'
import { onSignInNews } from '../signin/sign-in-news.ts'
import { openSignInPopup } from '../signin/sign-in-popup.ts'
import { type SsoWay, ssoAddress } from '../signin/sign-in-ways.ts'
import { extendSession } from './portal-api.ts'
import { knownSession, settleSession, type UserSession } from './user-session.ts'

const ExtendDialog = lazy(async () => ({
  default: (await import('../signin/extend-dialog.tsx')).ExtendDialog,
}))

/** How an account signs in again; every other AuthType has a password of ours or of the directory. */
const waysOf: Readonly<Record<string, SsoWay>> = { SAML: 'saml', OIDC: 'oidc' }

/** Warns before the session's end, and signs in again without leaving the page. Not on a public computer. */
export function SessionWarning({ session }: { session: UserSession }) {
  const { status } = session
  // A new end begins with a new warning.
  return status.Kiosk ? null : <Warning key={status.Ends} session={session} />
}

function Warning({ session: { status, offsetMs } }: { session: UserSession }) {
  const { t } = useTranslation()
  const endsAt = Date.parse(status.Ends)
  const { leftMs, stage } = useSessionExpiry({ endsAt, offsetMs })
  const [isLater, setIsLater] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const { isAway, failure, goAway } = useSsoAgain(waysOf[status.AuthType])
  const takeUp = useNewSession()
  const extend = async (body: ExtendBody) => {
    await extendSession(body)
    await takeUp()
  }
  // The account's own end can't be moved by signing in again.
  const isAccountEnd = status.ValidUntil !== null && endsAt >= Date.parse(status.ValidUntil)
  return (
    <>
      <SessionNotice
        stage={stage}
        leftMs={leftMs}
        obstacle={isAccountEnd ? t('extend.accountEnds') : undefined}
        isLater={isLater}
        onLater={() => setIsLater(true)}
        onStay={() => (status.AuthType in waysOf ? goAway() : setIsAsking(true))}
      >
        {failure ? <SignInError failure={failure} /> : null}
        {isAway && !failure ? <output className="mt-2 block text-sm">{t('extend.popup')}</output> : null}
      </SessionNotice>
      {isAsking ? (
        <Suspense>
          <ExtendDialog
            open
            onClose={() => setIsAsking(false)}
            needsCode={status.TotpEnabled}
            onExtend={extend}
            // Whom a directory knows proves himself there; a passkey is his second step only.
            onPasskey={status.AuthType === 'local' ? takeUp : undefined}
          />
        </Suspense>
      ) : null}
    </>
  )
}

/** Takes up the session that signing in again made, which the other tabs are told, and says until when it lasts. */
function useNewSession() {
  const { t, i18n } = useTranslation()
  const say = useToast()
  const queryClient = useQueryClient()
  return async () => {
    await settleSession(queryClient)
    const ends = knownSession(queryClient)?.status.Ends
    if (ends === undefined) return
    const time = new Intl.DateTimeFormat(i18n.language, { timeStyle: 'short' }).format(new Date(ends))
    say({ tone: 'ok', text: t('extend.done', { time }) })
  }
}

/** Signs in again at the identity provider, beside the page; a new session is taken up where every tab listens. */
function useSsoAgain(way: SsoWay | undefined) {
  const [isAway, setIsAway] = useState(false)
  const [error, setError] = useState<string | null>(null)
  useEffect(() => onSignInNews('user', (news) => setError(news.kind === 'refused' ? news.error : null)), [])
  const goAway = () => {
    if (way === undefined) return
    setError(null)
    if (openSignInPopup('user', way)) setIsAway(true)
    else window.location.assign(ssoAddress('user', way))
  }
  return { isAway, goAway, failure: error === null ? null : new ApiFailure({ status: 401, code: error }) }
}

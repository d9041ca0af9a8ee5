import { useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useCallback } from 'react'
import { useTranslation } from 'react-i18next'
import type { UserStatus } from '#server/status/status.schema.ts'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { whenIdle } from '../shell/when-idle.ts'
import { EntryClockProvider } from './entry-clock.tsx'
import { HomeBanners } from './home-banners.tsx'
import { HomeHeader } from './home-header.tsx'
import { HomeLoading } from './home-loading.tsx'
import { ReturnNotice } from './return-notice.tsx'
import { SessionPanel } from './session-panel.tsx'
import { signOut } from './sign-out.ts'
import { useHomeSession } from './use-home-session.ts'
import { endSession } from './user-session.ts'

/** Comes after the page: nobody is signed in for so short a time that it is shown at once. */
const SessionWarning = lazy(async () => {
  await new Promise<void>(whenIdle)
  return { default: (await import('./session-warning.tsx')).SessionWarning }
})

/** What both dashboards are made of: the header, the session, what stands in the way, and their own entries. */
export function HomeFrame({
  tellsLicence = false,
  children,
}: {
  /** The children say themselves that there is no licence. */
  tellsLicence?: boolean
  children: (home: { status: UserStatus; onLogout: () => void }) => ReactNode
}) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const home = useHomeSession()

  const onEnded = useCallback(() => endSession(queryClient, 'err.sessionExpired'), [queryClient])
  const onLogout = useCallback(() => void signOut(queryClient), [queryClient])

  if (!home.session)
    return home.failure ? (
      <main className="mx-auto w-full max-w-2xl p-6">
        <Banner
          tone="danger"
          title={t('home.loadFailed')}
          action={
            <Button size="sm" onClick={home.retry}>
              {t('kit.retry')}
            </Button>
          }
        />
      </main>
    ) : (
      <HomeLoading />
    )
  const { status, offsetMs } = home.session
  return (
    <div className="mx-auto flex w-full max-w-[124rem] flex-1 flex-col gap-6 px-4 py-4 sm:px-6 lg:px-8">
      <a
        href="#entries"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:rounded-lg focus:bg-surface focus:p-3 focus:font-semibold"
      >
        {t('shell.skip')}
      </a>
      <HomeHeader status={status} onLogout={onLogout} />
      <div className="grid flex-1 content-start items-start gap-6 lg:grid-cols-[19rem_minmax(0,1fr)] lg:gap-10">
        <SessionPanel session={home.session} onEnded={onEnded} />
        <main id="entries" tabIndex={-1} className="flex min-w-0 flex-col gap-6 pb-10 outline-none">
          <Suspense>
            <SessionWarning session={home.session} />
          </Suspense>
          <HomeBanners
            {...home}
            status={tellsLicence ? { ...status, Licensed: true, UserLicensed: true } : status}
          />
          <ReturnNotice status={status} />
          <EntryClockProvider offsetMs={offsetMs}>{children({ status, onLogout })}</EntryClockProvider>
        </main>
      </div>
    </div>
  )
}

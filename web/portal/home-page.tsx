import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useCallback } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { HomeBanners } from './home-banners.tsx'
import { HomeEntries } from './home-entries.tsx'
import { HomeHeader } from './home-header.tsx'
import { HomeLoading } from './home-loading.tsx'
import { SessionPanel } from './session-panel.tsx'
import { signOut } from './sign-out.ts'
import { useHomeSession } from './use-home-session.ts'
import { endSession } from './user-session.ts'

const SessionWarning = lazy(async () => ({
  default: (await import('./session-warning.tsx')).SessionWarning,
}))

/** The dashboard: the session, and the doors that are the user's. Portal §2 "New dashboard". */
export function HomePage() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const home = useHomeSession()

  const onEnded = useCallback(() => endSession(queryClient, 'err.sessionExpired'), [queryClient])

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
  const { status } = home.session
  return (
    <div className="mx-auto flex w-full max-w-[124rem] flex-1 flex-col gap-6 px-4 py-4 sm:px-6 lg:px-8">
      <a
        href="#entries"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:rounded-lg focus:bg-surface focus:p-3 focus:font-semibold"
      >
        {t('shell.skip')}
      </a>
      <HomeHeader status={status} onLogout={() => void signOut(queryClient)} />
      <div className="grid flex-1 content-start items-start gap-6 lg:grid-cols-[19rem_minmax(0,1fr)] lg:gap-10">
        <SessionPanel session={home.session} onEnded={onEnded} />
        <main id="entries" tabIndex={-1} className="flex min-w-0 flex-col gap-6 pb-10 outline-none">
          <Suspense>
            <SessionWarning session={home.session} />
          </Suspense>
          <HomeBanners {...home} status={status} />
          <HomeEntries session={home.session} />
        </main>
      </div>
    </div>
  )
}

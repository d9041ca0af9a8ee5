import { Suspense, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { PageLoading } from './page-loading.tsx'
import { guardVerdict, type PageRoute, type RouteTable, redirectFor, type SignedIn } from './routes.ts'
import { useBundleWatch } from './use-bundle-watch.ts'

/** Walks the route table: guards, redirects, titles, and the look for a new bundle after each navigation. */
export function Router({ table, signedIn }: { table: RouteTable; signedIn: SignedIn }) {
  const { t } = useTranslation()
  const [location] = useLocation()
  const { isOffered } = useBundleWatch(location)
  return (
    <>
      {isOffered ? (
        <Banner
          tone="accent"
          title={t('shell.newVersion')}
          action={
            <Button size="sm" onClick={() => window.location.reload()}>
              {t('shell.reload')}
            </Button>
          }
          className="m-3"
        >
          {t('shell.newVersionText')}
        </Banner>
      ) : null}
      <Switch>
        {table.routes.map((route) => (
          <Route key={route.path} path={route.path}>
            {'redirect' in route ? (
              <Redirect to={route.redirect} replace />
            ) : (
              <Guarded key={route.name} route={route} table={table} signedIn={signedIn} />
            )}
          </Route>
        ))}
        <Route>
          <Redirect to={table.fallback} replace />
        </Route>
      </Switch>
    </>
  )
}

function Guarded({ route, table, signedIn }: { route: PageRoute; table: RouteTable; signedIn: SignedIn }) {
  const { t } = useTranslation()
  const title = t(route.title)
  useEffect(() => {
    document.title = `${title} · Knoc`
    document.querySelector('link[rel="icon"]')?.setAttribute('href', table.favicon)
  }, [title, table.favicon])

  const verdict = guardVerdict(route.guard, signedIn)
  if (verdict === 'wait') return <PageLoading />
  const elsewhere = redirectFor(verdict, signedIn, table)
  if (elsewhere !== null) return <Redirect to={elsewhere} replace />
  const Page = route.page
  return (
    <ErrorBoundary>
      <Suspense fallback={<PageLoading />}>
        <Page />
      </Suspense>
    </ErrorBoundary>
  )
}

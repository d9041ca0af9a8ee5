import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { I18nextProvider } from 'react-i18next'
import '../theme/app.css'
import { ToastProvider } from '../components/toast.tsx'
import { type Catalogue, type CatalogueLoaders, portalCatalogues } from '../i18n/catalogues.ts'
import { chooseLocale } from '../i18n/locale.ts'
import { startI18n } from '../i18n/start-i18n.ts'
import { takeLocale } from '../i18n/take-locale.ts'
import { followColourMode } from './colour-mode.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { createQueryClient } from './query-client.ts'
import { systemStatusQuery } from './system-status.ts'
import { startTheme, themeQuery } from './theme.ts'

/** The first paint waits so long for what the page doesn't bring: colours, the reader's language. In milliseconds. */
const firstPaintWaitMs = 600

/** Draws a bundle's page: texts, cache, theme, messages. The console brings texts of its own. */
export function startApp(
  app: (queryClient: QueryClient) => ReactNode,
  own?: { texts: Catalogue; catalogues: CatalogueLoaders },
): void {
  const i18n = startI18n(own?.texts)
  const language = takeLocale(i18n, {
    locale: chooseLocale(navigator.languages),
    catalogues: own ? [portalCatalogues, own.catalogues] : [portalCatalogues],
  })
  const queryClient = createQueryClient()
  followColourMode()
  const host = document.getElementById('root')
  if (host === null) throw new Error('the page has no #root')
  void queryClient.prefetchQuery(systemStatusQuery)
  const theme = startTheme(queryClient)
  const isThemed = queryClient.getQueryData(themeQuery.queryKey) !== undefined
  void inTime(Promise.all([language, isThemed ? null : theme])).then(() =>
    createRoot(host).render(
      <StrictMode>
        <I18nextProvider i18n={i18n}>
          <QueryClientProvider client={queryClient}>
            <ToastProvider>
              <ErrorBoundary>{app(queryClient)}</ErrorBoundary>
            </ToastProvider>
          </QueryClientProvider>
        </I18nextProvider>
      </StrictMode>,
    ),
  )
}

/** What comes later is taken when it comes, on the page that stands there by then. */
const inTime = (coming: Promise<unknown>): Promise<unknown> =>
  Promise.race([coming, new Promise((resolve) => setTimeout(resolve, firstPaintWaitMs))])

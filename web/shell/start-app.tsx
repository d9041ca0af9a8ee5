import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { I18nextProvider } from 'react-i18next'
import '../theme/app.css'
import { ToastProvider } from '../components/toast.tsx'
import { startI18n } from '../i18n/start-i18n.ts'
import { followColourMode } from './colour-mode.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { createQueryClient } from './query-client.ts'
import { systemStatusQuery } from './system-status.ts'
import { applyTheme, fallbackTheme, themeQuery } from './theme.ts'

/** The first paint waits so long for the installation's colours, in milliseconds. */
const themeWaitMs = 600

/** Draws a bundle's page: texts, cache, theme, messages. */
export function startApp(
  app: (queryClient: QueryClient) => ReactNode,
  texts: Record<string, string> = {},
): void {
  const i18n = startI18n(texts)
  const queryClient = createQueryClient()
  followColourMode()
  const host = document.getElementById('root')
  if (host === null) throw new Error('the page has no #root')
  void queryClient.prefetchQuery(systemStatusQuery)
  void loadTheme(queryClient).then(() =>
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

/** A theme that comes late is applied when it comes. */
async function loadTheme(queryClient: QueryClient): Promise<void> {
  const coming = queryClient
    .fetchQuery(themeQuery)
    .catch(() => fallbackTheme)
    .then(applyTheme)
  await Promise.race([coming, new Promise((resolve) => setTimeout(resolve, themeWaitMs))])
}

import type { QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { onSessionLoss } from '../api.ts'
import { Router } from '../shell/router.tsx'
import { startApp } from '../shell/start-app.tsx'
import { portalRoutes, preloadPage } from './portal-routes.ts'
import { clearSession, useSignedIn } from './user-session.ts'

// A page that can't be loaded is told of when it is drawn.
void preloadPage(location.pathname).catch(() => null)

/** The portal: what a user downloads. */
startApp((queryClient) => <Portal queryClient={queryClient} />)

function Portal({ queryClient }: { queryClient: QueryClient }) {
  // A login page that says why is shown, whoever may still be signed in.
  const signedIn = useSignedIn(!new URLSearchParams(location.search).has('error'))
  useEffect(() => {
    onSessionLoss({
      invalidSession: () => clearSession(queryClient),
      sessionChanged: () => {
        clearSession(queryClient)
        location.reload()
      },
    })
  }, [queryClient])
  return <Router table={portalRoutes} signedIn={signedIn} />
}

import type { QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { onSessionLoss } from '../api.ts'
import { Router } from '../shell/router.tsx'
import { registerServiceWorker } from '../shell/service-worker.ts'
import { startApp } from '../shell/start-app.tsx'
import { onSignInNews } from '../signin/sign-in-news.ts'
import { reportAsPopup } from '../signin/sign-in-popup.ts'
import { portalRoutes, preloadPage } from './portal-routes.ts'
import { takeReferrer } from './referrer.ts'
import { forgetSession } from './session-memory.ts'
import { isSigningOut } from './sign-out-state.ts'
import {
  clearSession,
  confirmLoss,
  knownSession,
  settleSession,
  takeStep,
  useSignedIn,
} from './user-session.ts'

/** Whether the address says why somebody isn't signed in: then that is shown, whoever may still be. */
const isErrorShown = () => new URLSearchParams(location.search).has('error')

void begin()

/** In tasks of their own, with room between them for whoever touches the page: a slow telephone takes its time. */
async function begin(): Promise<void> {
  await nextTask()
  // The first to reach for the browser's storage.
  if (reportAsPopup('user')) return
  await nextTask()
  start()
}

/** The portal: what a user downloads. */
function start(): void {
  // A failed sign-in clears what was kept (portal §4).
  if (isErrorShown()) forgetSession()
  takeReferrer()
  // A page that can't be loaded is told of when it is drawn.
  void preloadPage(location.pathname).catch(() => null)
  startApp((queryClient) => <Portal queryClient={queryClient} />)
  registerServiceWorker()
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

function Portal({ queryClient }: { queryClient: QueryClient }) {
  const signedIn = useSignedIn(!isErrorShown() && !isSigningOut())
  useEffect(() => {
    // What can't be settled now is asked for again with the next look at the status.
    onSessionLoss({
      invalidSession: () => void confirmLoss(queryClient).catch(() => null),
      sessionChanged: () => void settleSession(queryClient).catch(() => null),
      stepRequired: (code) => void takeStep(queryClient, code),
    })
    return onSignInNews('user', (news) => {
      if (news.kind === 'signedOut') clearSession(queryClient)
      if (news.kind === 'signedIn' && news.session !== knownSession(queryClient)?.status.Session)
        void settleSession(queryClient).catch(() => null)
    })
  }, [queryClient])
  // The status that says how far somebody is signed in says this too, and draws this anew.
  const hasNewDashboard = knownSession(queryClient)?.status.NewUserDashboard ?? true
  return <Router table={portalRoutes({ hasNewDashboard })} signedIn={signedIn} />
}

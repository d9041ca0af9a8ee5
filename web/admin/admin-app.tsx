import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation, useSearch } from 'wouter'
import { onSessionLoss } from '../api.ts'
import { Router } from '../shell/router.tsx'
import { queries, stale } from './admin-queries.ts'
import { adminRoutes } from './admin-route-table.ts'
import { AdminErrors } from './shell/admin-errors.tsx'
import { AdminFrame } from './shell/admin-frame.tsx'
import { Unreachable } from './shell/unreachable.tsx'
import { forgetAdmin, toSignedIn } from './sign-in-state.ts'

/** Pages of signing in: without the console's frame. */
const frameless: readonly string[] = [adminRoutes.login, ...Object.values(adminRoutes.steps)]

/** The console: its frame around whatever page is open, or a page of the sign-in alone. */
export function AdminApp({ queryClient }: { queryClient: QueryClient }) {
  const [path, navigate] = useLocation()
  const search = useSearch()
  const status = useQuery(queries.status)
  // A login page that says why is shown, whoever may still be signed in.
  const isErrorShown = path === adminRoutes.login && new URLSearchParams(search).has('error')
  const signedIn = isErrorShown ? 'no' : toSignedIn(status)

  useEffect(() => {
    onSessionLoss({
      invalidSession: () => {
        forgetAdmin(queryClient)
        if (window.location.pathname !== adminRoutes.login) navigate(adminRoutes.login, { replace: true })
      },
      // The status says which step it is; the guards lead there.
      stepRequired: () => void queryClient.invalidateQueries(stale.status),
    })
  }, [navigate, queryClient])

  const pages = <Router table={adminRoutes} signedIn={signedIn} />
  if (status.error && signedIn === 'unknown')
    return <Unreachable error={status.error} onRetry={() => void status.refetch()} />
  return (
    <AdminErrors>
      {signedIn === 'yes' && !frameless.includes(path) ? <AdminFrame>{pages}</AdminFrame> : pages}
    </AdminErrors>
  )
}

import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { ApiFailure, onSessionLoss } from '../api.ts'
import { Router } from '../shell/router.tsx'
import type { SignedIn } from '../shell/routes.ts'
import { queries } from './admin-queries.ts'
import { adminRoutes } from './admin-route-table.ts'
import { clearAdminSession } from './admin-session.ts'
import { AdminErrors } from './shell/admin-errors.tsx'
import { AdminFrame } from './shell/admin-frame.tsx'
import { Unreachable } from './shell/unreachable.tsx'

/** The console: its frame around whatever page is open, or the login alone. */
export function AdminApp({ queryClient }: { queryClient: QueryClient }) {
  const [path, navigate] = useLocation()
  const status = useQuery(queries.status)
  const signedIn = toSignedIn(status)

  useEffect(() => {
    onSessionLoss({
      invalidSession: () => {
        clearAdminSession()
        // What one admin has read is not for the next one at this screen.
        queryClient.removeQueries({
          predicate: ({ queryKey }) => queryKey[0] === 'admin' && queryKey[1] !== 'status',
        })
        navigate(adminRoutes.login, { replace: true })
      },
    })
  }, [navigate, queryClient])

  const pages = <Router table={adminRoutes} signedIn={signedIn} />
  if (status.error && signedIn === 'unknown')
    return <Unreachable error={status.error} onRetry={() => void status.refetch()} />
  return (
    <AdminErrors>
      {signedIn === 'yes' && path !== adminRoutes.login ? <AdminFrame>{pages}</AdminFrame> : pages}
    </AdminErrors>
  )
}

/** A refusal is an answer: signed out, or half in. An outage says nothing. */
function toSignedIn({
  data,
  error,
}: {
  data: { SessionComplete: boolean } | undefined
  error: unknown
}): SignedIn {
  if (error instanceof ApiFailure && (error.status === 401 || error.status === 403)) return 'no'
  if (data === undefined) return 'unknown'
  return data.SessionComplete ? 'yes' : 'no'
}

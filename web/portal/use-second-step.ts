import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useLocation } from 'wouter'
import { signOut } from './sign-out.ts'
import { clearSession, refreshSession } from './user-session.ts'

/** What the pages of the second step lead to: in, out, or to the login because it took too long. */
export function useSecondStep() {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  return {
    /** The guards lead on as soon as the session is known. */
    goOn: useCallback(async () => {
      await refreshSession(queryClient)
      navigate('/', { replace: true })
    }, [queryClient, navigate]),
    expire: useCallback(() => {
      clearSession(queryClient)
      navigate('/?error=err.sessionExpired', { replace: true })
    }, [queryClient, navigate]),
    leave: useCallback(() => {
      void signOut(queryClient).then(() => navigate('/', { replace: true }))
    }, [queryClient, navigate]),
  }
}

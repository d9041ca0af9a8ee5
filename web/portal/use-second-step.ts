import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useLocation } from 'wouter'
import type { SecondStep } from '../shell/routes.ts'
import { signOut } from './sign-out.ts'
import { endSession, refreshSession } from './user-session.ts'

/** What the pages of the second step lead to: in, out, or to the login because it took too long. */
export function useSecondStep(step: SecondStep) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  return {
    /** The guards lead on as soon as the session is known. */
    goOn: useCallback(async () => {
      await refreshSession(queryClient)
      navigate('/', { replace: true })
    }, [queryClient, navigate]),
    expire: useCallback(() => {
      void import('./sign-in-flow.ts').then(({ errorAfterExpiry }) =>
        endSession(queryClient, errorAfterExpiry(step)),
      )
    }, [queryClient, step]),
    leave: useCallback(() => {
      void signOut(queryClient).then(() => navigate('/', { replace: true }))
    }, [queryClient, navigate]),
  }
}

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiFailure } from '../api.ts'
import { login } from './portal-api.ts'
import { finishSignOut } from './sign-out.ts'
import { clearSession, refreshSession } from './user-session.ts'

/** A try to sign in: what went wrong last, and what follows. Portal §4 "Login flow". */
export type SignIn = {
  failure: unknown
  setFailure: (failure: unknown) => void
  /** Tries name and password; false when it was refused, and `failure` says why. */
  signIn: (body: { UserName: string; Password: string; KioskMode: boolean }) => Promise<boolean>
  /** The session is complete: the guards lead on as soon as it is known. */
  finish: () => Promise<void>
}

export function useSignIn(): SignIn {
  const queryClient = useQueryClient()
  const [failure, setFailure] = useState<unknown>(null)

  const signIn: SignIn['signIn'] = async (body) => {
    setFailure(null)
    clearSession(queryClient)
    await finishSignOut()
    try {
      await login(body)
      await refreshSession(queryClient)
      return true
    } catch (error) {
      const next = error instanceof ApiFailure ? await stateAfter(error.code) : 'refused'
      // The guards lead to the second step.
      if (next === 'verifyingTotp' || next === 'enrolling') return true
      if (next === 'adminFlow') await leaveForAdminFlow()
      else setFailure(error)
      return next === 'adminFlow'
    }
  }
  const finish = async () => {
    setFailure(null)
    await finishSignOut()
    await refreshSession(queryClient).catch(setFailure)
  }
  return { failure, setFailure, signIn, finish }
}

/** The machine that knows is loaded when it is needed. */
const stateAfter = async (code: string) => (await import('./sign-in-flow.ts')).signInStateAfter(code)

const leaveForAdminFlow = async () =>
  window.location.assign(await (await import('./admin-flow.ts')).readAdminPath())

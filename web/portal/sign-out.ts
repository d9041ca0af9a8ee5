import type { QueryClient } from '@tanstack/react-query'
import { ApiFailure } from '../api.ts'
import { tellSignIn } from '../signin/sign-in-news.ts'
import { logout } from './portal-api.ts'
import { dropReferrer } from './referrer.ts'
import { isSigningOut, setSignOutState } from './sign-out-state.ts'
import { clearSession } from './user-session.ts'

/** The server is waited for so long with one try, in milliseconds. */
const patienceMs = 5_000

/**
 * Logs out: this browser forgets at once, in every tab, whatever the server says. The guards then lead to the login,
 * which says so when the server didn't hear of it. Resolves when that is known. Portal §4.
 */
export function signOut(queryClient: QueryClient): Promise<void> {
  setSignOutState('asked')
  clearSession(queryClient)
  dropReferrer()
  tellSignIn({ realm: 'user', kind: 'signedOut' })
  return tellServer()
}

/** Tells the server of a logout that it hasn't confirmed; one try at a time. */
export function tellServer(): Promise<void> {
  telling ??= tryToTell().finally(() => {
    telling = null
  })
  return telling
}
let telling: Promise<void> | null = null

/** Before somebody signs in again: a late answer to the logout would take the new session's cookie. */
export async function finishSignOut(): Promise<void> {
  await telling
  setSignOutState(null)
}

async function tryToTell(): Promise<void> {
  const isHeard = await logout({ signal: AbortSignal.timeout(patienceMs) }).then(
    () => true,
    // The session is gone: that is all that was asked for.
    (error: unknown) => error instanceof ApiFailure && error.status === 401,
  )
  if (isSigningOut()) setSignOutState(isHeard ? null : 'unheard')
}

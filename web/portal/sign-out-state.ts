import { useSyncExternalStore } from 'react'
import { browserStorage } from '../shell/browser-storage.ts'

/**
 * A logout that the server hasn't confirmed: asked just now, or not heard. The cookie is out of a page's reach, so
 * that this browser stays signed in until the server hears of it, and a reload must not sign in again.
 */
export type SignOutState = 'asked' | 'unheard' | null

const listeners = new Set<() => void>()

/** How far this tab's logout has come; null when there is none, or the server has confirmed it. */
export function signOutState(): SignOutState {
  const stored = browserStorage.readSession('signingOut')
  return stored === 'asked' || stored === 'unheard' ? stored : null
}

/** Whether somebody has logged out here and the server hasn't confirmed it. */
export const isSigningOut = (): boolean => signOutState() !== null

/** Notes how far the logout has come; kept over a reload of the tab. */
export function setSignOutState(state: SignOutState): void {
  if (state === null) browserStorage.clearSession('signingOut')
  else browserStorage.writeSession('signingOut', state)
  for (const listener of listeners) listener()
}

/** The same, for what shows it. */
export const useSignOutState = (): SignOutState => useSyncExternalStore(subscribe, signOutState)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

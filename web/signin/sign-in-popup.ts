import { browserStorage } from '../shell/browser-storage.ts'
import type { Realm } from './realm.ts'
import { tellSignIn } from './sign-in-news.ts'
import { type SsoWay, ssoAddress } from './sign-in-ways.ts'

/**
 * Signing in again beside the page, which stays as it is. The identity provider cuts the tie between the two windows
 * (Cross-Origin-Opener-Policy), so the popup is known by a mark in its own session storage, and speaks by
 * `tellSignIn` when it comes back.
 *
 * False when the browser lets no window open: then the page has to go itself.
 */
export function openSignInPopup(realm: Realm, way: SsoWay): boolean {
  const popup = window.open('', '_blank', 'popup,width=520,height=720')
  if (popup === null) return false
  popup.sessionStorage.setItem('signInPopup', realm)
  popup.location.href = ssoAddress(realm, way)
  return true
}

/**
 * For a bundle's start: whether this page is such a popup come back. It has told the others and is closing then, and
 * nothing else is to be done; a browser that keeps it open goes on with it as with any page.
 */
export function reportAsPopup(realm: Realm): boolean {
  if (browserStorage.readSession('signInPopup') !== realm) return false
  browserStorage.clearSession('signInPopup')
  const error = new URLSearchParams(location.search).get('error')
  tellSignIn(error === null ? { realm, kind: 'signedIn', session: null } : { realm, kind: 'refused', error })
  window.close()
  return window.closed
}

import type { ComponentType } from 'react'
import type { TextKey } from '../i18n/texts.ts'

/** Who may see a page: everybody, only who is signed in, only who isn't. */
export type Guard = 'public' | 'signedIn' | 'signedOut'

/** One row of a bundle's route table. */
export type PageRoute = {
  /** wouter pattern. */
  path: string
  name: string
  /** Key of the page's title. */
  title: TextKey
  guard: Guard
  /** Usually lazy(), so that each page is a file of its own. */
  page: ComponentType
}

/** An address that leads elsewhere. */
export type RedirectRoute = { path: string; redirect: string }

/** A bundle's routes, first match wins; everything else goes to `fallback`. */
export type RouteTable = {
  routes: readonly (PageRoute | RedirectRoute)[]
  fallback: string
  /** Where a guard sends whoever isn't signed in, and whoever already is. */
  login: string
  home: string
  favicon: string
}

/** Whether somebody is signed in, as far as is known; 'unreachable' when the server could not be asked. */
export type SignedIn = 'unknown' | 'unreachable' | 'yes' | 'no'

/** What a guard does with a visitor. */
export const guardVerdict = (guard: Guard, signedIn: SignedIn): 'show' | 'wait' | 'toLogin' | 'toHome' => {
  if (guard === 'public') return 'show'
  if (guard === 'signedOut') return signedIn === 'yes' ? 'toHome' : 'show'
  if (signedIn === 'unknown') return 'wait'
  // The page itself says that the server can't be reached, and asks again.
  return signedIn === 'no' ? 'toLogin' : 'show'
}

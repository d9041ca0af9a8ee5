import type { ComponentType } from 'react'
import type { SignInStep } from '#machines/sign-in.machine.ts'
import type { TextKey } from '../i18n/texts.ts'

/** A step that a half session still has to make. */
export type SecondStep = Exclude<SignInStep, 'signedIn'>

/**
 * Who may see a page: everybody, only who is signed in, only who isn't, only who has this step to make. A page of
 * enrolment is shown to whoever is signed in as well: an admin may have put it off, and codes are to be read.
 */
export type Guard = 'public' | 'signedIn' | 'signedOut' | SecondStep

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
  /** Where a half session makes the step that it still has to. */
  steps: Readonly<Record<SecondStep, string>>
  favicon: string
}

/** How far somebody is signed in, as far as is known; 'unreachable' when the server could not be asked. */
export type SignedIn = 'unknown' | 'unreachable' | 'no' | SecondStep | 'yes'

/** What a guard does with a visitor. */
export type GuardVerdict = 'show' | 'wait' | 'toLogin' | 'toStep' | 'toHome'

/** One row a guard. What can't be reached shows: the page itself says so, and asks again. */
const verdicts: Readonly<Record<Guard, Readonly<Record<SignedIn, GuardVerdict>>>> = {
  public: {
    unknown: 'show',
    unreachable: 'show',
    no: 'show',
    verifyingTotp: 'show',
    enrolling: 'show',
    yes: 'show',
  },
  signedOut: {
    unknown: 'show',
    unreachable: 'show',
    no: 'show',
    verifyingTotp: 'toStep',
    enrolling: 'toStep',
    yes: 'toHome',
  },
  signedIn: {
    unknown: 'wait',
    unreachable: 'show',
    no: 'toLogin',
    verifyingTotp: 'toStep',
    enrolling: 'toStep',
    yes: 'show',
  },
  verifyingTotp: {
    unknown: 'wait',
    unreachable: 'show',
    no: 'toLogin',
    verifyingTotp: 'show',
    enrolling: 'toStep',
    yes: 'toHome',
  },
  enrolling: {
    unknown: 'wait',
    unreachable: 'show',
    no: 'toLogin',
    verifyingTotp: 'toStep',
    enrolling: 'show',
    yes: 'show',
  },
}

/** What a guard does with a visitor who is signed in so far. */
export const guardVerdict = (guard: Guard, signedIn: SignedIn): GuardVerdict => verdicts[guard][signedIn]

/** Where a verdict leads; null when the visitor stays. */
export function redirectFor(verdict: GuardVerdict, signedIn: SignedIn, table: RouteTable): string | null {
  if (verdict === 'toLogin') return table.login
  if (verdict === 'toHome') return table.home
  if (verdict === 'toStep' && (signedIn === 'verifyingTotp' || signedIn === 'enrolling'))
    return table.steps[signedIn]
  return null
}

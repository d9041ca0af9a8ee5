import { lazy } from 'react'
import type { RouteTable } from '../shell/routes.ts'

const loadLogin = async () => ({ default: (await import('./login-page.tsx')).LoginPage })
const loadClassic = async () => ({ default: (await import('./classic-page.tsx')).ClassicPage })
const loadHome = async () => ({ default: (await import('./home-page.tsx')).HomePage })
const loadVerify = async () => ({ default: (await import('./verify-page.tsx')).VerifyPage })
const loadOnboard = async () => ({ default: (await import('./onboard-page.tsx')).OnboardPage })

/** What addresses begin with, and the page they show most likely. */
const firstPages: readonly [prefix: string, load: () => Promise<unknown>][] = [
  ['/home/new', loadHome],
  ['/home', loadClassic],
  ['/otp/verify', loadVerify],
  ['/otp/onboard', loadOnboard],
  ['/', loadLogin],
]

/** Begins to load the page that an address shows most likely, while the theme is still on its way. */
export const preloadPage = async (path: string): Promise<unknown> =>
  firstPages.find(([prefix]) => path.startsWith(prefix))?.[1]()

/**
 * The portal's addresses. Portal §2. Both dashboards are reachable by hand; `hasNewDashboard`, the session's flag, says
 * where somebody who is signed in is led to.
 */
export const portalRoutes = ({ hasNewDashboard }: { hasNewDashboard: boolean }): RouteTable => ({
  ...table,
  home: hasNewDashboard ? '/home/new' : '/home',
})

const table: Omit<RouteTable, 'home'> = {
  fallback: '/',
  login: '/',
  steps: { verifyingTotp: '/otp/verify', enrolling: '/otp/onboard' },
  favicon: '/favicon-portal.svg',
  routes: [
    { path: '/', name: 'Login', title: 'login.title', guard: 'signedOut', page: lazy(loadLogin) },
    {
      path: '/otp/verify',
      name: 'TwoFactor',
      title: 'otp.verifyTitle',
      guard: 'verifyingTotp',
      page: lazy(loadVerify),
    },
    {
      path: '/otp/onboard',
      name: 'TwoFactorOnboard',
      title: 'otp.enrolTitle',
      guard: 'enrolling',
      page: lazy(loadOnboard),
    },
    { path: '/home', name: 'Home', title: 'home.title', guard: 'signedIn', page: lazy(loadClassic) },
    {
      path: '/home/new',
      name: 'NewUserDashboard',
      title: 'home.title',
      guard: 'signedIn',
      page: lazy(loadHome),
    },
  ],
}

import { lazy } from 'react'
import type { RouteTable } from '../shell/routes.ts'

const loadLogin = async () => ({ default: (await import('./login-page.tsx')).LoginPage })
const loadHome = async () => ({ default: (await import('./home-page.tsx')).HomePage })

/** Begins to load the page that an address shows most likely, while the theme is still on its way. */
export const preloadPage = (path: string): Promise<unknown> =>
  path.startsWith('/home') ? loadHome() : loadLogin()

/** The portal's addresses. Portal §2. */
export const portalRoutes: RouteTable = {
  fallback: '/',
  login: '/',
  home: '/home/new',
  favicon: '/favicon-portal.svg',
  routes: [
    { path: '/', name: 'Login', title: 'login.title', guard: 'signedOut', page: lazy(loadLogin) },
    { path: '/home', redirect: '/home/new' },
    {
      path: '/home/new',
      name: 'NewUserDashboard',
      title: 'home.title',
      guard: 'signedIn',
      page: lazy(loadHome),
    },
  ],
}

import { lazy } from 'react'
import type { RouteTable } from '../shell/routes.ts'
import { AdminLoginPage } from './login/admin-login-page.tsx'

/** The console's pages. Each is a file of its own, loaded when it is opened. Console §2. */
export const adminRoutes: RouteTable = {
  login: '/admin/login',
  home: '/admin/home',
  steps: { verifyingTotp: '/admin/otp/verify', enrolling: '/admin/otp/onboard' },
  fallback: '/admin/home',
  favicon: '/favicon-console.svg',
  routes: [
    { path: '/admin', redirect: '/admin/login' },
    {
      path: '/admin/login',
      name: 'AdminLogin',
      title: 'admin.page.login',
      guard: 'signedOut',
      page: AdminLoginPage,
    },
    {
      path: '/admin/otp/verify',
      name: 'AdminTwoFactor',
      title: 'admin.page.verify',
      guard: 'verifyingTotp',
      page: lazy(() =>
        import('./login/admin-verify-page.tsx').then(({ AdminVerifyPage }) => ({
          default: AdminVerifyPage,
        })),
      ),
    },
    {
      path: '/admin/otp/onboard',
      name: 'AdminTwoFactorOnboard',
      title: 'admin.page.onboard',
      guard: 'enrolling',
      page: lazy(() =>
        import('./login/admin-onboard-page.tsx').then(({ AdminOnboardPage }) => ({
          default: AdminOnboardPage,
        })),
      ),
    },
    {
      path: '/admin/home',
      name: 'AdminHome',
      title: 'admin.page.home',
      guard: 'signedIn',
      page: lazy(() => import('./home/home-page.tsx').then(({ HomePage }) => ({ default: HomePage }))),
    },
    {
      path: '/admin/agents',
      name: 'Agents',
      title: 'admin.page.agents',
      guard: 'signedIn',
      page: lazy(() =>
        import('./agents/agents-page.tsx').then(({ AgentsPage }) => ({ default: AgentsPage })),
      ),
    },
    {
      path: '/admin/agents/:agentId',
      name: 'Agent',
      title: 'admin.page.agent',
      guard: 'signedIn',
      page: lazy(() => import('./agents/agent-page.tsx').then(({ AgentPage }) => ({ default: AgentPage }))),
    },
    {
      path: '/admin/knocs',
      name: 'Knocs',
      title: 'admin.page.knocs',
      guard: 'signedIn',
      page: lazy(() => import('./knocs/knocs-page.tsx').then(({ KnocsPage }) => ({ default: KnocsPage }))),
    },
    {
      path: '/admin/knocs/new',
      name: 'NewKnoc',
      title: 'admin.page.newKnoc',
      guard: 'signedIn',
      page: lazy(() =>
        import('./knocs/knoc-chooser-page.tsx').then(({ KnocChooserPage }) => ({ default: KnocChooserPage })),
      ),
    },
    {
      path: '/admin/knocs/new/linux',
      name: 'NewLinuxKnoc',
      title: 'admin.page.newLinuxKnoc',
      guard: 'signedIn',
      page: lazy(() =>
        import('./knocs/wizard/linux-wizard-page.tsx').then(({ LinuxWizardPage }) => ({
          default: LinuxWizardPage,
        })),
      ),
    },
    {
      path: '/admin/knocs/:knocId/update',
      name: 'UpdateKnoc',
      title: 'admin.page.updateKnoc',
      guard: 'signedIn',
      page: lazy(() =>
        import('./knocs/update/knoc-update-page.tsx').then(({ KnocUpdatePage }) => ({
          default: KnocUpdatePage,
        })),
      ),
    },
    {
      path: '/admin/groups',
      name: 'Groups',
      title: 'admin.page.groups',
      guard: 'signedIn',
      page: lazy(() =>
        import('./groups/groups-page.tsx').then(({ GroupsPage }) => ({ default: GroupsPage })),
      ),
    },
    {
      path: '/admin/users',
      name: 'Users',
      title: 'admin.page.users',
      guard: 'signedIn',
      page: lazy(() => import('./users/users-page.tsx').then(({ UsersPage }) => ({ default: UsersPage }))),
    },
    {
      path: '/admin/admins',
      name: 'Admins',
      title: 'admin.page.admins',
      guard: 'signedIn',
      page: lazy(() =>
        import('./admins/admins-page.tsx').then(({ AdminsPage }) => ({ default: AdminsPage })),
      ),
    },
    {
      path: '/admin/settings',
      name: 'Settings',
      title: 'admin.page.settings',
      guard: 'signedIn',
      page: lazy(() =>
        import('./settings/settings-page.tsx').then(({ SettingsPage }) => ({ default: SettingsPage })),
      ),
    },
  ],
}

import { expect, it } from 'vitest'
import { portalRoutes } from './portal-routes.ts'

it('leads who is signed in to /home/new when the NewUserDashboard flag is set, otherwise to /home', () => {
  expect(portalRoutes({ hasNewDashboard: true }).home).toBe('/home/new')
  expect(portalRoutes({ hasNewDashboard: false }).home).toBe('/home')
})

it('has both dashboards as pages for who is signed in, whatever the flag says', () => {
  for (const hasNewDashboard of [true, false])
    expect(
      portalRoutes({ hasNewDashboard }).routes.map((route) => [
        route.path,
        'redirect' in route ? route.redirect : [route.name, route.guard],
      ]),
    ).toEqual([
      ['/', ['Login', 'signedOut']],
      ['/otp/verify', ['TwoFactor', 'verifyingTotp']],
      ['/otp/onboard', ['TwoFactorOnboard', 'enrolling']],
      ['/home', ['Home', 'signedIn']],
      ['/home/new', ['NewUserDashboard', 'signedIn']],
    ])
})

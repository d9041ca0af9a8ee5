import { expect, it } from 'vitest'
import { adminPath } from './admin-flow.ts'

const half = {
  SessionComplete: false,
  TotpEnabled: true,
  AdminTotpVerified: false,
  HasPasskey: false,
  TotpEnrolmentDeferable: true,
} as const

it.each([
  ['a confirmed secret', { AdminTotpVerified: true }, '/admin/otp/verify'],
  ['a passkey alone', { HasPasskey: true }, '/admin/otp/verify'],
  ['nothing yet', {}, '/admin/otp/onboard'],
  ['nothing yet, and no deferral left', { TotpEnrolmentDeferable: false }, '/admin/otp/onboard'],
  ['a second factor that was lifted meanwhile', { TotpEnabled: false }, '/admin/login'],
])('leads a half admin session with %s on', (_, status, path) => {
  expect(adminPath({ ...half, ...status })).toBe(path)
})

it('leads a complete admin session home, whatever its second factor', () => {
  for (const AdminTotpVerified of [true, false])
    for (const TotpEnabled of [true, false])
      expect(adminPath({ ...half, SessionComplete: true, TotpEnabled, AdminTotpVerified })).toBe(
        '/admin/home',
      )
})

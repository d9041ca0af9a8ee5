import { nextSignInStep } from '#machines/sign-in.machine.ts'
import type { AdminStatus, HalfAdminStatus } from '#server/status/status.schema.ts'
import { ApiFailure, request } from '../api.ts'

/** Where each step of the admin's sign-in is made: pages of the console's bundle. Portal §4. */
const paths = {
  signedIn: '/admin/home',
  verifyingTotp: '/admin/otp/verify',
  enrolling: '/admin/otp/onboard',
} as const

/** Where a browser that is signed in as an admin, wholly or half, goes on; to the admin login if it isn't any more. */
export async function readAdminPath(): Promise<string> {
  try {
    return adminPath(await request<AdminStatus | HalfAdminStatus>('GET', '/api/admin/status'))
  } catch (error) {
    if (error instanceof ApiFailure) return '/admin/login'
    throw error
  }
}

/** The page that follows an admin's status. */
export function adminPath(
  status: Pick<
    AdminStatus | HalfAdminStatus,
    'SessionComplete' | 'TotpEnabled' | 'AdminTotpVerified' | 'HasPasskey' | 'TotpEnrolmentDeferable'
  >,
): string {
  if (status.SessionComplete) return paths.signedIn
  const step = nextSignInStep({
    realm: 'admin',
    totpEnabled: status.TotpEnabled,
    totpConfirmed: status.AdminTotpVerified,
    hasPasskey: status.HasPasskey,
    deferable: status.TotpEnrolmentDeferable,
  })
  // The second factor was lifted meanwhile: a half session still isn't one.
  return step === 'signedIn' ? '/admin/login' : paths[step]
}

import { nextSignInStep } from '#machines/sign-in.machine.ts'
import type { HalfAdminStatus } from '#server/status/status.schema.ts'
import type { SecondStep } from '../shell/routes.ts'

/**
 * The step that a half session still has to make, by the sign-in machine: a code or a passkey where there is one,
 * else the enrolment. Whatever the account says by now, the session is not complete. Portal §2 "Admin login".
 */
export function stepLeft(status: Omit<HalfAdminStatus, 'SessionComplete'>): SecondStep {
  const step = nextSignInStep({
    realm: 'admin',
    totpEnabled: status.TotpEnabled,
    totpConfirmed: status.AdminTotpVerified,
    hasPasskey: status.HasPasskey,
    deferable: status.TotpEnrolmentDeferable,
  })
  return step === 'signedIn' ? 'verifyingTotp' : step
}

/** Whether a signed-in admin has put the enrolment off: a second factor is asked for, and there is none. */
export const hasDeferred = (status: Omit<HalfAdminStatus, 'SessionComplete'>): boolean =>
  stepLeft({ ...status, TotpEnrolmentDeferable: true }) === 'enrolling'

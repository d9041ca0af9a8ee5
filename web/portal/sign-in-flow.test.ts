import { expect, it } from 'vitest'
import { errorAfterExpiry, signInStateAfter } from './sign-in-flow.ts'

it.each([
  ['err.invalidCredentials', 'refused'],
  ['err.accountDisabled', 'refused'],
  ['err.tooManyRequests', 'refused'],
  ['err.unauthorised', 'adminFlow'],
  ['err.totpVerificationRequired', 'verifyingTotp'],
  ['err.totpEnrolmentRequired', 'enrolling'],
])('leads from a login refused with %s to %s', (code, state) => {
  expect(signInStateAfter(code)).toBe(state)
})

it.each(['verifyingTotp', 'enrolling'] as const)('says that the session has expired after %s', (step) => {
  expect(errorAfterExpiry(step)).toBe('err.sessionExpired')
})

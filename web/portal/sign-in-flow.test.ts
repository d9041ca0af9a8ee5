import { expect, it } from 'vitest'
import { signInStateAfter } from './sign-in-flow.ts'

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

import { expect, it } from 'vitest'
import { hasDeferred, stepLeft } from './sign-in-step.ts'

const account = {
  TotpEnabled: true,
  AdminTotpVerified: false,
  HasPasskey: false,
  TotpEnrolmentDeferable: false,
}

it('leads to the code where a secret or a passkey exists, else to the enrolment', () => {
  expect(stepLeft(account)).toBe('enrolling')
  expect(stepLeft({ ...account, AdminTotpVerified: true })).toBe('verifyingTotp')
  expect(stepLeft({ ...account, HasPasskey: true })).toBe('verifyingTotp')
})

it('never takes a half session for a whole one', () => {
  expect(stepLeft({ ...account, TotpEnabled: false })).toBe('verifyingTotp')
})

it('knows who has put the enrolment off', () => {
  expect(hasDeferred(account)).toBe(true)
  expect(hasDeferred({ ...account, AdminTotpVerified: true })).toBe(false)
  expect(hasDeferred({ ...account, HasPasskey: true })).toBe(false)
  expect(hasDeferred({ ...account, TotpEnabled: false })).toBe(false)
})

import { expect, it } from 'vitest'
import texts from '../i18n/en-AU.json' with { type: 'json' }
import { givenErrorKey } from './sign-in-error.tsx'

const isKnown = (key: string) => Object.hasOwn(texts, key)

it.each([
  'err.sessionExpired',
  'err.loginNotPermitted',
  'err.accountDisabled',
  'err.identityProviderUnavailable',
])('shows the text of %s, a code of the catalogue', (code) => expect(givenErrorKey(code, isKnown)).toBe(code))

it.each([
  '',
  'err.',
  'err.nobodyKnowsThis',
  'err.constructor',
  'home.title',
  'Your account is locked, call 555-0100',
  '<b>err.internal</b>',
  'err.internal ',
  'err.internal.more',
  '$t(home.title)',
])('repeats nothing of “%s”', (code) => expect(givenErrorKey(code, isKnown)).toBe('signIn.failed'))

it('has a text of its own for a wait that the address doesn’t carry', () => {
  expect(givenErrorKey('err.tooManyRequests', isKnown)).toBe('signIn.waitUnknown')
})

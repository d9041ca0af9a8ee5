import { expect, it } from 'vitest'
import { guardVerdict } from './routes.ts'

it('sends whoever isn’t signed in to the login, and whoever is away from it', () => {
  expect(guardVerdict('signedIn', 'no')).toBe('toLogin')
  expect(guardVerdict('signedIn', 'yes')).toBe('show')
  expect(guardVerdict('signedOut', 'yes')).toBe('toHome')
  expect(guardVerdict('signedOut', 'no')).toBe('show')
})

it('waits with a protected page, not with the login, until it is known', () => {
  expect(guardVerdict('signedIn', 'unknown')).toBe('wait')
  expect(guardVerdict('signedOut', 'unknown')).toBe('show')
  expect(guardVerdict('public', 'unknown')).toBe('show')
})

it('leaves it to the page to say that the server can’t be reached', () => {
  expect(guardVerdict('signedIn', 'unreachable')).toBe('show')
  expect(guardVerdict('signedOut', 'unreachable')).toBe('show')
})

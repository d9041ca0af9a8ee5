import { expect, it } from 'vitest'
import { guardVerdict, redirectFor } from './routes.ts'

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

it('leads a half session to its step, from wherever it is', () => {
  for (const step of ['verifyingTotp', 'enrolling'] as const)
    for (const guard of ['signedIn', 'signedOut'] as const) expect(guardVerdict(guard, step)).toBe('toStep')
  expect(guardVerdict('verifyingTotp', 'enrolling')).toBe('toStep')
  expect(guardVerdict('enrolling', 'verifyingTotp')).toBe('toStep')
  const table = {
    login: '/',
    home: '/home',
    steps: { verifyingTotp: '/verify', enrolling: '/onboard' },
    fallback: '/',
    favicon: '',
    routes: [],
  }
  expect(redirectFor('toStep', 'verifyingTotp', table)).toBe('/verify')
  expect(redirectFor('toStep', 'enrolling', table)).toBe('/onboard')
  expect(redirectFor('toLogin', 'no', table)).toBe('/')
  expect(redirectFor('toHome', 'yes', table)).toBe('/home')
  expect(redirectFor('show', 'yes', table)).toBeNull()
})

it('shows the second step only to whom it concerns', () => {
  expect(guardVerdict('verifyingTotp', 'verifyingTotp')).toBe('show')
  expect(guardVerdict('enrolling', 'enrolling')).toBe('show')
  for (const guard of ['verifyingTotp', 'enrolling'] as const) {
    expect(guardVerdict(guard, 'no')).toBe('toLogin')
    expect(guardVerdict(guard, 'unknown')).toBe('wait')
  }
  expect(guardVerdict('verifyingTotp', 'yes')).toBe('toHome')
  // Recovery codes are read, and an enrolment that was put off is made, by who is in.
  expect(guardVerdict('enrolling', 'yes')).toBe('show')
})

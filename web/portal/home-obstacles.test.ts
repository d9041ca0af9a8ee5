import { expect, it } from 'vitest'
import { findObstacle } from './home-obstacles.ts'

const fine = { Licensed: true, UserLicensed: true, UntrustedProxy: null }
const allWrong = { Licensed: false, UserLicensed: false, UntrustedProxy: '10.0.0.1' }

it('says nothing when all is well', () => {
  expect(findObstacle(fine, null)).toBeUndefined()
})

it('one at a time: unlicensed, then the error, then the user’s own licence, then the proxy', () => {
  const failure = new Error('down')
  expect(findObstacle(allWrong, failure)).toBe('unlicensed')
  expect(findObstacle({ ...allWrong, Licensed: true }, failure)).toBe('stale')
  expect(findObstacle({ ...allWrong, Licensed: true }, null)).toBe('userUnlicensed')
  expect(findObstacle({ ...fine, UntrustedProxy: '10.0.0.1' }, null)).toBe('untrustedProxy')
})

it('UserLicensed false beside Licensed true is its own message', () => {
  expect(findObstacle({ ...fine, UserLicensed: false }, null)).toBe('userUnlicensed')
  expect(findObstacle({ ...fine, Licensed: false, UserLicensed: false }, null)).toBe('unlicensed')
})

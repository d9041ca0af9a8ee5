import { expect, it } from 'vitest'
import { compareVersions } from './version.ts'

it.each([
  ['2.0.0', '2.0.0', 0],
  ['2.10.0', '2.9.9', 1],
  ['1.9.0', '1.10.0', -1],
  ['2', '2.0.0', 0],
  ['v2.1.0', '2.1.0', 0],
  ['v2.0.0+build.7', '2.0.0', 0],
  ['2.0.0-rc.1', '2.0.0', -1],
  ['2.0.1-rc.1', '2.0.0', 1],
  ['unknown', '0.0.0', -1],
])('orders the version %s against %s by numbers', (left, right, sign) => {
  expect(Math.sign(compareVersions(left, right))).toBe(sign)
  expect(Math.sign(compareVersions(right, left))).toBe(sign === 0 ? 0 : -sign)
})

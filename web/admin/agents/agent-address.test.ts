import { expect, it } from 'vitest'
import { toAddressWithoutPort } from './agent-address.ts'

it.each([
  ['203.0.113.9:41234', '203.0.113.9'],
  ['203.0.113.9', '203.0.113.9'],
  ['[2001:db8::7]:41234', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['2001:db8::7', '2001:db8::7'],
  ['::1', '::1'],
])('shows %s as %s', (address, shown) => {
  expect(toAddressWithoutPort(address)).toBe(shown)
})

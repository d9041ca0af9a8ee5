import { expect, it } from 'vitest'
import { normaliseDn } from './distinguished-name.ts'

it.each([
  ['uid=ada,ou=people,dc=example', 'UID=Ada, OU=People , DC = example'],
  ['cn=Lovelace\\, Ada,dc=example', 'cn=Lovelace\\2c Ada,dc=example'],
  ['cn=Zoë,dc=example', 'cn=Zo\\C3\\AB,dc=example'],
  ['cn=a+uid=b,dc=example', 'uid=b + cn=a,dc=example'],
  ['cn=two  spaces,dc=example', 'cn=two spaces,dc=example'],
])('calls the same what is written in two ways: %s', (one, other) => {
  expect(normaliseDn(one)).toBeDefined()
  expect(normaliseDn(one)).toBe(normaliseDn(other))
})

it.each([
  ['uid=ada,dc=example', 'uid=ada,dc=example2'],
  ['cn=a\\,dc=example', 'cn=a,dc=example'],
  ['cn=a\\+uid=b', 'cn=a+uid=b'],
  ['uid=ada,ou=people', 'uid=ada,ou=people,ou=people'],
])('tells apart: %s', (one, other) => {
  expect(normaliseDn(one)).not.toBe(normaliseDn(other))
})

it.each([
  '',
  ' ',
  ',',
  'ada',
  'EXTERNAL',
  'uid=',
  '=ada',
  'uid=ada,',
  'uid=a\0b',
  'cn="a, b"',
  'ada@example.test',
])('is no name: %j', (text) => {
  expect(normaliseDn(text)).toBeUndefined()
})

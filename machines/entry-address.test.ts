import { describe, expect, test } from 'vitest'
import { entryAddress } from './entry-address.ts'

describe('an entry’s address', () => {
  test.each([
    ['https://a.example', 'https://a.example/?knoc_token=t'],
    ['https://a.example/x', 'https://a.example/x?knoc_token=t'],
    ['https://a.example/x?', 'https://a.example/x?knoc_token=t'],
    ['https://a.example/x?y=1', 'https://a.example/x?y=1&knoc_token=t'],
    ['https://a.example/x#part', 'https://a.example/x?knoc_token=t#part'],
    ['https://a.example/x?y=1#part?z=2', 'https://a.example/x?y=1&knoc_token=t#part?z=2'],
    ['https://a.example/x?flag&to=a%20b%2Fc', 'https://a.example/x?flag&to=a%20b%2Fc&knoc_token=t'],
    ['https://a.example/x?knoc_token=old&y=1', 'https://a.example/x?y=1&knoc_token=t'],
    ['HTTP://a.example:8080/', 'http://a.example:8080/?knoc_token=t'],
  ])('of %s has the token as a query parameter', (url, address) => {
    expect(entryAddress(url, 't')).toBe(address)
  })

  test('escapes the token', () => {
    expect(entryAddress('https://a.example/', 'a b&c=d#e')).toBe(
      'https://a.example/?knoc_token=a+b%26c%3Dd%23e',
    )
  })

  test('stays as it is without a token', () => {
    expect(entryAddress('https://a.example/x?y=1#part')).toBe('https://a.example/x?y=1#part')
    expect(entryAddress('https://a.example/x?y=1', '')).toBe('https://a.example/x?y=1')
  })

  test.each([
    '',
    'a.example',
    '//a.example',
    'ssh://a.example',
    'ftp://a.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)//https://a.example',
    'java\nscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'blob:https://a.example/1',
    'https://',
    'https:a.example',
  ])('is none for %j: only http and https are followed', (url) => {
    expect(entryAddress(url, 't')).toBeUndefined()
  })
})

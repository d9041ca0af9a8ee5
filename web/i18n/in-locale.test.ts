import { describe, expect, it } from 'vitest'
import { listOf, nameOrder } from './in-locale.ts'

describe('names', () => {
  it.each(['en-AU', 'en-US', 'de'])(
    'are ordered without regard to case, and numbers by value, in %s',
    (locale) => {
      const names = ['host 10', 'Zebra', 'ähre', 'apfel', 'Host 9', 'Apfel', 'zebra']
      expect(names.toSorted(nameOrder(locale))).toEqual([
        'ähre',
        'apfel',
        'Apfel',
        'Host 9',
        'host 10',
        'Zebra',
        'zebra',
      ])
    },
  )
})

describe('several things', () => {
  it('are joined as the language does it', () => {
    expect(listOf(['ipset', 'HAProxy', 'x'], 'en-AU')).toBe('ipset, HAProxy, x')
    expect(listOf(['ipset', 'HAProxy', 'x'], 'de')).toBe('ipset, HAProxy und x')
    expect(listOf(['ipset'], 'de')).toBe('ipset')
    expect(listOf([], 'de')).toBe('')
  })
})

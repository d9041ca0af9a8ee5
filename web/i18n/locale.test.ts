import { describe, expect, it } from 'vitest'
import { chooseLocale } from './locale.ts'

describe('the language of portal and console', () => {
  it.each([
    ['de', ['de']],
    ['de', ['de-DE', 'en']],
    ['de', ['de-AT']],
    ['de', ['de-CH-1996']],
    ['de', ['DE-at']],
    ['en-US', ['en-US']],
    ['en-US', ['en-us', 'de']],
    ['en-AU', ['en-AU']],
    ['en-AU', ['en-GB']],
    ['en-AU', ['en']],
    ['en-AU', ['en-NZ', 'en-US', 'de']],
  ])('is %s for a browser that wants %s', (locale, languages) => {
    expect(chooseLocale(languages)).toBe(locale)
  })

  it.each([
    ['de', ['fr-CH', 'de-CH', 'en']],
    ['en-US', ['ja', 'en-US']],
    ['en-AU', ['it', 'en-IE', 'de']],
  ])('is the first that there are texts in: %s of %s', (locale, languages) => {
    expect(chooseLocale(languages)).toBe(locale)
  })

  it.each([[['fr-FR']], [['ja', 'zh-Hant-TW']], [['den', 'enm', 'en_US', 'x-de']], [['', '-', '*']], [[]]])(
    'falls back to en-AU for %s',
    (languages) => {
      expect(chooseLocale(languages)).toBe('en-AU')
    },
  )
})

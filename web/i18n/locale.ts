/** The languages that there are texts in. */
export const locales = ['en-AU', 'en-US', 'de'] as const

/** A language of the catalogues; `<html lang>` and every format of a date or number have it. */
export type Locale = (typeof locales)[number]

/** The language whose catalogue is complete; every other falls back to it. */
export const fallbackLocale = 'en-AU' satisfies Locale

/** A language whose texts are loaded when somebody has chosen it. */
export type LoadedLocale = Exclude<Locale, typeof fallbackLocale>

/**
 * The first of a browser's languages (`navigator.languages`, most wanted first) that there are texts in: every German
 * is `de`, American English is `en-US`, every other English is `en-AU`, and so is whatever else. Portal §9.
 */
export function chooseLocale(languages: readonly string[]): Locale {
  for (const language of languages) {
    const locale = spokenHere(language.toLowerCase())
    if (locale !== undefined) return locale
  }
  return fallbackLocale
}

const spokenHere = (language: string): Locale | undefined => {
  if (isOf('de', language)) return 'de'
  if (isOf('en-us', language)) return 'en-US'
  return isOf('en', language) ? fallbackLocale : undefined
}

const isOf = (family: string, language: string): boolean =>
  language === family || language.startsWith(`${family}-`)

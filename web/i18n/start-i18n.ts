import { createInstance, type FormatterModule, type i18n } from 'i18next'
import { initReactI18next } from 'react-i18next'
import type { Catalogue } from './catalogues.ts'
import texts from './en-AU.json' with { type: 'json' }
import { fallbackLocale } from './locale.ts'
import type { TextKey } from './texts.ts'

/**
 * Starts translation before the first render, in the fall-back language. The console hands in its own catalogue, the
 * portal none. Keys are flat: `err.badRequest` is one key, not a path. Numbers in a text are written as its language does.
 */
export function startI18n(more: Catalogue = {}): i18n {
  const instance = createInstance()
  void instance
    .use(initReactI18next)
    .use(numbers)
    .init({
      lng: fallbackLocale,
      fallbackLng: fallbackLocale,
      resources: { [fallbackLocale]: { translation: { ...texts, ...more } } },
      keySeparator: false,
      nsSeparator: false,
      interpolation: { escapeValue: false, alwaysFormat: true },
      initAsync: false,
    })
  return instance
}

/**
 * Whether a text is a key of the loaded catalogues: a label of a definition, a rule's message. One that has a form for
 * each number is found only with its `count`.
 */
export const isTextKey = (i18n: i18n, key: string, values: { count?: number } = {}): key is TextKey =>
  i18n.exists(key, values)

/** Writes what stands in a text's braces. */
const numbers: FormatterModule = {
  type: 'formatter',
  init: () => undefined,
  add: () => undefined,
  addCached: () => undefined,
  format: (value: string | number, _format, language) =>
    typeof value === 'number' ? new Intl.NumberFormat(language).format(value) : value,
}

import { createInstance, type i18n } from 'i18next'
import { initReactI18next } from 'react-i18next'
import texts from './en-AU.json' with { type: 'json' }
import type { TextKey } from './texts.ts'

/** The language whose catalogue is complete; every other falls back to it. */
export const fallbackLocale = 'en-AU'

/**
 * Starts translation before the first render. The console hands in its own catalogue, the portal none.
 * Keys are flat: `err.badRequest` is one key, not a path.
 */
export function startI18n(more: Record<string, string> = {}): i18n {
  const instance = createInstance()
  void instance.use(initReactI18next).init({
    lng: fallbackLocale,
    fallbackLng: fallbackLocale,
    resources: { [fallbackLocale]: { translation: { ...texts, ...more } } },
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false },
    initAsync: false,
  })
  return instance
}

/** Whether a text is a key of the loaded catalogues: a label of a definition, a rule's message. */
export const isTextKey = (i18n: i18n, key: string): key is TextKey => i18n.exists(key)

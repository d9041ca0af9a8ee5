import type { i18n } from 'i18next'
import type { CatalogueLoaders } from './catalogues.ts'
import { fallbackLocale, type Locale } from './locale.ts'

/**
 * Loads a language's texts, all parts of them or none, and takes it for the texts, for dates and numbers, and for the
 * document. If they can't be loaded the fall-back language stays, and nobody is told: everything can be read.
 */
export async function takeLocale(
  i18n: i18n,
  { locale, catalogues }: { locale: Locale; catalogues: readonly CatalogueLoaders[] },
): Promise<void> {
  if (locale === fallbackLocale) return
  const parts = await Promise.all(catalogues.map((load) => load[locale]())).catch(() => null)
  if (parts === null) return
  for (const part of parts) i18n.addResourceBundle(locale, 'translation', part.default)
  await i18n.changeLanguage(locale)
  document.documentElement.lang = locale
}

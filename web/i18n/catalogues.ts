import type { LoadedLocale } from './locale.ts'

/** Texts of one language, by key. */
export type Catalogue = Readonly<Record<string, string>>

/** What loads a bundle's texts in a language. Each is a file of its own, which only who reads it downloads. */
export type CatalogueLoaders = Readonly<Record<LoadedLocale, () => Promise<{ default: Catalogue }>>>

/** The portal's texts and those of the error codes, which the console shows, too. */
export const portalCatalogues: CatalogueLoaders = {
  'en-US': () => import('./en-US.json', { with: { type: 'json' } }),
  de: () => import('./de.json', { with: { type: 'json' } }),
}

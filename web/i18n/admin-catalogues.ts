import type { CatalogueLoaders } from './catalogues.ts'

/** The console's texts, which users never download. */
export const adminCatalogues: CatalogueLoaders = {
  'en-US': () => import('./en-US.admin.json', { with: { type: 'json' } }),
  de: () => import('./de.admin.json', { with: { type: 'json' } }),
}

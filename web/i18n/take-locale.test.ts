import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { adminCatalogues } from './admin-catalogues.ts'
import { type CatalogueLoaders, portalCatalogues } from './catalogues.ts'
import adminTexts from './en-AU.admin.json' with { type: 'json' }
import { startI18n } from './start-i18n.ts'
import { takeLocale } from './take-locale.ts'

const unreachable: CatalogueLoaders = {
  'en-US': () => Promise.reject(new Error('offline')),
  de: () => Promise.reject(new Error('offline')),
}
const never = vi.fn<CatalogueLoaders['de']>(() => Promise.reject(new Error('nobody asked for it')))

describe('taking a language', () => {
  const document = { documentElement: { lang: 'en-AU' } }
  beforeEach(() => vi.stubGlobal('document', document))
  afterEach(() => {
    vi.unstubAllGlobals()
    document.documentElement.lang = 'en-AU'
  })

  it('loads its texts, for the portal without those of the console', async () => {
    const i18n = startI18n()
    await takeLocale(i18n, { locale: 'de', catalogues: [portalCatalogues] })
    expect(i18n.language).toBe('de')
    expect(document.documentElement.lang).toBe('de')
    expect(i18n.t('entry.grant')).toBe('Zugriff gewähren')
    expect(i18n.t('home.accountExpires', { count: 1 })).toBe('Ihr Konto läuft in 1 Tag ab')
    expect(i18n.t('home.accountExpires', { count: 2 })).toBe('Ihr Konto läuft in 2 Tagen ab')
    expect(i18n.exists('admin.users.create')).toBe(false)
  })

  it('loads those of the console, too, for the console', async () => {
    const i18n = startI18n(adminTexts)
    await takeLocale(i18n, { locale: 'de', catalogues: [portalCatalogues, adminCatalogues] })
    expect(i18n.t('kit.cancel')).toBe('Abbrechen')
    expect(i18n.t('admin.users.create')).toBe('Benutzer erstellen')
  })

  it('has the fall-back’s text where en-US has none of its own', async () => {
    const i18n = startI18n(adminTexts)
    await takeLocale(i18n, { locale: 'en-US', catalogues: [portalCatalogues, adminCatalogues] })
    expect(i18n.language).toBe('en-US')
    expect(i18n.t('home.favourites')).toBe('Favorites')
    expect(i18n.t('entry.grant')).toBe('Grant Access')
    expect(i18n.t('kit.rows', { count: 1 })).toBe('1 row')
  })

  it.each([[[unreachable]], [[portalCatalogues, unreachable]]])(
    'stays with en-AU, whole, when not all can be loaded, and tells nobody',
    async (catalogues) => {
      const i18n = startI18n(adminTexts)
      await expect(takeLocale(i18n, { locale: 'de', catalogues })).resolves.toBeUndefined()
      expect(i18n.language).toBe('en-AU')
      expect(document.documentElement.lang).toBe('en-AU')
      expect(i18n.t('kit.cancel')).toBe('Cancel')
    },
  )

  it('downloads nothing for the fall-back', async () => {
    await takeLocale(startI18n(), { locale: 'en-AU', catalogues: [{ 'en-US': never, de: never }] })
    expect(never).not.toHaveBeenCalled()
  })

  it('writes the numbers of a text as its language does', async () => {
    const i18n = startI18n()
    expect(i18n.t('kit.rows', { count: 12_345 })).toBe('12,345 rows')
    await takeLocale(i18n, { locale: 'de', catalogues: [portalCatalogues] })
    expect(i18n.t('kit.rows', { count: 12_345 })).toBe('12.345 Zeilen')
    expect(i18n.t('home.greeting', { name: '12345' })).toBe('Hallo, 12345')
  })
})

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import germanAdmin from '../../web/i18n/de.admin.json' with { type: 'json' }
import german from '../../web/i18n/de.json' with { type: 'json' }
import englishAdmin from '../../web/i18n/en-AU.admin.json' with { type: 'json' }
import english from '../../web/i18n/en-AU.json' with { type: 'json' }
import { findBarriers } from './accessibility.ts'
import { entry, heading } from './acts.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const robin = { userName: 'robin', password: 'a password of users 1' }
const knocName = 'Payroll'
const widths = [1440, 320]

/** The language of browsers, as decided. */
const chosen = [
  { browser: 'de-AT', lang: 'de', greeting: 'Melden Sie sich an, um Ihre Türen zu öffnen.' },
  { browser: 'fr-FR', lang: 'en-AU', greeting: 'Sign in to open the doors that are yours.' },
  { browser: 'en-GB', lang: 'en-AU', greeting: 'Sign in to open the doors that are yours.' },
  { browser: 'en-US', lang: 'en-US', greeting: 'Sign in to open the doors that are yours.' },
]

describe.skipIf(!hasBrowser())(
  'the language of portal and console',
  { timeout: journeyTime, retry: 1 },
  () => {
    let site: BrowserSite
    let browser: TestBrowser
    const visitors: Visitor[] = []

    beforeAll(async () => {
      site = await openBrowserSite({ kind: 'gate' })
      browser = await startBrowser()
      await site.seed({ name: knocName, user: robin })
    }, journeyTime)
    afterEach(async () => {
      for (const visitor of visitors.splice(0)) await visitor.leave()
      browser.checkFaults()
    })
    afterAll(async () => {
      await browser?.close()
      await site?.close()
    }, patience)

    async function visit(locale: string): Promise<Visitor> {
      const visitor = await browser.visit(site.arena.serverUrl, { locale })
      visitor.page.setDefaultTimeout(patience)
      visitors.push(visitor)
      return visitor
    }

    /** Nothing English on the screen, nothing cut off, wide and narrow. */
    async function expectGerman(page: Page): Promise<void> {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 })
        expect(await englishOn(page)).toEqual([])
        expect(await cutOff(page)).toEqual([])
        expect(await findBarriers(page)).toEqual([])
      }
      expect(await page.evaluate(() => document.documentElement.lang)).toBe('de')
    }

    async function signInGerman(page: Page, login: { userName: string; password: string }): Promise<void> {
      await page.getByLabel('Benutzername').fill(login.userName)
      await page.getByLabel('Passwort', { exact: true }).fill(login.password)
      await page.getByRole('button', { name: 'Anmelden', exact: true }).click()
    }

    it.each(chosen)(
      'is $lang for a browser that wants $browser',
      async ({ browser: locale, lang, greeting }) => {
        const { page } = await visit(locale)
        await page.goto('/')
        await page.getByText(greeting).waitFor()
        expect(await page.evaluate(() => document.documentElement.lang)).toBe(lang)
        expect((await englishOn(page)).length > 0).toBe(lang !== 'de')
      },
    )

    it('is en-AU when the texts can’t be loaded, and nobody is told', async () => {
      const { page, expectFault } = await visit('de-DE')
      expectFault(/ERR_FAILED/)
      await page.route(/\/assets\/de[.-][^/]*\.js$/, (route) => route.abort())
      await page.goto('/')
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
      expect(await page.evaluate(() => document.documentElement.lang)).toBe('en-AU')
      expect(await page.getByRole('alert').count()).toBe(0)
      expect(await page.getByRole('log').innerText()).toBe('')
    })

    it('costs the portal no text of the console, and no other language', async () => {
      const { page } = await visit('de-DE')
      const loaded: string[] = []
      page.on('response', (response) => {
        if (response.url().endsWith('.js')) void response.text().then((text) => loaded.push(text))
      })
      await page.goto('/')
      await page.getByRole('button', { name: 'Anmelden', exact: true }).waitFor()
      const all = () => loaded.join('\n')
      await eventually(all).toContain(german['login.lead'])
      expect(all()).not.toContain(germanAdmin['admin.agents.lead'])
      expect(all()).not.toContain(englishAdmin['admin.agents.lead'])
      expect(all()).not.toContain('Unauthorized')
    })

    it('is German on the login, with what is refused there', async () => {
      const { page, expectFault } = await visit('de-DE')
      await page.goto('/')
      await page.getByRole('button', { name: 'Anmelden', exact: true }).waitFor()
      await eventually(() => page.title()).toBe('Anmelden · Knoc')
      await expectGerman(page)

      expectFault(/^console \/api\/login: .*401/)
      await signInGerman(page, { ...robin, password: 'not the password' })
      await page.getByText('Ungültige Anmeldedaten').waitFor()
      await expectGerman(page)
    })

    it('is German on the dashboard, with times and the change of the password', async () => {
      const { page } = await visit('de-DE')
      await page.goto('/')
      await signInGerman(page, robin)
      await heading(page, 'Hallo, Robin Reed').waitFor()
      const card = entry(page, knocName)
      await card.getByRole('button', { name: `Zugriff auf ${knocName} gewähren` }).click()
      await card.getByText(/^Zugriff für (\d+ Minuten|\d+ Stunden|\d+ Std\. \d+ Min\.)$/).waitFor()
      await card.getByText(/^Offen, (geprüft|gemeldet) vor \d+(,\d)? s$/).waitFor()
      await expectGerman(page)
      await card.getByRole('button', { name: `Zugriff auf ${knocName} entziehen` }).click()
      await card.getByRole('button', { name: `Zugriff auf ${knocName} gewähren` }).waitFor()
      await expectGerman(page)

      await page.setViewportSize({ width: 1440, height: 800 })
      await page.getByRole('button', { name: 'Passwort ändern' }).click()
      const dialog = page.getByRole('dialog', { name: 'Passwort ändern' })
      await dialog.getByLabel('Neues Passwort', { exact: true }).fill('kurz')
      await dialog.getByLabel('Neues Passwort bestätigen').fill('anders')
      await dialog.getByText('Sehr schwach').or(dialog.getByText('Schwach')).first().waitFor()
      await dialog.getByRole('button', { name: 'Passwort ändern' }).click()
      await dialog.getByText('Das Passwort muss 8 bis 64 Zeichen lang sein').waitFor()
      await dialog.getByText('Die Passwörter stimmen nicht überein').waitFor()
      await expectGerman(page)
    })

    it('is German in the console: home, agents, users, knocs, settings and their forms', async () => {
      const { page } = await visit('de-DE')
      await page.goto('/admin/login')
      await page.getByRole('button', { name: 'Anmelden', exact: true }).waitFor()
      await expectGerman(page)
      await signInGerman(page, admin)
      await heading(page, 'Übersicht').waitFor()
      // Rows of the audit log have come.
      await page.getByText('Administrator angemeldet').first().waitFor()
      await expectGerman(page)

      for (const [path, title, shown] of [
        ['agents', 'Agents', 'edge'],
        ['knocs', 'Knocs', knocName],
        ['users', 'Benutzer', 'Robin Reed'],
        ['groups', 'Gruppen', 'Noch keine Gruppen'],
        ['admins', 'Administratoren', 'root'],
        ['settings', 'Einstellungen', 'Lizenz'],
      ] as const) {
        await page.goto(`/admin/${path}`)
        await heading(page, title).waitFor()
        await page.getByRole('main').getByText(shown).filter({ visible: true }).first().waitFor()
        await eventually(() => page.title()).toBe(`${title} · Knoc`)
        await expectGerman(page)
      }

      await page.setViewportSize({ width: 1440, height: 800 })
      await page.goto('/admin/users')
      await page.getByRole('button', { name: 'Benutzer erstellen' }).first().click()
      const dialog = page.getByRole('dialog', { name: 'Benutzer erstellen' })
      await dialog.getByRole('button', { name: 'Benutzer erstellen' }).click()
      await dialog.getByText('Pflichtfeld').first().waitFor()
      await expectGerman(page)
    })
  },
)

const germanTexts = new Set<string>([...Object.values(german), ...Object.values(germanAdmin)])

/** The English texts that no German one equals, as patterns of what they become; the longest first. */
const englishPatterns = [...Object.values(english), ...Object.values(englishAdmin)]
  .filter((text) => !germanTexts.has(text) && /[a-z]{3}/i.test(text.replaceAll(/\{\{[^}]*\}\}/g, '')))
  .map((text) => {
    const fixed = text.split(/\{\{[^}]*\}\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${fixed.join('.+')}$`)
  })

/** What the screen, or a screen reader, says in the words of the English catalogue. */
async function englishOn(page: Page): Promise<string[]> {
  const said = await page.evaluate(() => {
    const found = [document.title]
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode())
      if (walker.currentNode.parentElement?.closest('script, noscript, style') === null)
        found.push(walker.currentNode.textContent ?? '')
    for (const name of ['aria-label', 'aria-description', 'title', 'placeholder', 'alt'])
      for (const element of document.querySelectorAll(`[${name}]`))
        found.push(element.getAttribute(name) ?? '')
    return found
  })
  const texts = said.map((text) => text.trim().replace(/[\s:.]+$/, '')).filter((text) => text !== '')
  if (!texts.some((text) => germanTexts.has(text))) return ['nothing German at all', ...texts]
  return texts.filter((text) =>
    englishPatterns.some((pattern) => pattern.test(text) || pattern.test(`${text}.`)),
  )
}

/** Text that reaches beyond what it stands in: a button, a card, the window. Code may be scrolled. */
const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const text = walker.currentNode
      const parent = text.parentElement
      if (!text.textContent?.trim() || !parent?.checkVisibility() || parent.closest('pre, code, noscript'))
        continue
      const range = document.createRange()
      range.selectNodeContents(text)
      const { left, right } = range.getBoundingClientRect()
      for (let box: Element | null = parent; box !== null; box = box.parentElement) {
        const { overflowX, textOverflow, clipPath } = getComputedStyle(box)
        const edges = box.getBoundingClientRect()
        // Shortened on purpose, or only for screen readers.
        if (textOverflow === 'ellipsis' || clipPath !== 'none') break
        const isEdge = box.matches('button, a, th, td, [role="button"]') || overflowX !== 'visible'
        if (isEdge && (right > edges.right + 1 || left < edges.left - 1)) {
          found.push(`${text.textContent} (in ${box.tagName} ${box.className.slice(0, 40)})`)
          break
        }
      }
    }
    return found
  })

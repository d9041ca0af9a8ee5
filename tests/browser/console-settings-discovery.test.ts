import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SettingsAnswer } from '#server/settings/setting.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { aKnoc, anAgent } from '#tests/support/builders.ts'
import { findBarriers } from './accessibility.ts'
import { goTo, heading, signInAdmin } from './acts.ts'
import { eventually, journeyTime } from './patience.ts'

describe.skipIf(!hasBrowser())('Settings → Discovery', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let boss: Visitor
  let page: Page
  let knocId: string

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    const agentId = await anAgent(site.db, 'edge')
    const knoc = await aKnoc(site.db, { agentId, description: 'Wiki', maximumGrantSeconds: 3600 })
    knocId = knoc.aclId
    browser = await startBrowser()
    boss = await browser.visit(site.arena.serverUrl)
    page = boss.page
    page.setDefaultTimeout(30_000)
    await signInAdmin(page, admin)
  }, 120_000)
  beforeEach(async () => {
    const initial = { DiscoverIP: false, DiscoverIPURL: '', TrustDiscoveryClaims: false }
    await site.api.request('POST', '/admin/settings/config', initial)
    await page.goto('/admin/home')
    await goTo(page, 'Settings')
    await form().waitFor()
  })
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  const form = (name = 'Discovery') => page.getByRole('form', { name, exact: true })
  const save = () => form().getByRole('button', { name: 'Save' })
  const url = () => form().getByRole('textbox', { name: /^Lookup service/ })
  const said = (text: string) => page.getByRole('log').getByText(text, { exact: true }).first().waitFor()
  const stored = () => site.api.request<SettingsAnswer>('GET', '/admin/settings')
  const asked = () => page.getByRole('alertdialog', { name: 'Leave without saving?' })

  it('is switched on, and says what each lookup port is for', async () => {
    for (const port of ['443', '222', '3389', '8000'])
      await form()
        .getByRole('term')
        .filter({ hasText: new RegExp(`^${port}$`) })
        .waitFor()
    expect(await save().isDisabled()).toBe(true)
    await form().getByRole('switch', { name: 'Discover addresses' }).click()
    await save().click()
    await said('Settings updated')
    await eventually(() => save().isDisabled()).toBe(true)
    expect(await stored()).toMatchObject({ DiscoverIP: true, DiscoverIPURL: '' })
  })

  it('takes another lookup service by http or https, and says what trusting it means', async () => {
    await url().fill('ftp://discover.example')
    await save().click()
    await form().getByText('URL must be http or https').waitFor()
    await eventually(() => url().evaluate((field) => field === document.activeElement)).toBe(true)
    await url().fill('https://me:secret@discover.example')
    await save().click()
    await eventually(() => url().getAttribute('aria-invalid')).toBe('true')
    await url().fill('https://discover.example')
    expect(await form().getByText('Users can then name addresses that aren’t theirs').count()).toBe(0)
    await form().getByLabel('Trust what browsers say').check()
    await form().getByText('Users can then name addresses that aren’t theirs').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await save().click()
    await said('Settings updated')
    expect(await stored()).toMatchObject({
      DiscoverIP: false,
      DiscoverIPURL: 'https://discover.example',
      TrustDiscoveryClaims: true,
    })
    await url().fill('')
    await save().click()
    await eventually(async () => (await stored()).DiscoverIPURL).toBe('')
  })

  it('is explained by its documentation', async () => {
    const link = page.getByRole('link', { name: 'Documentation' })
    expect(await link.getAttribute('href')).toBe('/docs/discovery')
    const opened = boss.context.waitForEvent('page')
    await link.click()
    const docs = await opened
    await heading(docs, 'Discovery').waitFor()
    await docs.close()
  })

  it('controls whether ‘Open to CGNAT’ shows in a knoc’s options', async () => {
    const openOptions = async () => {
      await goTo(page, 'Knocs')
      await page.goto(`/admin/knocs/${knocId}/update`)
      await page.getByRole('tab', { name: 'Knoc options' }).click()
      await page.getByRole('switch', { name: 'Click to grant' }).waitFor()
    }
    await openOptions()
    expect(await page.getByRole('switch', { name: 'Open to CGNAT' }).count()).toBe(0)
    await goTo(page, 'Settings')
    await form().getByRole('switch', { name: 'Discover addresses' }).click()
    await save().click()
    await said('Settings updated')
    await openOptions()
    await page.getByRole('switch', { name: 'Open to CGNAT' }).click()
    expect(await page.getByRole('switch', { name: 'Open to CGNAT' }).getAttribute('aria-checked')).toBe(
      'true',
    )
    await page.getByRole('radio', { name: 'Specified addresses' }).click()
    expect(await page.getByRole('switch', { name: 'Open to CGNAT' }).count()).toBe(0)
  })

  it('asks before Back leaves what isn’t saved, as a link does', async () => {
    await url().fill('https://typed.example')
    await page.goBack()
    await asked().getByRole('button', { name: 'Cancel' }).click()
    await asked().waitFor({ state: 'hidden' })
    expect([new URL(page.url()).pathname, await url().inputValue()]).toEqual([
      '/admin/settings',
      'https://typed.example',
    ])
    await page.goBack()
    await asked().getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'Home').waitFor()
    expect(new URL(page.url()).pathname).toBe('/admin/home')
    expect(await stored()).toMatchObject({ DiscoverIPURL: '' })
  })

  it('lets Back go at once when what was typed is saved or taken back', async () => {
    for (const end of ['Cancel', 'Save']) {
      await url().fill('https://typed.example')
      await form().getByRole('button', { name: end }).click()
      await eventually(() => save().isDisabled()).toBe(true)
      // The button is out of reach while it is saved, too.
      await eventually(() => page.evaluate(() => history.state)).toEqual({ unsaved: 'spent' })
      await page.goBack()
      await heading(page, 'Home').waitFor()
      expect(await asked().count()).toBe(0)
      await goTo(page, 'Settings')
      await form().waitFor()
    }
  })

  it('leaves no step behind that Back would have to take twice', async () => {
    await url().fill('https://typed.example')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click()
    await asked().getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'Users').waitFor()
    await page.goBack()
    await heading(page, 'Settings').waitFor()
    await page.goBack()
    await heading(page, 'Home').waitFor()
  })

  it('stands without barriers at every width', async () => {
    for (const width of [1440, 768, 320]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await findBarriers(page), `at ${width} px`).toEqual([])
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  })
})

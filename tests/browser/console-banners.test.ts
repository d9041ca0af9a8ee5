import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { findBarriers } from './accessibility.ts'
import { goTo, heading, signInAdmin } from './acts.ts'
import { eventually, journeyTime } from './patience.ts'

const day = 86_400_000

describe.skipIf(!hasBrowser())('the banners of the console', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let boss: Visitor
  let page: Page

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    const { ID } = await site.api.request<{ ID: string }>('POST', '/admin/agents', { Name: 'edge' })
    await site.db.updateTable('agents').set({ version: '1.0.0' }).where('id', '=', ID).execute()
    for (const UserName of ['one', 'two'])
      await site.api.request('POST', '/admin/users', {
        Name: UserName,
        UserName,
        PlainPassword: 'a password of users 1',
      })
    await site.db
      .updateTable('licences')
      .set({ userLimit: 1, expiresAt: new Date(Date.now() + 10 * day) })
      .execute()
    browser = await startBrowser()
  }, 120_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  const dismissals = () => page.getByRole('main').getByRole('button', { name: 'Dismiss' })
  const banner = () =>
    page
      .getByRole('main')
      .locator('[role="status"], [role="alert"]', { has: page.getByRole('button', { name: 'Dismiss' }) })
  /** The title of the one that shows, none or many. */
  const titles = async () => (await banner().allInnerTexts()).map((text) => text.split('\n')[0])
  const shows = (...expected: (string | RegExp)[]) =>
    eventually(titles).toEqual(expected.map((title) => expect.stringMatching(title)))
  const dismiss = () => dismissals().click()

  it('show one at a time in each screen’s order, and what is dismissed stays so for the page session', async () => {
    boss = await browser.visit(site.arena.serverUrl)
    page = boss.page
    page.setDefaultTimeout(30_000)
    await signInAdmin(page, admin)
    await shows(/^The license expires in (9|10) days$/)
    expect(await banner().innerText()).toMatch(/Renew the license and enter the new key in Settings/)
    await heading(page, 'Home').waitFor()
    expect(await findBarriers(page)).toEqual([])

    await goTo(page, 'Groups')
    await shows(/^An incompatible agent version/)
    await dismiss()
    await shows(/^User License Limit Exceeded$/)
    expect(await banner().innerText()).toMatch(/Upgrade it, or delete users/)
    await dismiss()
    await shows(/^Licensed user limit reached$/)
    await goTo(page, 'Agents')
    await shows()
    await goTo(page, 'Users')
    await shows(/^Licensed user limit reached$/)
    await dismiss()
    await shows()

    await goTo(page, 'Home')
    await shows(/^The license expires in (9|10) days$/)
    await dismiss()
    await shows()
    await page.reload()
    await heading(page, 'Home').waitFor()
    await shows()
  })

  it('show one of another kind although others were dismissed, and say where it is mended', async () => {
    await site.db.updateTable('licences').set({ removedAt: new Date() }).execute()
    await page.reload()
    await shows(/^This installation has no license$/)
    await banner().getByRole('link', { name: 'Open Settings' }).click()
    await heading(page, 'Settings').waitFor()
    await shows(/^This installation has no license$/)
    expect(await banner().getByRole('link', { name: 'Open Settings' }).count()).toBe(0)
    await dismiss()
    await shows()
  })

  it('come back in another page session', async () => {
    page = await boss.tab()
    await page.goto('/admin/home')
    await shows(/^This installation has no license$/)
    await dismiss()
    await shows(/^An incompatible agent version/)
  })
})

import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { entry, heading, isSameDocument, markDocument, reads, submitLogin } from './acts.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const robin = { userName: 'robin', password: 'a password of users 1' }
const knocName = 'Payroll'

/** Titles are the rules of portal §2 (routes), §8, §9 and of decision 35. */
describe.skipIf(!hasBrowser())('the portal’s platform', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    await site.seed({ name: knocName, user: robin })
    browser = await startBrowser()
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  async function visit(): Promise<Visitor> {
    const visitor = await browser.visit(site.arena.serverUrl)
    visitor.context.setDefaultTimeout(patience)
    visitor.expectFault(/^console \/api\/(login|status|events|theme|otp)\b.*\b(4\d\d|500)\b/)
    return visitor
  }

  /** Somebody with a second factor to set up. */
  async function anEnrollee() {
    const userName = `u${randomBytes(5).toString('hex')}`
    const { password } = robin
    const body = { Name: 'Ada Lovelace', UserName: userName, PlainPassword: password, TOTPEnabled: true }
    await site.api.request('POST', '/admin/users', body)
    return { userName, password }
  }

  const atLogin = (page: Page) => heading(page, 'Sign in').waitFor()
  const atHome = (page: Page) => heading(page, /^Hello/).waitFor()

  describe('routes', () => {
    it.each([
      ['/nowhere', '/', 'Sign in · Knoc', 'portal'],
      ['/home/nowhere', '/', 'Sign in · Knoc', 'portal'],
      ['/administration', '/', 'Sign in · Knoc', 'portal'],
      ['/admin', '/admin/login', 'Admin login · Knoc', 'console'],
      ['/admin/nowhere', '/admin/login', 'Admin login · Knoc', 'console'],
    ])('%s leads to %s, with a title and a favicon of its own', async (path, end, title, icon) => {
      const { page, leave } = await visit()
      await page.goto(path)
      await page.waitForURL((url) => url.pathname === end)
      await eventually(() => page.title()).toBe(title)
      expect(await page.getAttribute('link[rel="icon"]', 'href')).toBe(`/favicon-${icon}.svg`)
      await leave()
    })

    it.each([
      ['err.accountDisabled', 'Error: Your account is disabled, contact an admin'],
      ['err.sessionExpired', 'Error: Your session has expired, log in again for renewed access'],
      ['err.unheardOf', 'Error: Signing in did not work, try again or contact an admin'],
      ['<img src=x onerror=alert(1)>', 'Error: Signing in did not work, try again or contact an admin'],
      ['login.title', 'Error: Signing in did not work, try again or contact an admin'],
    ])(
      'a query parameter ‘error’ on the login page is shown as a translated message: %s',
      async (code, text) => {
        const { page, leave } = await visit()
        await page.goto(`/?error=${encodeURIComponent(code)}`)
        await reads(page.getByRole('alert'), text, patience)
        expect(await page.locator('img[src="x"]').count()).toBe(0)
        await leave()
      },
    )
  })

  describe('JsBundleHash', () => {
    /** Answers the system status with these hashes, one after the other, the last for ever; counts the answers. */
    async function naming(page: Page, hashes: () => string) {
      let answers = 0
      const status = await site.api.request<object>('GET', '/system_status')
      await page.route('**/api/system_status', async (route) => {
        answers += 1
        await route.fulfill({ json: { data: { ...status, JsBundleHash: hashes() } } })
      })
      return { answers: () => answers }
    }
    /** Lets the page's clock go on by a minute and a bit, which makes it look again, and waits for the answer. */
    async function aMinuteLater(page: Page, { answers }: { answers: () => number }): Promise<void> {
      const before = answers()
      // Again while the page hasn't taken in the answer before.
      await expect
        .poll(
          async () => {
            await page.clock.fastForward(62_000)
            return answers()
          },
          { timeout: patience, interval: 500 },
        )
        .toBeGreaterThan(before)
    }
    const offer = (page: Page) => page.getByText('A new version is ready')

    it('after every navigation the system status is fetched', async () => {
      const { page, leave } = await visit()
      const { answers } = await naming(page, () => '')
      await page.goto('/')
      await atLogin(page)
      await submitLogin(page, robin)
      await atHome(page)
      const before = answers()
      expect(before).toBeGreaterThanOrEqual(2)
      await page.evaluate(() => history.pushState(null, '', '/home'))
      await eventually(answers).toBeGreaterThan(before)
      await leave()
    })

    it('two answers 60 s apart that name the same other hash reload the page, once', async () => {
      const { page, leave } = await visit()
      await page.clock.install()
      const status = await naming(page, () => 'other')
      await page.goto('/')
      await atLogin(page)
      await markDocument(page)
      await eventually(status.answers).toBeGreaterThanOrEqual(1)
      expect(await isSameDocument(page)).toBe(true)
      await aMinuteLater(page, status)
      await eventually(() => isSameDocument(page).catch(() => true)).toBe(false)
      await atLogin(page)
      // The server still names another hash than the page has: it isn't loaded again.
      await markDocument(page)
      await aMinuteLater(page, status)
      await offer(page).waitFor()
      await aMinuteLater(page, status)
      expect(await isSameDocument(page)).toBe(true)
      await leave()
    })

    it('two hashes in turn never loop', async () => {
      const { page, leave } = await visit()
      await page.clock.install()
      let turn = 0
      const status = await naming(page, () => (turn++ % 2 === 0 ? 'one' : 'two'))
      await page.goto('/')
      await atLogin(page)
      await markDocument(page)
      for (let minute = 0; minute < 4; minute += 1) await aMinuteLater(page, status)
      expect(await isSameDocument(page)).toBe(true)
      expect(await offer(page).count()).toBe(0)
      await leave()
    })

    it('never over a dirty form: a bar offers it', async () => {
      const { page, leave } = await visit()
      await page.clock.install()
      const status = await naming(page, () => 'other')
      await page.goto('/')
      await atLogin(page)
      await markDocument(page)
      await page.getByLabel('Username').fill('robin')
      await aMinuteLater(page, status)
      await offer(page).waitFor()
      expect(await page.getByLabel('Username').inputValue()).toBe('robin')
      expect(await isSameDocument(page)).toBe(true)
      await page.getByRole('button', { name: 'Reload' }).click()
      await eventually(() => isSameDocument(page).catch(() => true)).toBe(false)
      await leave()
    })
  })

  it('theme fetch failure falls back to accent grape and high accessibility false', async () => {
    const { page, leave } = await visit()
    const themeOf = () =>
      page.evaluate(() => {
        const { accent, contrast } = document.documentElement.dataset
        return { accent, contrast }
      })
    await page.route('**/api/theme', (route) =>
      route.fulfill({
        json: { data: { Accent: 'teal', HighAccessibility: true, Logo: null, LightModeLogo: null } },
      }),
    )
    await page.goto('/')
    await atLogin(page)
    await eventually(themeOf).toEqual({ accent: 'teal', contrast: 'high' })
    await page.unroute('**/api/theme')
    await page.route('**/api/theme', (route) => route.fulfill({ status: 500, json: { Err: 'err.internal' } }))
    await page.reload()
    await atLogin(page)
    expect(await themeOf()).toEqual({ accent: 'grape', contrast: 'normal' })
    await leave()
  })

  it('tooltip delay 200 ms, copy feedback 750 ms', async () => {
    const { page, context, leave } = await visit()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('/')
    await submitLogin(page, await anEnrollee())
    await page.waitForURL('**/otp/onboard')
    const copy = page.getByRole('button', { name: 'Copy the secret' })
    await copy.waitFor()
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    const bubble = page.locator('body > div[aria-hidden="true"]', { hasText: 'Colours follow the system' })
    await page.getByRole('button', { name: 'Colours follow the system' }).hover()
    await page.clock.runFor(199)
    expect(await bubble.count()).toBe(0)
    await page.clock.runFor(1)
    await bubble.waitFor()

    await copy.click()
    const copied = page.getByRole('button', { name: 'Copied' })
    await copied.waitFor()
    await page.clock.runFor(749)
    expect(await copied.count()).toBe(1)
    await page.clock.runFor(1)
    await copied.waitFor({ state: 'hidden' })
    await leave()
  })

  describe('?referrer= returns the user to the page that sent them', () => {
    const back = () => `${site.arena.doorUrl}reports/today?month=11#sums`
    const openDoor = (page: Page) =>
      entry(page, knocName)
        .getByRole('button', { name: /^Grant Access/ })
        .click()
    const shutDoor = async (page: Page) => {
      await entry(page, knocName)
        .getByRole('button', { name: /^Revoke Access/ })
        .click()
      await entry(page, knocName)
        .getByRole('button', { name: /^Grant Access/ })
        .waitFor()
    }

    it('after sign-in and the click that opens the entry, once; kept over what lies between', async () => {
      const { page, leave, expectFault } = await visit()
      expectFault(new RegExp(`^(console|request GET) ${site.arena.doorUrl}`))
      await page.goto(`/?referrer=${encodeURIComponent(back())}`)
      await atLogin(page)
      // Not in the address any more, nor lost where an identity provider would be.
      expect(page.url()).toBe(`${site.arena.serverUrl}/`)
      await page.goto('about:blank')
      await page.goto('/')
      await submitLogin(page, robin)
      await atHome(page)
      const { host } = new URL(site.arena.doorUrl)
      await page.getByText(`Open ${knocName} to go back to ${host}`).waitFor()
      await openDoor(page)
      await page.waitForURL(back())
      await page.getByText('You came through').waitFor()

      // Back here it doesn't go again, not even when the page sends somebody here at once.
      await page.goto('/')
      await atHome(page)
      await markDocument(page)
      await entry(page, knocName)
        .getByRole('button', { name: /^Revoke Access/ })
        .waitFor()
      await page.goto(`/?referrer=${encodeURIComponent(back())}`)
      await page.getByText(`${knocName} is open. ${host} has sent you here before`).waitFor()
      await page.getByRole('button', { name: 'Go back' }).click()
      await page.waitForURL(back())
      await page.goto('/')
      await atHome(page)
      await shutDoor(page)
      await page.getByRole('button', { name: 'Log out' }).click()
      await atLogin(page)
      expect(await page.evaluate(() => sessionStorage.getItem('referrer'))).toBeNull()
      await leave()
    })

    it.each(['https://evil.example/phish', 'http://127.0.0.1@evil.example/', 'javascript:alert(1)'])(
      'only when it is the base of one of their entries: %s is dropped',
      async (given) => {
        const { page, leave } = await visit()
        await page.goto(`/?referrer=${encodeURIComponent(given)}`)
        await submitLogin(page, robin)
        await atHome(page)
        if (given.startsWith('https://'))
          await page.getByText("The page that sent you here isn't one of your entries").waitFor()
        await openDoor(page)
        await entry(page, knocName)
          .getByRole('button', { name: /^Revoke Access/ })
          .waitFor()
        await shutDoor(page)
        expect(new URL(page.url()).pathname).toBe('/home/new')
        expect(await page.evaluate(() => sessionStorage.getItem('referrer'))).toBeNull()
        await leave()
      },
    )
  })
})

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { findBarriers, focusOf, moveTo } from './accessibility.ts'
import { entry, heading, isSameDocument, markDocument, reads, signIn, submitLogin } from './acts.ts'
import { createCodeApp } from './codes.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const password = 'a password of users 1'
const knocName = 'Payroll'
const robin = { userName: 'robin', password }

/** Accounts with a password; those of identity providers stand in single-sign-on.test.ts. */
describe.skipIf(!hasBrowser() || !requireProgram('oathtool'))(
  'staying signed in',
  { timeout: journeyTime, retry: 1 },
  () => {
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
      visitor.expectFault(/^console \/api\/(login|status|events|otp|sessions)\b.*\b4(01|03|09|22|29)\b/)
      return visitor
    }

    /** Lets the sessions of a user end in so many minutes. */
    const endIn = (minutes: number, userName = robin.userName) =>
      site.db
        .updateTable('sessions')
        .set({ endsAt: new Date(Date.now() + minutes * 60_000) })
        .where('userId', 'in', (from) =>
          from.selectFrom('users').select('id').where('userName', '=', userName),
        )
        .where('endedAt', 'is', null)
        .execute()

    const timer = (page: Page) => page.getByRole('timer', { name: 'Time left in this session' })
    const line = (page: Page) => page.getByRole('region', { name: 'End of the session' })
    const warning = (page: Page) => page.getByRole('dialog', { name: /^Your session ends in/ })
    const question = (page: Page) => page.getByRole('dialog', { name: 'Stay signed in' })
    const stay = (page: Page) => question(page).getByRole('button', { name: 'Stay signed in' })
    const isWhole = (page: Page) => eventually(() => timer(page).innerText()).toMatch(/^0[78]:/)

    it('says nothing while there is time, then a quiet line, then a dialog that takes no focus', async () => {
      const { page, leave } = await visit()
      await signIn(page, robin)
      await entry(page, knocName).waitFor()
      expect(await line(page).count()).toBe(0)
      await endIn(10)
      await page.reload()
      await line(page).waitFor()
      expect(await line(page).innerText()).toMatch(/Your session ends in \d+ minutes/)
      expect(await warning(page).count()).toBe(0)
      expect(await findBarriers(page)).toEqual([])

      await page.getByRole('button', { name: 'Change password' }).click()
      const field = page.getByLabel('Current password')
      await field.fill('typ')
      await endIn(4)
      // The page looks again when it is returned to.
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      await page.getByRole('dialog', { name: /^Your session ends in/, includeHidden: true }).waitFor()
      await page.keyboard.type('ed on')
      expect(await field.inputValue()).toBe('typed on')
      await page.keyboard.press('Escape')
      await warning(page).waitFor()
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await findBarriers(page), `at ${width} px`).toEqual([])
      }
      await warning(page).getByRole('button', { name: 'Not now' }).click()
      await warning(page).waitFor({ state: 'hidden' })
      await line(page).waitFor()
      await leave()
    })

    it('takes the password over the page, which stays with everything on it, in every tab', async () => {
      const visitor = await visit()
      const { page } = visitor
      await signIn(page, robin)
      await entry(page, knocName)
        .getByRole('button', { name: /^Grant Access/ })
        .click()
      await reads(entry(page, knocName), /Access for/, patience)
      expect(await site.isReachable()).toBe(true)
      await endIn(3)
      await page.reload()
      await warning(page).waitFor()
      const tab = await visitor.tab()
      await tab.goto('/home/new')
      await entry(tab, knocName).waitFor()
      await Promise.all([page, tab].map(markDocument))
      const before = await visitor.context.cookies()

      await page.bringToFront()
      await warning(page).getByRole('button', { name: 'Stay signed in' }).click()
      await stay(page).click()
      await question(page).getByText('Required').waitFor()
      await question(page).getByLabel('Password', { exact: true }).fill('not the password')
      await stay(page).click()
      await question(page).getByText('Error: Invalid credentials').waitFor()
      expect(await question(page).getByLabel('Code', { exact: true }).count()).toBe(0)
      expect(await findBarriers(page)).toEqual([])
      await question(page).getByLabel('Password', { exact: true }).fill(password)
      await stay(page).click()
      await page.getByText(/You are signed in until/).waitFor()
      for (const one of [page, tab]) {
        await isWhole(one)
        await warning(one).waitFor({ state: 'hidden' })
        expect(await isSameDocument(one)).toBe(true)
        await reads(entry(one, knocName), /Access for/, patience)
      }
      // The door stays open for the new session, and closes with it; the old cookie is good for nothing.
      expect(await site.isReachable()).toBe(true)
      const old = await browser.visit(site.arena.serverUrl)
      await old.context.addCookies(before)
      expect((await old.context.request.get('/api/status')).status()).toBe(401)
      await old.leave()
      await tab.getByRole('button', { name: 'Log out' }).click()
      await heading(tab, 'Sign in').waitFor()
      await heading(page, 'Sign in').waitFor()
      await eventually(site.isReachable).toBe(false)
      await visitor.leave()
    })

    it('goes by the keyboard alone, with a code where there is a second factor', async () => {
      await site.api.request('POST', '/admin/users', {
        Name: 'Ada Lovelace',
        UserName: 'ada',
        PlainPassword: password,
        TOTPEnabled: true,
      })
      const { page, leave } = await visit()
      await page.goto('/')
      await submitLogin(page, { userName: 'ada', password })
      await page.waitForURL('**/otp/onboard')
      const secret = await page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).innerText()
      const app = createCodeApp(secret.replaceAll(' ', ''))
      await page.getByLabel('Code', { exact: true }).fill(await app.next())
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.getByLabel('I have kept them').check()
      await page.getByRole('button', { name: 'Continue' }).click()
      await heading(page, /^Hello/).waitFor()
      await endIn(3, 'ada')
      await page.reload()
      await warning(page).waitFor()
      await markDocument(page)
      await moveTo(page, 'Stay signed in')
      await page.keyboard.press('Enter')
      await eventually(async () => (await focusOf(page)).name).toBe('Password')
      await page.keyboard.type(password)
      await moveTo(page, 'Code')
      await page.keyboard.type(app.last())
      await page.keyboard.press('Enter')
      await question(page).getByText('Error: Invalid code').waitFor()
      await eventually(async () => (await focusOf(page)).name).toBe('Code')
      await page.keyboard.type(await app.next())
      await page.keyboard.press('Enter')
      await isWhole(page)
      expect(await isSameDocument(page)).toBe(true)
      await leave()
    })

    it('is not offered on a public computer, nor where the account itself ends', async () => {
      const kiosk = await visit()
      await kiosk.page.goto('/')
      await kiosk.page.getByLabel('This is a public computer').check()
      await submitLogin(kiosk.page, robin)
      await heading(kiosk.page, /^Hello/).waitFor()
      await endIn(3)
      await kiosk.page.reload()
      await kiosk.page.getByText('Session ends soon').waitFor()
      await kiosk.page.waitForLoadState('networkidle')
      expect(await kiosk.page.getByText(/Your session ends in/).count()).toBe(0)
      await kiosk.leave()

      await site.api.request('POST', '/admin/users', {
        Name: 'Toni Tell',
        UserName: 'toni',
        PlainPassword: password,
        ValidUntil: new Date(Date.now() + 4 * 60_000).toISOString(),
      })
      const { page, leave } = await visit()
      await signIn(page, { userName: 'toni', password })
      await warning(page)
        .getByText(/Your account expires then/)
        .waitFor()
      expect(await page.getByRole('button', { name: 'Stay signed in' }).count()).toBe(0)
      await leave()
    })

    it('leads to the login with the reason when the time is over', async () => {
      const { page, leave } = await visit()
      await signIn(page, robin)
      await endIn(0.15)
      await page.reload()
      await page.getByText('Error: Your session has expired, log in again for renewed access').waitFor()
      expect(new URL(page.url()).pathname).toBe('/')
      expect(await page.evaluate(() => sessionStorage.getItem('userSession'))).toBeNull()
      await leave()
    })

    it('leads to the login when an admin ends every session', async () => {
      const { page, leave } = await visit()
      await signIn(page, robin)
      await entry(page, knocName).waitFor()
      await site.api.request('DELETE', '/admin/sessions')
      await heading(page, 'Sign in').waitFor()
      await leave()
    })
  },
)

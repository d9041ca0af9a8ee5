import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AclStatus, SystemStatus, Theme, UserStatus } from '#server/status/status.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { heading, submitLogin } from './acts.ts'
import { findBreaches } from './axe.ts'
import { changeAnswer } from './change-answer.ts'
import { createCodeApp } from './codes.ts'
import { manyEntries } from './many-entries.ts'
import { journeyTime, patience } from './patience.ts'

const password = 'a password of users 1'
const robin = { userName: 'robin', password }
const kim = { userName: 'kim', password }

/** Each state of each page: every rule of WCAG 2.2 AA, and what depends on colours in all twenty themes. */
describe.skipIf(!hasBrowser() || !requireProgram('oathtool'))(
  'axe finds no breach of WCAG 2.2 AA in the portal, in all 20 themes,',
  { timeout: journeyTime, retry: 1 },
  () => {
    let site: BrowserSite
    let browser: TestBrowser
    let visitor: Visitor
    let page: Page
    /** What answers of the server are changed to, so that a page shows a state that is rare. */
    let systemStatus: Partial<SystemStatus> = {}
    let status: Partial<UserStatus> = {}
    let theme: Partial<Theme> = {}
    const advice = new Set<string>()

    beforeAll(async () => {
      site = await openBrowserSite({ kind: 'gate' })
      for (const [name, { userName }, totp] of [
        ['Robin Reed', robin, false],
        ['Kim Code', kim, true],
      ] as const)
        await site.api.request('POST', '/admin/users', {
          Name: name,
          UserName: userName,
          PlainPassword: password,
          TOTPEnabled: totp,
        })
      browser = await startBrowser()
      // So tall that no entry is left undrawn below the window.
      const viewport = { width: 1280, height: 3_000 }
      visitor = await browser.visit(site.arena.serverUrl, { viewport })
      visitor.context.setDefaultTimeout(patience)
      visitor.expectFault(/^console \/api\/(login|status|events|otp|password|saml)\b.*\b4\d\d\b/)
      await visitor.context.route('**/api/system_status', (route) => change(route, systemStatus))
      await visitor.context.route('**/api/theme', (route) => change(route, theme))
      await visitor.context.route('**/api/saml/metadata', (route) => route.fulfill({ body: '<md/>' }))
      await visitor.context.route(/\/api\/status(\?|$)/, (route) => change(route, status))
      page = visitor.page
    }, 180_000)
    afterEach(() => browser.checkFaults())
    afterAll(async () => {
      if (advice.size > 0) console.warn(`axe advises beyond the standard:\n${[...advice].join('\n')}`)
      await browser?.close()
      await site?.close()
    }, 60_000)

    /** Answers as the server does, but for these fields. */
    const change = (route: Route, fields: object) =>
      changeAnswer<object>(route, (data) => ({ ...data, ...fields }))

    async function check(options?: { pointed?: boolean }): Promise<void> {
      const { breaches, advice: further } = await findBreaches(page, options)
      for (const line of further) advice.add(line)
      expect.soft(breaches).toEqual([])
    }

    /** The dashboard with this status. */
    async function showHome(fields: Partial<UserStatus>, path = '/home/new'): Promise<void> {
      status = fields
      await page.goto(path)
      // The dialog of the unlicensed leaves nothing beside it to be found.
      await page.locator('h1', { hasText: /^Hello, / }).waitFor()
    }
    const dialog = (name: string | RegExp) => page.getByRole('dialog', { name })
    const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()

    describe('signing in', () => {
      it('with name and password, with what was left out', async () => {
        await page.goto('/')
        await heading(page, 'Sign in').waitFor()
        await page.getByLabel('Username').waitFor()
        await check({ pointed: true })
        await press(/^Sign in$/)
        await page.getByText('Required').first().waitFor()
        await check()
      })

      it('with a reason in the address', async () => {
        await page.goto('/?error=err.sessionExpired')
        await page.getByText(/Your session has expired/).waitFor()
        await check()
      })

      it('with single sign-on and the local form open', async () => {
        systemStatus = { SAML: true, OIDC: true }
        await page.goto('/')
        await press('Use a local account')
        await page.getByLabel('Username').waitFor()
        await check({ pointed: true })
        systemStatus = {}
      })

      it('with a second factor: setting it up, its recovery codes, and its question', async () => {
        await page.goto('/')
        await submitLogin(page, kim)
        await heading(page, 'Set up your second factor').waitFor()
        await page.getByRole('img', { name: /QR/ }).waitFor()
        await check({ pointed: true })
        const secret = await page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).innerText()
        const code = page.getByLabel('Code', { exact: true })
        await code.fill(await createCodeApp(secret.replaceAll(' ', '')).next())
        await press('Verify')
        await page.getByRole('list', { name: 'Your recovery codes' }).waitFor()
        await check()
        await page.getByLabel('I have kept them').check()
        await press('Continue')
        await heading(page, /^Hello/).waitFor()
        await press('Log out')
        await heading(page, 'Sign in').waitFor()
        await submitLogin(page, kim)
        await heading(page, 'Second factor').waitFor()
        await check()
        await press('Use a recovery code')
        await check()
        await press('Back to login')
        await heading(page, 'Sign in').waitFor()
      })
    })

    describe('the dashboard', () => {
      const entries: AclStatus[] = manyEntries(25)

      it('without entries', async () => {
        await page.goto('/')
        await submitLogin(page, robin)
        await page.getByText('No access yet').waitFor()
        await check()
      })

      it('as cards, with every status', async () => {
        await showHome({ ACLs: entries })
        await page.getByRole('article').nth(24).waitFor()
        await press(/ to favourites$/)
        await check({ pointed: true })
      })

      it('as a list, with every status', async () => {
        await press('Show as list')
        await page.getByRole('table').first().waitFor()
        await check({ pointed: true })
      })

      it('searched, with and without a match', async () => {
        const search = page.getByLabel('Search your entries').first()
        await search.fill('finance 1')
        await page.getByText(/\d entr(y|ies) found/).waitFor()
        await check()
        await search.fill('nothing like it')
        await page.getByText('Nothing matches').waitFor()
        await check()
        await page.reload()
        await press('Show as cards')
      })

      it('without a license, for the installation and for the user', async () => {
        await showHome({ ACLs: entries.slice(0, 5), Licensed: false })
        await check()
        await showHome({ ACLs: entries.slice(0, 5), UserLicensed: false })
        await check()
      })

      it('through a proxy that nobody configured', async () => {
        await showHome({ ACLs: entries.slice(0, 4), UntrustedProxy: '192.0.2.9' })
        await page.getByText('192.0.2.9').waitFor()
        await check()
      })

      it('with an account that expires, and its session’s end near: the line, and the dialog', async () => {
        const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
        await showHome({
          ACLs: entries.slice(0, 4),
          Ends: inMinutes(10),
          ValidUntil: inMinutes(60 * 24 * 3),
        })
        await page.getByRole('region', { name: 'End of the session' }).waitFor()
        await check()
        await showHome({ ACLs: entries.slice(0, 4), Ends: inMinutes(4) })
        await dialog(/^Your session ends in/).waitFor()
        await check()
        await dialog(/^Your session ends in/)
          .getByRole('button', { name: 'Stay signed in' })
          .click()
        await dialog('Stay signed in').waitFor()
        await check()
      })

      it('with the timer that can be hidden', async () => {
        theme = { HighAccessibility: true }
        await showHome({ ACLs: entries.slice(0, 1) })
        await press('Hide timer')
        await check({ pointed: true })
        theme = {}
      })

      it('as the classic table, with every status, and without a license', async () => {
        await showHome({ ACLs: entries }, '/home')
        await page.getByRole('row').nth(25).waitFor()
        await check({ pointed: true })
        await showHome({ ACLs: entries.slice(0, 3), UserLicensed: false }, '/home')
        await page.getByRole('alertdialog').waitFor()
        await check()
      })

      it('with the change of the password, and its faults', async () => {
        await showHome({ ACLs: entries.slice(0, 1) })
        await press('Change password')
        await dialog('Change password').waitFor()
        await dialog('Change password').getByLabel('New password', { exact: true }).fill('short')
        await dialog('Change password').getByRole('button', { name: 'Change password' }).click()
        await page.getByText('Required').first().waitFor()
        await check({ pointed: true })
      })

      it('with the passkeys', async () => {
        await showHome({ ACLs: entries.slice(0, 1) })
        await press('Passkeys')
        await dialog('Passkeys').getByText('No passkeys yet').waitFor()
        await check()
      })
    })
  },
)

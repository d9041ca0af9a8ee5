import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { type SamlIdp, startSamlIdp } from '#tests/support/saml-idp.ts'
import { findBarriers, focusOf, moveTo } from './accessibility.ts'
import { enrol as enrolAt, heading, isFocused, logOutAdmin, signInAdmin, submitLogin } from './acts.ts'
import { eventually } from './patience.ts'

const password = 'a password of admins 1'

/** Names of admins that nobody else has. */
let count = 0

describe.skipIf(!hasBrowser() || !requireProgram('oathtool'))(
  'signing in to the console',
  { timeout: 120_000, retry: 1 },
  () => {
    let site: BrowserSite
    let browser: TestBrowser

    beforeAll(async () => {
      site = await openBrowserSite({ kind: 'gate' })
      browser = await startBrowser()
    }, 120_000)
    afterEach(() => browser.checkFaults())
    afterAll(async () => {
      await browser?.close()
      await site?.close()
    }, 60_000)

    async function anAdmin(fields: Record<string, unknown> = {}) {
      count += 1
      const userName = `grace${count}`
      const { ID } = await site.api.request<{ ID: string }>('POST', '/admin/admins', {
        Name: 'Grace Hopper',
        UserName: userName,
        AuthType: 'local',
        PlainPassword: password,
        ...fields,
      })
      return { id: ID, userName, password }
    }

    /** A visitor who is about to be refused what he has to be refused. */
    async function visit(options: Parameters<TestBrowser['visit']>[1] = {}): Promise<Visitor> {
      const visitor = await browser.visit(site.arena.serverUrl, options)
      visitor.page.setDefaultTimeout(30_000)
      visitor.expectFault(/^console \/api\/admin\/[\w/?=&-]*: .*\b4(01|03|09|22|29)\b/)
      return visitor
    }

    const codeField = (page: Page) => page.getByLabel('Code', { exact: true })
    /** Confirms the secret that is shown; ends in the console with its app and the recovery codes. */
    const enrol = (page: Page) => enrolAt(page, { onboard: '**/admin/otp/onboard', home: '**/admin/home' })

    async function typeCode(page: Page, code: string): Promise<void> {
      await codeField(page).fill(code)
      await page.getByRole('button', { name: 'Log in', exact: true }).click()
    }

    describe('without a session', () => {
      it('leads from everywhere to the login, with its title and favicon', async () => {
        const { page, leave } = await visit()
        for (const path of [
          '/admin',
          '/admin/home',
          '/admin/groups',
          '/admin/admins',
          '/admin/otp/verify',
          '/admin/otp/onboard',
          '/admin/nowhere',
        ]) {
          await page.goto(path)
          await page.waitForURL('**/admin/login')
          await heading(page, 'Admin login').waitFor()
        }
        await eventually(() => page.title()).toBe('Admin login · Knoc')
        await eventually(() => page.locator('link[rel="icon"]').getAttribute('href')).toBe(
          '/favicon-console.svg',
        )
        await leave()
      })

      it('says what the address says, in the catalogue’s words only', async () => {
        const { page, leave } = await visit()
        await page.goto('/admin/login?error=err.loginNotPermitted')
        await page.getByText('Error: Login not permitted').waitFor()
        await page.goto('/admin/login?error=Call%20555-0100%20now')
        await page.getByText('Error: Signing in did not work').waitFor()
        expect(await page.locator('body').innerText()).not.toContain('555')
        await leave()
      })

      it('asks for both fields, refuses what is wrong, and leaves nothing stored', async () => {
        const { page, leave } = await visit()
        await page.goto('/admin/login')
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await page.getByText('Required').first().waitFor()
        await eventually(() => isFocused(page, 'Username')).toBe(true)
        await submitLogin(page, { ...admin, password: 'not the password' })
        await page.getByText('Error: Invalid credentials').waitFor()
        await eventually(() => isFocused(page, 'Password')).toBe(true)
        expect(await page.evaluate(() => sessionStorage.getItem('adminSession'))).toBeNull()
        const disabled = await anAdmin({ LoginEnabled: false })
        await submitLogin(page, disabled)
        await page.getByText('Error: Your account is disabled, contact an admin').waitFor()
        await leave()
      })
    })

    describe('with a second factor', () => {
      it('sets it up at the first sign-in, and asks for a code at the next', async () => {
        const account = await anAdmin({ TOTPEnabled: true })
        const { page, leave } = await visit()
        await page.goto('/admin/login')
        await submitLogin(page, account)
        await heading(page, 'Set up your second factor').waitFor()
        await eventually(() => page.title()).toBe('Admin second factor setup · Knoc')
        await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
        await page.getByRole('button', { name: 'Copy the secret' }).waitFor()
        expect(await findBarriers(page)).toEqual([])
        await page.getByRole('button', { name: 'Verify' }).click()
        await page.getByText('Required').waitFor()
        await codeField(page).fill('000000')
        await page.getByRole('button', { name: 'Verify' }).click()
        await page.getByText('Error: Invalid code').waitFor()
        const { app, recoveryCodes } = await enrol(page)
        expect(new Set(recoveryCodes).size).toBe(10)

        await logOutAdmin(page)
        await submitLogin(page, account)
        await page.waitForURL('**/admin/otp/verify')
        await heading(page, 'Second factor').waitFor()
        await eventually(() => page.title()).toBe('Admin second factor · Knoc')
        await eventually(() => page.locator('link[rel="icon"]').getAttribute('href')).toBe(
          '/favicon-console.svg',
        )
        expect(await findBarriers(page)).toEqual([])
        await page.getByRole('button', { name: 'Log in', exact: true }).click()
        await page.getByText('Required').waitFor()
        await typeCode(page, app.last())
        await page.getByText('Error: Invalid code').waitFor()
        await typeCode(page, await app.next())
        await heading(page, 'Home').waitFor()

        await logOutAdmin(page)
        await submitLogin(page, account)
        const [recovery = '', other = ''] = recoveryCodes
        await page.getByRole('button', { name: 'Use a recovery code' }).click()
        await typeCode(page, recovery)
        await heading(page, 'Home').waitFor()
        await logOutAdmin(page)
        await submitLogin(page, account)
        await typeCode(page, recovery)
        await page.getByText('Error: Invalid code').waitFor()
        await typeCode(page, other)
        await heading(page, 'Home').waitFor()
        await leave()
      })

      it('can be put off three times, with a reminder in the console, and is set up from there', async () => {
        const account = await anAdmin({ TOTPEnabled: true })
        const { page, leave } = await visit()
        await page.goto('/admin/login')
        for (let time = 0; time < 3; time += 1) {
          await submitLogin(page, account)
          await page.getByRole('button', { name: 'Do this next time' }).click()
          await heading(page, 'Home').waitFor()
          await page.getByRole('button', { name: 'Set up your second factor' }).waitFor()
          if (time < 2) await logOutAdmin(page)
        }
        await page.setViewportSize({ width: 320, height: 640 })
        expect(await findBarriers(page)).toEqual([])
        await page.getByRole('button', { name: /^Account of/ }).click()
        await page.getByRole('menuitem', { name: 'Set up your second factor' }).click()
        await page.waitForURL('**/admin/otp/onboard')
        expect(await page.getByRole('button', { name: 'Do this next time' }).count()).toBe(0)
        expect(await page.getByRole('button', { name: 'Back to login' }).count()).toBe(0)
        expect(await findBarriers(page)).toEqual([])
        await page.getByRole('link', { name: 'Back to the console' }).click()
        await heading(page, 'Home').waitFor()
        await page.setViewportSize({ width: 1280, height: 900 })
        await page.getByRole('button', { name: 'Set up your second factor' }).click()
        await enrol(page)
        expect(await page.getByRole('button', { name: 'Set up your second factor' }).count()).toBe(0)
        await leave()
      })

      it('can’t be put off a fourth time', async () => {
        const account = await anAdmin({ TOTPEnabled: true })
        await sql`update admins set totp_deferrals = 3 where id = ${account.id}`.execute(site.db)
        const { page, leave } = await visit()
        await page.goto('/admin/login')
        await submitLogin(page, account)
        await page.getByRole('button', { name: 'Verify' }).waitFor()
        await page.waitForLoadState('networkidle')
        expect(await page.getByRole('button', { name: 'Do this next time' }).count()).toBe(0)
        await leave()
      })

      it('keeps a half session at its step, and back to the login logs out', async () => {
        const account = await anAdmin({ TOTPEnabled: true })
        const { page, context, leave } = await visit()
        await page.goto('/admin/login')
        await submitLogin(page, account)
        await page.waitForURL('**/admin/otp/onboard')
        for (const path of ['/admin/home', '/admin/users', '/admin/login', '/admin/otp/verify']) {
          await page.goto(path)
          await page.waitForURL('**/admin/otp/onboard')
          await heading(page, 'Set up your second factor').waitFor()
        }
        const half = await context.cookies()
        await page.getByRole('button', { name: 'Back to login' }).click()
        await page.waitForURL('**/admin/login')
        await heading(page, 'Admin login').waitFor()
        await context.addCookies(half)
        await page.goto('/admin/otp/onboard')
        await page.waitForURL('**/admin/login')
        await leave()
      })

      it('begins anew when the half session is over', async () => {
        const account = await anAdmin({ TOTPEnabled: true })
        const { page, leave } = await visit()
        await page.goto('/admin/login')
        await submitLogin(page, account)
        await page.getByRole('button', { name: 'Verify' }).waitFor()
        await sql`update admin_sessions set ends_at = now() where admin_id = ${account.id}`.execute(site.db)
        await codeField(page).fill('123456')
        await page.getByRole('button', { name: 'Verify' }).click()
        await page.waitForURL('**/admin/login**')
        await page.getByText('Error: Your session has expired').waitFor()
        await submitLogin(page, account)
        await page.waitForURL('**/admin/otp/onboard')
        await leave()
      })
    })

    describe('with a session', () => {
      it('leads away from the login and the second step', async () => {
        const { page, leave } = await visit()
        await signInAdmin(page, admin)
        for (const path of ['/admin', '/admin/login', '/admin/otp/verify', '/admin/nowhere']) {
          await page.goto(path)
          await page.waitForURL('**/admin/home')
        }
        await leave()
      })

      it('goes on to the second step when another admin asks for it meanwhile and the session ends', async () => {
        const account = await anAdmin()
        const { page, leave } = await visit()
        await signInAdmin(page, account)
        await site.api.request('DELETE', '/admin/adminsessions')
        await site.api.request('POST', '/admin/login', { UserName: admin.userName, Password: admin.password })
        await site.api.request('PUT', `/admin/admins/${account.id}`, { Name: 'Grace', TOTPEnabled: true })
        await page.goto('/admin/users')
        await page.waitForURL('**/admin/login')
        await submitLogin(page, account)
        await page.waitForURL('**/admin/otp/onboard')
        await leave()
      })

      it('opens the passkeys of an account of ours', async () => {
        const { page, leave } = await visit()
        await signInAdmin(page, admin)
        await page.getByRole('button', { name: /^Account of/ }).click()
        await page.getByRole('menuitem', { name: 'Passkeys' }).click()
        await page.getByRole('dialog', { name: 'Passkeys' }).waitFor()
        await page.keyboard.press('Escape')
        await leave()
      })
    })

    it('works by keyboard alone, at 320 px and in the dark', async () => {
      const account = await anAdmin({ TOTPEnabled: true })
      const { page, leave } = await visit({
        viewport: { width: 320, height: 640 },
        colorScheme: 'dark',
      })
      await page.goto('/admin/login')
      await heading(page, 'Admin login').waitFor()
      expect(await findBarriers(page)).toEqual([])
      expect((await focusOf(page)).name).toBe('Username')
      await page.keyboard.type(account.userName)
      await page.keyboard.press('Tab')
      await page.keyboard.type(account.password)
      await page.keyboard.press('Enter')
      await heading(page, 'Set up your second factor').waitFor()
      expect(await findBarriers(page)).toEqual([])
      await moveTo(page, 'Do this next time')
      await page.keyboard.press('Enter')
      await heading(page, 'Home').waitFor()
      await leave()
    })

    describe('with single sign-on', () => {
      let idp: SamlIdp

      beforeAll(async () => {
        idp = await startSamlIdp()
        await site.api.request('POST', '/admin/settings/authentication', {
          AdminSAMLMetadataURL: idp.metadataUrl,
        })
      }, 60_000)
      afterAll(() => idp?.stop())

      it('hides local accounts behind a toggle, and starts with Enter where nothing has the focus', async () => {
        const userName = `sso${count}`
        await anAdmin({ UserName: userName, AuthType: 'SAML', PlainPassword: undefined })
        idp.state.person = { name: userName, attributes: { realName: 'Grace Hopper' } }
        const { page, leave } = await visit()
        await page.goto('/admin/login')
        await page.getByRole('button', { name: 'Sign in with SSO' }).waitFor()
        expect(await page.getByLabel('Username').count()).toBe(0)
        expect(await findBarriers(page)).toEqual([])
        await page.getByRole('button', { name: 'Use a local account' }).click()
        await page.getByLabel('Username').waitFor()
        await page.getByRole('button', { name: 'Hide the local account' }).click()
        await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
        await page.keyboard.press('Enter')
        await page.waitForURL('**/admin/home')
        const own = (await site.api.request<AdminRow[]>('GET', '/admin/admins')).find(
          ({ UserName }) => UserName === userName,
        )
        expect(own).toMatchObject({ AuthType: 'SAML', LastLogin: expect.any(String) })
        await page.getByRole('button', { name: /^Account of/ }).click()
        for (const name of ['Passkeys', 'Change password'])
          expect(await page.getByRole('menuitem', { name }).count()).toBe(0)
        await leave()
      })

      it('says why the provider’s person isn’t let in', async () => {
        idp.state.person = { name: 'nobody-we-know', attributes: { realName: 'Nobody' } }
        const { page, leave } = await visit()
        await page.goto('/admin/login')
        await page.getByRole('button', { name: 'Sign in with SSO' }).click()
        await page.waitForURL('**/admin/login?error=err.loginNotPermitted')
        await page.getByText('Error: Login not permitted').waitFor()
        await leave()
      })
    })
  },
)

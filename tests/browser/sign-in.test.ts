import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { findBarriers, focusOf, moveTo } from './accessibility.ts'
import { enrol as enrolAt, heading, isFocused, reads, signIn, signInAdmin, submitLogin } from './acts.ts'
import { createCodeApp } from './codes.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const password = 'a password of users 1'

/** Names of users that nobody else has. */
let count = 0

describe.skipIf(!hasBrowser() || !requireProgram('oathtool'))(
  'signing in to the portal',
  { timeout: journeyTime, retry: 1 },
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

    async function aUser(fields: Record<string, unknown> = {}) {
      count += 1
      const userName = `robin${count}`
      const { ID } = await site.api.request<{ ID: string }>('POST', '/admin/users', {
        Name: 'Robin Reed',
        UserName: userName,
        PlainPassword: password,
        ...fields,
      })
      return { id: ID, userName, password }
    }

    /** A visitor who is about to be refused what he has to be refused. */
    async function visit(options: Parameters<TestBrowser['visit']>[1] = {}): Promise<Visitor> {
      const visitor = await browser.visit(site.arena.serverUrl, options)
      visitor.context.setDefaultTimeout(patience)
      visitor.expectFault(
        /^console \/api\/(login|status|otp\/\w+|events|admin\/\w+): .*\b4(01|03|09|22|29)\b/,
      )
      return visitor
    }

    const atLogin = (page: Page) => page.waitForURL((url) => url.pathname === '/')

    /** Goes through enrolment; ends on the dashboard with the secret's app and the recovery codes. */
    const enrol = (page: Page) => enrolAt(page, { onboard: '**/otp/onboard', home: '**/home/new' })

    describe('with name and password', () => {
      it('leads from everywhere to the login, which has its title and favicon, and from there to the dashboard', async () => {
        const user = await aUser()
        const { page, leave } = await visit()
        for (const path of [
          '/home',
          '/home/new',
          '/otp/verify',
          '/otp/onboard',
          '/nowhere',
          '/nowhere/else',
        ]) {
          await page.goto(path)
          await atLogin(page)
          await heading(page, 'Sign in').waitFor()
        }
        await eventually(() => page.title()).toBe('Sign in · Knoc')
        await eventually(() => page.locator('link[rel="icon"]').getAttribute('href')).toBe(
          '/favicon-portal.svg',
        )
        expect(await page.getByRole('link', { name: 'Admin login' }).getAttribute('href')).toBe(
          '/admin/login',
        )
        expect(await page.getByRole('button', { name: /SSO|OpenID/ }).count()).toBe(0)
        await submitLogin(page, user)
        await page.waitForURL('**/home/new')
        for (const path of ['/', '/nowhere', '/otp/verify']) {
          await page.goto(path)
          await page.waitForURL('**/home/new')
        }
        await leave()
      })

      it('puts the focus into the first field that is in the way, and nothing is sent', async () => {
        const { page, leave } = await visit()
        const sent: string[] = []
        page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
        await page.goto('/')
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await page.getByText('Required').first().waitFor()
        expect(await page.getByText('Required').count()).toBe(2)
        await eventually(() => isFocused(page, 'Username')).toBe(true)
        await page.getByLabel('Username').fill('robin')
        expect(await page.getByText('Required').count()).toBe(1)
        await page.keyboard.press('Enter')
        await eventually(() => isFocused(page, 'Password')).toBe(true)
        expect(sent).toEqual([])
        await leave()
      })

      it('says “Error: …” for a wrong password, forgets what it knew, and offers the password again', async () => {
        const user = await aUser()
        const { page, leave } = await visit()
        await page.goto('/')
        await page.evaluate(() => sessionStorage.setItem('userSession', '{"old":true}'))
        await submitLogin(page, { ...user, password: 'not the password' })
        await page.getByText('Error: Invalid credentials').waitFor()
        await eventually(() => isFocused(page, 'Password')).toBe(true)
        expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
        expect(await page.getByLabel('Username').inputValue()).toBe(user.userName)
        expect(await page.evaluate(() => sessionStorage.getItem('userSession'))).toBeNull()
        await leave()
      })

      it('refuses an account that is disabled, in the catalogue’s words', async () => {
        const user = await aUser({ LoginEnabled: false })
        const { page, leave } = await visit()
        await page.goto('/')
        await submitLogin(page, user)
        await page.getByText('Error: Your account is disabled, contact an admin').waitFor()
        await leave()
      })

      it('keeps nothing of a public computer, and offers no passkey there', async () => {
        const user = await aUser()
        const { page, context, leave } = await visit()
        await page.goto('/')
        await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
        await page.getByLabel('This is a public computer').check()
        expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
        await submitLogin(page, user)
        await page.waitForURL('**/home/new')
        await page.getByRole('button', { name: 'Show as list' }).or(page.getByText('No access yet')).waitFor()
        expect(await page.getByRole('button', { name: 'Passkeys' }).count()).toBe(0)
        expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
        const cookie = (await context.cookies()).find(({ name }) => name === 'knoc_user')
        expect(cookie?.expires).toBe(-1)
        await leave()
      })

      it('leaves nothing behind a logout: not the page by Back, not the cookie', async () => {
        const user = await aUser()
        const { page, context, leave } = await visit()
        await signIn(page, user)
        const cookies = await context.cookies()
        await page.getByRole('button', { name: 'Log out' }).click()
        await atLogin(page)
        expect(await page.evaluate(() => sessionStorage.getItem('userSession'))).toBeNull()
        await page.goBack().catch(() => null)
        await page.goto('/home/new')
        await atLogin(page)
        await context.addCookies(cookies)
        await page.goto('/home/new')
        await atLogin(page)
        await heading(page, 'Sign in').waitFor()
        await leave()
      })

      it('counts a wait down, and takes no try until it is over', async () => {
        const user = await aUser()
        const { page, leave } = await visit()
        await page.route('**/api/login', (route) =>
          route.fulfill({ status: 429, json: { Err: 'err.tooManyRequests', Extra: '3' } }),
        )
        await page.goto('/')
        await submitLogin(page, user)
        await reads(page.getByRole('alert'), /Too many requests, try again in 3 s/)
        const button = page.getByRole('button', { name: 'Sign in', exact: true })
        expect(await button.isDisabled()).toBe(true)
        await reads(page.getByRole('alert'), /try again in 1 s/)
        await page.getByRole('alert').waitFor({ state: 'hidden' })
        await eventually(() => button.isDisabled()).toBe(false)
        await leave()
      })
    })

    describe('the reason in the address', () => {
      it.each([
        ['err.sessionExpired', 'Your session has expired, log in again for renewed access'],
        ['err.loginNotPermitted', 'Login not permitted'],
        ['err.samlNotConfigured', 'SAML not configured'],
        ['err.tooManyRequests', 'Too many requests, try again later'],
        ['err.nobodyKnowsThis', 'Signing in did not work, try again or contact an admin'],
        ['login.title', 'Signing in did not work, try again or contact an admin'],
        ['Call 555-0100 to unlock', 'Signing in did not work, try again or contact an admin'],
        ['<img src=x onerror=alert(1)>', 'Signing in did not work, try again or contact an admin'],
        ['', 'Signing in did not work, try again or contact an admin'],
      ])('%s is told as “%s”', async (code, text) => {
        const { page, leave } = await visit()
        await page.goto(`/?error=${encodeURIComponent(code)}`)
        await page.getByRole('alert').waitFor()
        expect(await page.getByRole('alert').innerText()).toBe(`Error: ${text}`)
        if (code !== '') expect(await page.locator('body').innerText()).not.toContain(code)
        await leave()
      })

      it('forgets what this tab knew, and gives way to what the next try says', async () => {
        const user = await aUser()
        const { page, leave } = await visit()
        await signIn(page, user)
        await page.goto('/?error=err.loginNotPermitted')
        await page.getByText('Error: Login not permitted').waitFor()
        expect(await page.evaluate(() => sessionStorage.getItem('userSession'))).toBeNull()
        await submitLogin(page, { ...user, password: 'not the password' })
        await page.getByText('Error: Invalid credentials').waitFor()
        expect(await page.getByText('Login not permitted').count()).toBe(0)
        await submitLogin(page, user)
        await page.waitForURL('**/home/new')
        await leave()
      })
    })

    describe('with a second factor', () => {
      it('is set up first: secret and code, then the recovery codes once; from then on a code is asked for', async () => {
        const user = await aUser({ TOTPEnabled: true })
        const { page, leave } = await visit()
        await page.goto('/')
        await submitLogin(page, user)
        await page.waitForURL('**/otp/onboard')
        await eventually(() => page.title()).toBe('Set up your second factor · Knoc')
        await checkQrCode(page)

        await page.getByRole('button', { name: 'Verify' }).click()
        await page.getByText('Required').waitFor()
        await eventually(() => isFocused(page, 'Code')).toBe(true)
        await page.getByLabel('Code', { exact: true }).fill('000000')
        await page.keyboard.press('Enter')
        await page.getByText('Error: Invalid code').waitFor()

        // The same secret after a reload, which leads back here.
        const shown = () => page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).innerText()
        const secret = await shown()
        await page.goto('/home/new')
        await page.waitForURL('**/otp/onboard')
        expect(await shown()).toBe(secret)
        await page.getByRole('button', { name: 'Copy the secret' }).click()
        await page.getByRole('button', { name: 'Copied' }).waitFor()

        const app = createCodeApp(secret.replaceAll(' ', ''))
        await page.getByLabel('Code', { exact: true }).fill(await app.next())
        await page.getByRole('button', { name: 'Verify' }).click()
        const list = page.getByRole('list', { name: 'Your recovery codes' })
        await list.waitFor()
        const codes = await list.getByRole('listitem').allInnerTexts()
        expect(new Set(codes).size).toBe(10)
        const saved = page.waitForEvent('download')
        await page.getByRole('button', { name: 'Save as a file' }).click()
        const file = await (await saved).createReadStream()
        expect(Buffer.concat(await file.toArray()).toString()).toBe(`${codes.join('\n')}\n`)
        await page.getByRole('button', { name: 'Continue' }).click()
        await page.getByText('Required').waitFor()
        expect(new URL(page.url()).pathname).toBe('/otp/onboard')
        await page.getByLabel('I have kept them').check()
        await page.getByRole('button', { name: 'Continue' }).click()
        await page.waitForURL('**/home/new')
        await heading(page, /^Hello/).waitFor()

        await page.getByRole('button', { name: 'Log out' }).click()
        await atLogin(page)
        await submitLogin(page, user)
        await page.waitForURL('**/otp/verify')
        await eventually(() => page.title()).toBe('Second factor · Knoc')
        await eventually(() => isFocused(page, 'Code')).toBe(true)
        // A code that was used is none.
        await page.keyboard.type(app.last())
        await page.keyboard.press('Enter')
        await page.getByText('Error: Invalid code').waitFor()
        await eventually(() => isFocused(page, 'Code')).toBe(true)
        await page.keyboard.type(await app.next())
        await page.keyboard.press('Enter')
        await page.waitForURL('**/home/new')
        await leave()
      })

      /** What a phone sees: black on white with light around it, in the dark as well. */
      async function checkQrCode(page: Page): Promise<void> {
        const code = page.getByRole('img', { name: 'QR code for your authenticator app' })
        await code.waitFor()
        await page.evaluate(() => {
          document.documentElement.dataset['mode'] = 'dark'
        })
        const fills = await code
          .locator('rect, path')
          .evaluateAll((parts) => parts.map((part) => getComputedStyle(part).fill))
        expect(fills).toEqual(['rgb(255, 255, 255)', 'rgb(0, 0, 0)'])
      }

      it('takes a recovery code in the same field, once', async () => {
        const user = await aUser({ TOTPEnabled: true })
        const { page, leave } = await visit()
        await page.goto('/')
        await submitLogin(page, user)
        const { recoveryCodes } = await enrol(page)
        const [code = ''] = recoveryCodes
        for (const isGood of [true, false]) {
          await page.getByRole('button', { name: 'Log out' }).click()
          await atLogin(page)
          await submitLogin(page, user)
          await page.waitForURL('**/otp/verify')
          const field = page.getByLabel('Code', { exact: true })
          expect(await field.getAttribute('autocomplete')).toBe('one-time-code')
          expect(await field.getAttribute('inputmode')).toBe('numeric')
          await page.getByRole('button', { name: 'Use a recovery code' }).click()
          expect(await field.getAttribute('inputmode')).toBe('text')
          await field.fill(code.toLowerCase())
          await page.getByRole('button', { name: 'Log in' }).click()
          if (!isGood) break
          await page.waitForURL('**/home/new')
        }
        await page.getByText('Error: Invalid code').waitFor()
        await leave()
      })

      it('has no rule for the field: an empty one is the server’s to refuse', async () => {
        const user = await aUser({ TOTPEnabled: true })
        const { page, leave } = await visit()
        await page.goto('/')
        await submitLogin(page, user)
        await enrol(page)
        await page.getByRole('button', { name: 'Log out' }).click()
        await atLogin(page)
        await submitLogin(page, user)
        await page.waitForURL('**/otp/verify')
        const asked = page.waitForRequest('**/api/otp/verify')
        await page.getByRole('button', { name: 'Log in' }).click()
        expect((await asked).postDataJSON()).toEqual({ Code: '' })
        await page.getByRole('alert').waitFor()
        await leave()
      })

      it('stays where the half session is after a reload; back to login logs out', async () => {
        const user = await aUser({ TOTPEnabled: true })
        const { page, context, leave } = await visit()
        await page.goto('/')
        await submitLogin(page, user)
        await enrol(page)
        await page.getByRole('button', { name: 'Log out' }).click()
        await atLogin(page)
        await submitLogin(page, user)
        await page.waitForURL('**/otp/verify')
        for (const path of ['/otp/verify', '/', '/home/new', '/otp/onboard', '/nowhere']) {
          await page.goto(path)
          await page.waitForURL('**/otp/verify')
          await heading(page, 'Second factor').waitFor()
        }
        const cookies = await context.cookies()
        expect(cookies.some(({ name }) => name === 'knoc_user')).toBe(true)
        await page.getByRole('button', { name: 'Back to login' }).click()
        await atLogin(page)
        await heading(page, 'Sign in').waitFor()
        // The login stands before the server has answered.
        await eventually(async () => (await context.cookies()).map(({ name }) => name)).not.toContain(
          'knoc_user',
        )
        // Put back, the half session's cookie is good for nothing.
        await context.addCookies(cookies)
        await page.goto('/otp/verify')
        await atLogin(page)
        await heading(page, 'Sign in').waitFor()
        await leave()
      })

      it('says that it took too long when the half session is over', async () => {
        const user = await aUser({ TOTPEnabled: true })
        const { page, leave } = await visit()
        await page.goto('/')
        await submitLogin(page, user)
        await page.waitForURL('**/otp/onboard')
        await page.getByLabel('Code', { exact: true }).fill('123456')
        await site.db
          .updateTable('sessions')
          .set({ endedAt: new Date() })
          .where('userId', '=', user.id)
          .execute()
        await page.getByRole('button', { name: 'Verify' }).click()
        await page.getByText('Error: Your session has expired').waitFor()
        await atLogin(page)
        await leave()
      })
    })

    describe('a browser that is an admin’s', () => {
      it('goes on in the console when the user login says unauthorised', async () => {
        const { page, leave } = await visit()
        await signInAdmin(page, admin)
        await page.goto('/')
        await submitLogin(page, { userName: admin.userName, password: admin.password })
        await page.waitForURL('**/admin/home')
        await leave()
      })

      it.each([
        ['enrol', false, '/admin/otp/onboard'],
        ['verify', true, '/admin/otp/verify'],
      ])('goes on to %s the admin’s second factor', async (_, AdminTotpVerified, path) => {
        const { page, leave } = await visit()
        await page.route('**/api/login', (route) =>
          route.fulfill({ status: 401, json: { Err: 'err.unauthorised' } }),
        )
        await page.route('**/api/admin/status', (route) =>
          route.fulfill({
            json: {
              data: {
                TotpEnabled: true,
                AdminTotpVerified,
                HasPasskey: false,
                TotpEnrolmentDeferable: true,
                SessionComplete: false,
              },
            },
          }),
        )
        // The console's own page would ask the server, which knows nothing of this session.
        await page.route(`**${path}`, (route) => route.fulfill({ contentType: 'text/html', body: 'there' }))
        await page.goto('/')
        await submitLogin(page, { userName: 'boss', password })
        await page.waitForURL(`**${path}`)
        await leave()
      })
    })

    describe('for everybody', () => {
      const sizes = [
        { width: 1280, height: 900 },
        { width: 320, height: 640 },
      ]
      const untroubled = async (page: Page, what: string) => {
        for (const size of sizes) {
          await page.setViewportSize(size)
          expect(await findBarriers(page), `${what} at ${size.width} px`).toEqual([])
        }
      }

      it('has no barriers on any of its pages, wide or narrow', async () => {
        const user = await aUser({ TOTPEnabled: true })
        const { page, leave } = await visit()
        await page.goto('/?error=err.sessionExpired')
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await page.getByText('Required').first().waitFor()
        await untroubled(page, 'login')
        await submitLogin(page, user)
        await page.getByRole('img', { name: /QR/ }).waitFor()
        await untroubled(page, 'enrolment')
        const secret = await page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).innerText()
        const app = createCodeApp(secret.replaceAll(' ', ''))
        await page.getByLabel('Code', { exact: true }).fill(await app.next())
        await page.getByRole('button', { name: 'Verify' }).click()
        await page.getByRole('list', { name: 'Your recovery codes' }).waitFor()
        await untroubled(page, 'recovery codes')
        await page.getByLabel('I have kept them').check()
        await page.getByRole('button', { name: 'Continue' }).click()
        await page.waitForURL('**/home/new')
        await heading(page, /^Hello/).waitFor()
        await untroubled(page, 'dashboard')
        await page.getByRole('button', { name: 'Log out' }).click()
        await atLogin(page)
        await submitLogin(page, user)
        await heading(page, 'Second factor').waitFor()
        await untroubled(page, 'second factor')
        await leave()
      })

      it('goes by the keyboard alone, with its second factor', async () => {
        const user = await aUser({ TOTPEnabled: true })
        const { page, leave } = await visit({ viewport: { width: 320, height: 640 } })
        await page.goto('/')
        await heading(page, 'Sign in').waitFor()
        await moveTo(page, 'Username')
        await page.keyboard.type(user.userName)
        await moveTo(page, 'Password')
        await page.keyboard.type(password)
        await page.keyboard.press('Enter')
        await page.waitForURL('**/otp/onboard')
        const secret = await page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).innerText()
        const app = createCodeApp(secret.replaceAll(' ', ''))
        await moveTo(page, 'Copy the secret')
        await moveTo(page, 'Code')
        await page.keyboard.type(await app.next())
        await page.keyboard.press('Enter')
        const title = page.getByRole('heading', { name: 'Your recovery codes' })
        await title.waitFor()
        await eventually(async () => (await focusOf(page)).name).toBe('Your recovery codes')
        await moveTo(page, 'I have kept them')
        await page.keyboard.press('Space')
        await moveTo(page, 'Continue')
        await page.keyboard.press('Enter')
        await page.waitForURL('**/home/new')
        await moveTo(page, 'Log out')
        await page.keyboard.press('Enter')
        await atLogin(page)
        await moveTo(page, 'Username')
        await page.keyboard.type(user.userName)
        await page.keyboard.press('Tab')
        await page.keyboard.type(password)
        await page.keyboard.press('Enter')
        await page.waitForURL('**/otp/verify')
        await eventually(() => isFocused(page, 'Code')).toBe(true)
        await page.keyboard.type(await app.next())
        await page.keyboard.press('Enter')
        await page.waitForURL('**/home/new')
        await leave()
      })
    })
  },
)

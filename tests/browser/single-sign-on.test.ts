import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { type OidcProvider, startOidcProvider } from '#tests/support/oidc-provider.ts'
import { type SamlIdp, startSamlIdp } from '#tests/support/saml-idp.ts'
import { findBarriers } from './accessibility.ts'
import { heading, isSameDocument, markDocument, submitLogin } from './acts.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const client = { clientId: 'portal', clientSecret: 'portal secret' }

/** Identity providers that we did not write, on this host: other origins than the portal's. */
describe.skipIf(!hasBrowser())('single sign-on in the portal', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let oidc: OidcProvider
  let saml: SamlIdp

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    const base = `${site.arena.serverUrl}/api/oidc`
    oidc = await startOidcProvider({
      clients: [{ ...client, callback: `${base}/callback`, backchannel: `${base}/backchannel` }],
    })
    saml = await startSamlIdp()
    browser = await startBrowser()
  }, 120_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await Promise.all([oidc?.stop(), saml?.stop()])
    await site?.close()
  }, 60_000)

  /** Enters the providers in the settings, or takes them out. */
  const configure = ({ hasSaml, hasOidc }: { hasSaml: boolean; hasOidc: boolean }) =>
    site.api.request('POST', '/admin/settings/authentication', {
      SAMLMetadataURL: hasSaml ? saml.metadataUrl : '',
      OIDCIssuer: hasOidc ? oidc.issuer : '',
      OIDCClientID: hasOidc ? client.clientId : '',
      OIDCClientSecret: hasOidc ? client.clientSecret : '',
    })

  async function visit(): Promise<Visitor> {
    const visitor = await browser.visit(site.arena.serverUrl)
    visitor.context.setDefaultTimeout(patience)
    // Neither provider has an icon; a session that is replaced is told so.
    visitor.expectFault(/favicon\.ico/)
    visitor.expectFault(/^console \/api\/(login|status|events|log_ips)\b.*\b4(01|09)\b/)
    return visitor
  }

  const named = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const samlButton = (page: Page) => named(page, 'Sign in with SSO')
  const oidcButton = (page: Page) => named(page, 'Sign in with OpenID')
  const atLogin = (page: Page) => page.waitForURL((url) => url.pathname === '/')

  /** Where the page goes next, without going there. */
  async function heldBack(page: Page): Promise<string[]> {
    const asked: string[] = []
    await page.route(/\/api\/login\/(saml|oidc)/, (route) => {
      const { pathname, search } = new URL(route.request().url())
      asked.push(pathname + search)
      return route.fulfill({ status: 204 })
    })
    return asked
  }

  /** Signs in at the OpenID provider's own page. */
  async function signInAtProvider(page: Page, account: string): Promise<void> {
    await page.getByLabel('Account').fill(account)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  describe('with both providers', () => {
    beforeAll(() => configure({ hasSaml: true, hasOidc: true }))

    it('shows the buttons; local accounts are behind a toggle, and go again with a second press', async () => {
      const { page, leave } = await visit()
      await page.goto('/')
      await samlButton(page).waitFor()
      await oidcButton(page).waitFor()
      expect(await page.getByLabel('Username').count()).toBe(0)
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await findBarriers(page), `at ${width} px`).toEqual([])
      }
      await page.getByRole('button', { name: 'Use a local account' }).click()
      const field = page.getByLabel('Username')
      await eventually(() => field.evaluate((input) => input === document.activeElement)).toBe(true)
      expect(await page.getByRole('checkbox').count()).toBe(1)
      expect(await findBarriers(page)).toEqual([])
      await page.getByRole('button', { name: 'Hide the local account' }).click()
      expect(await page.getByLabel('Username').count()).toBe(0)
      await leave()
    })

    it('names the public computer in the address it goes to', async () => {
      const { page, leave } = await visit()
      const asked = await heldBack(page)
      await page.goto('/')
      await samlButton(page).click()
      await eventually(() => asked).toEqual(['/api/login/saml?kioskMode=false'])
      await page.getByLabel('This is a public computer').check()
      await oidcButton(page).click()
      await eventually(() => asked.at(-1)).toBe('/api/login/oidc?kioskMode=true')
      await samlButton(page).click()
      await eventually(() => asked.at(-1)).toBe('/api/login/saml?kioskMode=true')
      await leave()
    })

    it('starts with Enter while nothing has the focus, and only then', async () => {
      const { page, leave } = await visit()
      const asked = await heldBack(page)
      await page.goto('/')
      await samlButton(page).waitFor()
      await page.getByLabel('This is a public computer').focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Use a local account' }).press('Enter')
      await page.getByLabel('Username').press('Enter')
      await page.getByText('Required').first().waitFor()
      await page.evaluate(() => (document.activeElement as HTMLElement).blur())
      await page.keyboard.press('Shift+Enter')
      expect(asked).toEqual([])
      await page.keyboard.press('Enter')
      await eventually(() => asked).toEqual(['/api/login/saml?kioskMode=false'])
      await leave()
    })

    it('signs in by SAML, and shows neither password nor passkeys to change', async () => {
      saml.state.person = { name: 'ada', attributes: { realName: 'Ada Lovelace' } }
      const { page, leave } = await visit()
      await page.goto('/')
      await samlButton(page).click()
      await page.waitForURL('**/home/new')
      await heading(page, 'Hello, Ada Lovelace').waitFor()
      expect(await page.getByRole('button', { name: /Change password|Passkeys/ }).count()).toBe(0)
      await page.getByRole('button', { name: 'Log out' }).click()
      await atLogin(page)
      await leave()
    })

    it('signs in by OpenID Connect', async () => {
      oidc.people.set('grace-1', { preferred_username: 'grace', realName: 'Grace Hopper' })
      const { page, leave } = await visit()
      await page.goto('/')
      await oidcButton(page).click()
      await signInAtProvider(page, 'grace-1')
      await page.waitForURL('**/home/new')
      await heading(page, 'Hello, Grace Hopper').waitFor()
      await leave()
    })

    it('says why not, when the provider or we refuse', async () => {
      const { page, leave } = await visit()
      await page.goto('/')
      await oidcButton(page).click()
      await page.getByRole('button', { name: 'Refuse' }).click()
      await page.getByRole('alert').waitFor()
      expect(await page.getByRole('alert').innerText()).toMatch(/^Error: /)
      expect(new URL(page.url()).searchParams.get('error')).toMatch(/^err\./)
      // The name belongs to a local account.
      await site.api.request('POST', '/admin/users', {
        Name: 'Local',
        UserName: 'taken',
        PlainPassword: 'a password of users 1',
      })
      saml.state.person = { name: 'taken', attributes: { realName: 'Taken' } }
      await samlButton(page).click()
      await page.getByText('Error: Login not permitted').waitFor()
      await leave()
    })

    it('still signs in with a local account', async () => {
      const { page, leave } = await visit()
      await page.goto('/')
      await page.getByRole('button', { name: 'Use a local account' }).click()
      await submitLogin(page, { userName: 'taken', password: 'a password of users 1' })
      await page.waitForURL('**/home/new')
      await leave()
    })
  })

  describe('with OpenID Connect alone', () => {
    beforeAll(() => configure({ hasSaml: false, hasOidc: true }))

    it('shows its button only, and Enter starts it', async () => {
      const { page, leave } = await visit()
      const asked = await heldBack(page)
      await page.goto('/')
      await oidcButton(page).waitFor()
      expect(await samlButton(page).count()).toBe(0)
      await page.keyboard.press('Enter')
      await eventually(() => asked).toEqual(['/api/login/oidc?kioskMode=false'])
      await leave()
    })
  })

  describe('with none', () => {
    beforeAll(() => configure({ hasSaml: false, hasOidc: false }))

    it('shows the local form at once, and Enter starts nothing', async () => {
      const { page, leave } = await visit()
      const asked = await heldBack(page)
      await page.goto('/')
      await page.getByLabel('Username').waitFor()
      expect(await page.getByRole('button', { name: /SSO|OpenID|local account/ }).count()).toBe(0)
      await page.keyboard.press('Enter')
      expect(asked).toEqual([])
      await leave()
    })
  })

  describe('staying signed in', () => {
    beforeAll(() => configure({ hasSaml: true, hasOidc: true }))

    const endSoon = (userName: string, minutes: number) =>
      site.db
        .updateTable('sessions')
        .set({ endsAt: new Date(Date.now() + minutes * 60_000) })
        .where('userId', 'in', (from) =>
          from.selectFrom('users').select('id').where('userName', '=', userName),
        )
        .where('endedAt', 'is', null)
        .execute()
    const timer = (page: Page) => page.getByRole('timer', { name: 'Time left in this session' })
    const warning = (page: Page) => page.getByRole('dialog', { name: /Your session ends in/ })

    it.each([
      ['SAML', samlButton, 'lin'],
      ['OpenID Connect', oidcButton, 'ned'],
    ])(
      'goes through a window of its own with %s; the page and its other tabs stay',
      async (_, button, name) => {
        saml.state.person = { name, attributes: { realName: name } }
        oidc.people.set(name, { preferred_username: name })
        const visitor = await visit()
        const { page } = visitor
        await page.goto('/')
        await button(page).click()
        if (button === oidcButton) await signInAtProvider(page, name)
        await page.waitForURL('**/home/new')
        await heading(page, /^Hello/).waitFor()
        await endSoon(name, 3)
        await page.reload()
        const tab = await visitor.tab()
        await tab.goto('/home/new')
        await Promise.all([page, tab].map((one) => warning(one).waitFor()))
        await Promise.all([page, tab].map(markDocument))
        const before = await visitor.context.cookies()

        await page.bringToFront()
        const opened = visitor.context.waitForEvent('page')
        await warning(page).getByRole('button', { name: 'Stay signed in' }).click()
        const popup = await opened
        if (!popup.isClosed()) await popup.waitForEvent('close')
        for (const one of [page, tab]) {
          await warning(one).waitFor({ state: 'hidden' })
          await eventually(() => timer(one).innerText()).toMatch(/^0[78]:/)
          expect(await isSameDocument(one)).toBe(true)
        }
        const old = await browser.visit(site.arena.serverUrl)
        await old.context.addCookies(before)
        expect((await old.context.request.get('/api/status')).status()).toBe(401)
        await old.leave()
        await visitor.leave()
      },
    )

    it('says what the provider’s window ended with, and keeps the page', async () => {
      oidc.people.set('mia', { preferred_username: 'mia' })
      const visitor = await visit()
      const { page } = visitor
      await page.goto('/')
      await oidcButton(page).click()
      await signInAtProvider(page, 'mia')
      await heading(page, /^Hello/).waitFor()
      await endSoon('mia', 3)
      await page.reload()
      await warning(page).waitFor()
      // The provider asks anew, and is refused.
      await visitor.context.clearCookies({ name: /^_session/ })
      const opened = visitor.context.waitForEvent('page')
      await warning(page).getByRole('button', { name: 'Stay signed in' }).click()
      const popup = await opened
      await page.getByText('Sign in in the window that has opened').waitFor()
      const closed = popup.waitForEvent('close')
      await popup.getByRole('button', { name: 'Refuse' }).click()
      await closed
      await warning(page)
        .getByText(/^Error: /)
        .waitFor()
      expect(await timer(page).innerText()).toMatch(/^00:0[0-3]:/)
      await visitor.leave()
    })

    it('goes itself where no window may open, and comes back', async () => {
      saml.state.person = { name: 'kim', attributes: { realName: 'Kim' } }
      const { page, leave } = await visit()
      await page.addInitScript(() => {
        window.open = () => null
      })
      await page.goto('/')
      await samlButton(page).click()
      await page.waitForURL('**/home/new')
      await heading(page, /^Hello/).waitFor()
      await endSoon('kim', 3)
      await page.reload()
      await warning(page).getByRole('button', { name: 'Stay signed in' }).click()
      await eventually(() =>
        timer(page)
          .innerText()
          .catch(() => ''),
      ).toMatch(/^0[78]:/)
      expect(new URL(page.url()).pathname).toBe('/home/new')
      await leave()
    })

    it('starts anew as the other one when another account signs in in the window', async () => {
      saml.state.person = { name: 'uma', attributes: { realName: 'Uma' } }
      const { page, leave } = await visit()
      await page.goto('/')
      await samlButton(page).click()
      await heading(page, 'Hello, Uma').waitFor()
      await endSoon('uma', 3)
      await page.reload()
      saml.state.person = { name: 'vic', attributes: { realName: 'Vic' } }
      await warning(page).getByRole('button', { name: 'Stay signed in' }).click()
      await heading(page, 'Hello, Vic').waitFor()
      await leave()
    })
  })
})

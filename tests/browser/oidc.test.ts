import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { type OidcProvider, startOidcProvider } from '#tests/support/oidc-provider.ts'
import { until } from '#tests/support/until.ts'
import { entry, heading } from './acts.ts'

const knocName = 'Payroll'

/** The whole way with a provider that we did not write: from the button to a door, and shut by the provider. */
describe.skipIf(!hasBrowser())('OpenID Connect in the browser', { timeout: 90_000, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let provider: OidcProvider

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    const clientOf = (clientId: string, prefix: string) => {
      const base = `${site.arena.serverUrl}/api${prefix}/oidc`
      return {
        clientId,
        clientSecret: `${clientId} secret`,
        callback: `${base}/callback`,
        backchannel: `${base}/backchannel`,
      }
    }
    const [portal, console] = [clientOf('portal', ''), clientOf('console', '/admin')]
    provider = await startOidcProvider({ clients: [portal, console] })
    const knocId = await site.seed({
      name: knocName,
      user: { userName: 'robin', password: 'a password of users 1' },
    })
    await site.api.request('POST', '/admin/groups', {
      Name: 'Payroll staff',
      Type: 'dynamic',
      ACLIDs: [knocId],
    })
    await site.api.request('POST', '/admin/admins', { Name: 'Grace', UserName: 'grace', AuthType: 'OIDC' })
    await site.api.request('POST', '/admin/settings/authentication', {
      OIDCIssuer: provider.issuer,
      OIDCClientID: portal.clientId,
      OIDCClientSecret: portal.clientSecret,
      AdminOIDCIssuer: provider.issuer,
      AdminOIDCClientID: console.clientId,
      AdminOIDCClientSecret: console.clientSecret,
    })
    provider.people.set('1', {
      preferred_username: 'grace',
      realName: 'Grace Hopper',
      groups: ['Payroll staff'],
      sessionDuration: 90,
    })
    provider.people.set('2', { preferred_username: 'mallory' })
    browser = await startBrowser()
  }, 120_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await provider?.stop()
    await site?.close()
  }, 60_000)

  async function visit(path: string): Promise<Visitor> {
    const visitor = await browser.visit(site.arena.serverUrl)
    visitor.context.setDefaultTimeout(20_000)
    // The provider has no icon; a session that ends is told so to what still asks.
    visitor.expectFault(/favicon\.ico/)
    visitor.expectFault(/^console \/api\/(status|events|log_ips|grant|logout)\b.*\b401\b/)
    await visitor.page.goto(path)
    return visitor
  }

  const button = (page: Page) => page.getByRole('button', { name: /^Sign in with OpenID/ })

  /** At the provider's own page. */
  async function answerProvider(page: Page, account: string, act = 'Sign in'): Promise<void> {
    await page.getByLabel('Account').fill(account)
    await page.getByRole('button', { name: act }).click()
  }

  it('lets a user in who never was here, opens the door of the claimed group, and the provider shuts it', async () => {
    const grace = await visit('/')
    const { page } = grace
    await button(page).click()
    await answerProvider(page, '1')
    await page.waitForURL('**/home/new')
    await heading(page, 'Hello, Grace Hopper').waitFor()
    expect(await page.getByRole('timer', { name: 'Time left in this session' }).innerText()).toMatch(
      /^01:(29|30):/,
    )
    await entry(page, knocName).getByRole('button', { name: 'Grant' }).click()
    await until('the door is open', site.isReachable)

    // Signing out at the provider, in another tab: its back channel ends our session, wherever the page is.
    const tab = await grace.tab()
    await tab.goto(`${provider.issuer}/session/end`)
    await tab.getByRole('button', { name: /yes, sign me out/i }).click()
    await until('the door is shut', async () => !(await site.isReachable()))
    await page.bringToFront()
    await button(page).waitFor()
    await grace.leave()
  })

  it('asks at the provider again on a public computer, though somebody is signed in there', async () => {
    const { page, context, leave } = await visit('/')
    await button(page).click()
    await answerProvider(page, '1')
    await page.waitForURL('**/home/new')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('This is a public computer').check()
    await button(page).click()
    await answerProvider(page, '1')
    await page.waitForURL('**/home/new')
    await heading(page, /^Hello/).waitFor()
    expect(await page.getByRole('timer', { name: 'Time left in this session' }).innerText()).toMatch(
      /^00:(30|29):/,
    )
    const cookie = (await context.cookies()).find(({ name }) => name === 'knoc_user')
    expect(cookie?.expires).toBe(-1)
    await leave()
  })

  it('leads an administrator to the console', async () => {
    const { page, leave } = await visit('/admin/login')
    await button(page).click()
    await answerProvider(page, '1')
    await page.waitForURL('**/admin/home')
    await heading(page, 'Home').waitFor()
    await leave()
  })

  it('makes no administrator of a stranger, and says so', async () => {
    const { page, leave } = await visit('/admin/login')
    await button(page).click()
    await answerProvider(page, '2')
    await page.getByText('Error: Login not permitted').waitFor()
    expect(new URL(page.url()).pathname).toBe('/admin/login')
    await leave()
  })

  it.each(['/', '/admin/login'])(
    'is back at the login page after a refusal at the provider: %s',
    async (path) => {
      const { page, leave } = await visit(path)
      await button(page).click()
      await answerProvider(page, '1', 'Refuse')
      await page.getByText('Error: Authentication failed').waitFor()
      expect(new URL(page.url()).pathname).toBe(path)
      await leave()
    },
  )

  it('says that the provider is away', async () => {
    await site.db
      .updateTable('settings')
      .set({ value: JSON.stringify('http://127.0.0.1:9') })
      .where('name', '=', 'OIDCIssuer')
      .execute()
    const { page, leave } = await visit('/')
    await button(page).click()
    await page.getByText(/The identity provider can't be reached right now/).waitFor()
    await leave()
  })
})

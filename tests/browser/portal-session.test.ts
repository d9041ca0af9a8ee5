import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { UserStatus } from '#server/status/status.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { findBarriers } from './accessibility.ts'
import { heading, isSameDocument, markDocument, reads, signIn, submitLogin } from './acts.ts'
import { changeAnswer } from './change-answer.ts'
import { eventually, journeyTime, patience } from './patience.ts'
import { entries } from './portal-states.ts'

const hourMs = 3_600_000
const expired = 'Error: Your session has expired, log in again for renewed access'

/** Titles are the rules of portal §2 (header), §3 (storage), §4 (login flow), §5 and §9. */
describe.skipIf(!hasBrowser())('the session in the portal', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    browser = await startBrowser()
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  /** Somebody with a password, who is nobody else's. */
  async function aUser(fields: Record<string, unknown> = {}) {
    const userName = `u${randomBytes(5).toString('hex')}`
    const password = 'a password of users 1'
    await site.api.request('POST', '/admin/users', {
      Name: 'Robin Reed',
      UserName: userName,
      PlainPassword: password,
      ...fields,
    })
    return { userName, password }
  }

  async function visit(): Promise<Visitor> {
    const visitor = await browser.visit(site.arena.serverUrl)
    visitor.context.setDefaultTimeout(patience)
    visitor.expectFault(/^console \/api\/(login|logout|status|events|password|log_ips)\b.*\b(4\d\d|50[23])\b/)
    visitor.expectFault(/^(console|request \w+) \/api\/(logout|status|events)\b.*(ERR_FAILED|ERR_ABORTED)/)
    return visitor
  }

  /** Lets the sessions of a user end in so many seconds. */
  const endIn = (seconds: number, { userName }: { userName: string }) =>
    site.db
      .updateTable('sessions')
      .set({ endsAt: new Date(Date.now() + seconds * 1_000) })
      .where('userId', 'in', (from) => from.selectFrom('users').select('id').where('userName', '=', userName))
      .where('endedAt', 'is', null)
      .execute()

  /** Changes what the server says of the status, on its way to this page. */
  const alterStatus = (page: Page, alter: (status: UserStatus) => Partial<UserStatus>) =>
    page.route('**/api/status*', (route) =>
      changeAnswer<UserStatus>(route, (status) => ({ ...status, ...alter(status) })),
    )

  const timer = (page: Page) => page.getByRole('timer', { name: 'Time left in this session' })
  const left = async (page: Page): Promise<number> => {
    const parts = /^(\d\d):(\d\d):(\d\d)$/.exec(await timer(page).innerText())
    expect(parts).not.toBeNull()
    const [hours = 0, minutes = 0, seconds = 0] = (parts ?? []).slice(1).map(Number)
    return hours * 3_600 + minutes * 60 + seconds
  }
  const atLogin = (page: Page) => heading(page, 'Sign in').waitFor()
  const storedKeys = (page: Page) =>
    page.evaluate(() => ({
      local: Object.keys(localStorage).toSorted(),
      session: Object.keys(sessionStorage).toSorted(),
    }))

  describe('session timer', () => {
    it('a countdown HH:MM:SS, refreshed every 1 s', async () => {
      const user = await aUser({ Duration: 95 })
      const { page, leave } = await visit()
      await signIn(page, user)
      await page.getByText('Session active').waitFor()
      const first = await left(page)
      expect(first).toBeGreaterThan(94 * 60)
      expect(first).toBeLessThanOrEqual(95 * 60)
      const seen = new Set<number>()
      await eventually(async () => seen.add(await left(page)).size).toBeGreaterThanOrEqual(4)
      // No second is left out while nothing else goes on.
      expect(Math.max(...seen) - Math.min(...seen)).toBeLessThanOrEqual(seen.size + 1)
      await leave()
    })

    it.each([
      ['ahead of', 5],
      ['behind', -5],
    ])('counts by the server’s clock: one of the browser %s it changes nothing', async (_, hours) => {
      const user = await aUser({ Duration: 60 })
      const { page, context, leave } = await visit()
      await context.addInitScript(setClock, hours * hourMs)
      await signIn(page, user)
      expect(await left(page)).toBeGreaterThan(58 * 60)
      expect(await left(page)).toBeLessThanOrEqual(3_600)
      await endIn(4, user)
      const endsBy = Date.now() + 4_000
      await page.reload()
      await page.getByText(expired).waitFor()
      expect(Date.now()).toBeGreaterThanOrEqual(endsBy - 500)
      await leave()
    })

    it('a clock that is set while the page is open does not log out', async () => {
      const user = await aUser()
      const { page, context, leave } = await visit()
      await context.addInitScript(setClock, 0)
      await signIn(page, user)
      await markDocument(page)
      const before = await left(page)
      await page.evaluate((milliseconds) => {
        ;(globalThis as { clockAheadMs?: number }).clockAheadMs = milliseconds
      }, 24 * hourMs)
      await eventually(() => left(page).catch(() => 0)).toBeGreaterThan(before - 60)
      expect(await isSameDocument(page)).toBe(true)
      expect(new URL(page.url()).pathname).toBe('/home/new')
      await leave()
    })

    it('expiry warning under 15 minutes (900 s)', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      let Ends: string | undefined
      await alterStatus(page, ({ Now }) => {
        Ends ??= new Date(Date.parse(Now) + 908_000).toISOString()
        return { Ends }
      })
      await signIn(page, user)
      await page.getByText('Session active').waitFor()
      await page.getByText('Session ends soon').waitFor()
      expect(await left(page)).toBeLessThanOrEqual(900)
      await page.getByRole('region', { name: 'End of the session' }).waitFor()
      await leave()
    })

    it('when the countdown reaches zero, the user is sent to Login', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      await signIn(page, user)
      await endIn(5, user)
      await page.reload()
      await heading(page, /^Hello/).waitFor()
      await page.getByText(expired).waitFor()
      expect(new URL(page.url()).pathname).toBe('/')
      expect((await storedKeys(page)).session).not.toContain('userSession')
      expect(await findBarriers(page)).toEqual([])
      // Signing in goes on from there.
      await submitLogin(page, user)
      await heading(page, /^Hello/).waitFor()
      await leave()
    })

    it('at zero the server need not be in reach', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      await signIn(page, user)
      await endIn(6, user)
      await page.reload()
      await heading(page, /^Hello/).waitFor()
      await eventually(() => left(page)).toBeLessThanOrEqual(6)
      await page.route('**/api/status*', (route) => route.abort())
      await page.getByText(expired).waitFor()
      await leave()
    })

    it('a hide/show timer button when high accessibility is on, and only then', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      await signIn(page, user)
      expect(await page.getByRole('button', { name: 'Hide timer' }).count()).toBe(0)
      await page.route('**/api/theme', (route) =>
        route.fulfill({
          json: { data: { Accent: 'teal', HighAccessibility: true, Logo: null, LightModeLogo: null } },
        }),
      )
      await page.reload()
      await page.getByRole('button', { name: 'Hide timer' }).click()
      await reads(timer(page), 'Timer hidden')
      await page.getByRole('button', { name: 'Show timer' }).click()
      await reads(timer(page), /^\d\d:\d\d:\d\d$/)
      await leave()
    })
  })

  describe('header', () => {
    it('greeting with name, keep-page-open text with the IP, account expiry in days', async () => {
      const validUntil = new Date(Date.now() + 3 * 24 * hourMs + 600_000)
      const user = await aUser({ ValidUntil: validUntil.toISOString() })
      const { page, leave } = await visit()
      await signIn(page, user)
      await heading(page, 'Hello, Robin Reed').waitFor()
      const panel = page.getByRole('region', { name: 'Account' })
      await reads(panel, /Keep this page open/)
      await reads(panel, /127\.0\.0\.1/)
      await reads(panel, /Your account expires in 3 days/)
      await leave()
    })

    it('a colour-mode cycle: light, dark, auto, remembered in local storage under ‘colourMode’', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      await page.emulateMedia({ colorScheme: 'dark' })
      await signIn(page, user)
      const mode = () => page.evaluate(() => document.documentElement.dataset['mode'])
      const stored = () => page.evaluate(() => localStorage.getItem('colourMode'))
      const step = (name: string) => page.getByRole('button', { name, exact: true }).click()
      expect([await stored(), await mode()]).toEqual([null, 'dark'])
      await step('Colours follow the system')
      expect([await stored(), await mode()]).toEqual(['light', 'light'])
      await step('Light colours')
      expect([await stored(), await mode()]).toEqual(['dark', 'dark'])
      await page.reload()
      await step('Dark colours')
      expect([await stored(), await mode()]).toEqual(['auto', 'dark'])
      await page.emulateMedia({ colorScheme: 'light' })
      await eventually(mode).toBe('light')
      await leave()
    })

    it('users may change their password only when AuthType is local', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      let AuthType = 'local'
      await alterStatus(page, () => ({ AuthType }))
      await signIn(page, user)
      await page.getByRole('button', { name: 'Change password' }).waitFor()
      for (AuthType of ['SAML', 'LDAP', 'OIDC', 'apikey']) {
        await page.reload()
        await page.getByRole('button', { name: 'Log out' }).waitFor()
        await eventually(() => page.getByRole('button', { name: 'Change password' }).count()).toBe(0)
      }
      await leave()
    })
  })

  describe('change password', () => {
    it('all fields required, NewPassword 8 to 64, ConfirmPassword equal; messages inside; ‘Password changed successfully’', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      await signIn(page, user)
      await page.getByRole('button', { name: 'Change password' }).click()
      const dialog = page.getByRole('dialog', { name: 'Change password' })
      const submit = () => dialog.getByRole('button', { name: 'Change password' }).click()
      const fill = async (current: string, next: string, confirmed = next) => {
        await dialog.getByLabel('Current password').fill(current)
        await dialog.getByLabel('New password', { exact: true }).fill(next)
        await dialog.getByLabel('Confirm the new password').fill(confirmed)
        await submit()
      }
      const says = (text: string) => dialog.getByText(text, { exact: true }).first().waitFor()
      await dialog.waitFor()
      await submit()
      await eventually(() => dialog.getByText('Required').count()).toBeGreaterThanOrEqual(2)

      await fill(user.password, '1234567')
      await says('The password must have 8 to 64 characters')
      await fill(user.password, 'x'.repeat(65))
      await says('The password must have 8 to 64 characters')
      await fill(user.password, 'another password 2', 'another password 3')
      await says("Passwords don't match")
      await fill('not the password', 'another password 2')
      await dialog.getByRole('alert').waitFor()
      expect(await findBarriers(page)).toEqual([])
      await fill(user.password, 'another password 2')
      await says('Password changed successfully')
      await dialog.getByRole('button', { name: 'OK' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Change password' }).click()
      expect(await dialog.getByLabel('Current password').inputValue()).toBe('')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Log out' }).click()
      await atLogin(page)
      await submitLogin(page, { ...user, password: 'another password 2' })
      await heading(page, /^Hello/).waitFor()
      await leave()
    })

    it('strength levels 0 to 4: very weak, weak, acceptable, strong, very strong', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      await signIn(page, user)
      await page.getByRole('button', { name: 'Change password' }).click()
      const dialog = page.getByRole('dialog', { name: 'Change password' })
      const field = dialog.getByLabel('New password', { exact: true })
      for (const [password, word] of [
        ['password', 'Very weak'],
        ['sunflower12', 'Weak'],
        ['gk4Tz9wq', 'Acceptable'],
        ['gk4Tz9wqB2', 'Strong'],
        ['gk4Tz9wqB2-luzon-harmony', 'Very strong'],
      ] as const) {
        await field.fill(password)
        await reads(
          dialog.locator('output', { hasText: 'Strength' }),
          new RegExp(`^Strength:\\s*${word}$`),
          patience,
        )
      }
      await leave()
    })
  })

  describe('login flow', () => {
    it('logout always clears local state and goes to login, and says so when the server can’t be reached', async () => {
      const user = await aUser()
      const visitor = await visit()
      const { page, context } = visitor
      await signIn(page, user)
      await page.route('**/api/logout', (route) => route.abort())
      await page.getByRole('button', { name: 'Log out' }).click()
      await atLogin(page)
      expect((await storedKeys(page)).session).not.toContain('userSession')
      const notice = page.getByText("You are logged out in this browser, but the server doesn't know yet")
      await notice.waitFor()
      expect(await findBarriers(page)).toEqual([])
      // The cookie still is good, and nobody comes back in by it.
      expect((await context.request.get('/api/status')).status()).toBe(200)
      await page.reload()
      await atLogin(page)
      await notice.waitFor()
      await page.goto('/home/new')
      await atLogin(page)

      await page.unroute('**/api/logout')
      await notice.waitFor({ state: 'hidden' })
      expect((await context.request.get('/api/status')).status()).toBe(401)
      await submitLogin(page, user)
      await heading(page, /^Hello/).waitFor()
      await visitor.leave()
    })

    it('several tabs agree: logout in one ends all', async () => {
      const user = await aUser()
      const visitor = await visit()
      const [page, second, third] = [visitor.page, await visitor.tab(), await visitor.tab()]
      await signIn(page, user)
      // No live event tells these two.
      for (const tab of [second, third]) {
        await tab.route('**/api/events', (route) => route.abort())
        await tab.goto('/home/new')
        await heading(tab, /^Hello/).waitFor()
        await markDocument(tab)
      }
      await page.getByRole('button', { name: 'Log out' }).click()
      for (const tab of [page, second, third]) {
        await atLogin(tab)
        expect((await storedKeys(tab)).session).not.toContain('userSession')
      }
      expect(await isSameDocument(second)).toBe(true)
      await visitor.leave()
    })

    it('several tabs agree: a sign-in in another is taken up', async () => {
      const user = await aUser()
      const visitor = await visit()
      const { page } = visitor
      const tab = await visitor.tab()
      await tab.goto('/')
      await atLogin(tab)
      await markDocument(tab)
      await signIn(page, user)
      await heading(tab, /^Hello/).waitFor()
      expect(await isSameDocument(tab)).toBe(true)
      await visitor.leave()
    })

    it('several tabs agree: another account starts the page anew', async () => {
      const [user, other] = [await aUser(), await aUser({ Name: 'Toni Tell' })]
      const visitor = await visit()
      const { page } = visitor
      await signIn(page, user)
      await markDocument(page)
      const tab = await visitor.tab()
      await tab.request.post('/api/login', {
        data: { UserName: other.userName, Password: other.password },
      })
      await tab.goto('/home/new')
      await heading(tab, 'Hello, Toni Tell').waitFor()
      await heading(page, 'Hello, Toni Tell').waitFor()
      expect(await isSameDocument(page)).toBe(false)
      await visitor.leave()
    })

    it('a failed status fetch clears the stored session when it is a 401; a network fault or 5xx keeps and says so', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      await signIn(page, user)
      const stale = page.getByText("The server can't be reached, what you see may be out of date")
      const lookAgain = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      for (const answer of [
        { status: 503, json: { Err: 'err.serviceUnavailable' } },
        { status: 502, body: '<html>Bad gateway</html>' },
        'abort',
      ] as const) {
        await page.route('**/api/status*', (route) =>
          answer === 'abort' ? route.abort() : route.fulfill(answer),
        )
        await eventually(async () => {
          await lookAgain()
          return stale.count()
        }).toBe(1)
        expect(new URL(page.url()).pathname).toBe('/home/new')
        expect((await storedKeys(page)).session).toContain('userSession')
        await page.reload()
        await heading(page, /^Hello/).waitFor()
        await stale.waitFor()
        await page.unroute('**/api/status*')
        await eventually(async () => {
          await lookAgain()
          return stale.count()
        }).toBe(0)
      }
      await page.route('**/api/status*', (route) =>
        route.fulfill({ status: 401, json: { Err: 'err.invalidSession' } }),
      )
      await page.reload()
      await atLogin(page)
      expect((await storedKeys(page)).session).not.toContain('userSession')
      await leave()
    })
  })

  describe('storage', () => {
    /** Everything of the dashboard that is remembered. */
    async function useEverything(page: Page): Promise<void> {
      await page.getByRole('button', { name: 'Show as list' }).click()
      await page.getByRole('button', { name: 'Show as cards' }).click()
      await page.getByRole('button', { name: 'Add Payroll to favourites' }).click()
      await page.getByRole('button', { name: 'Colours follow the system' }).click()
      await page.evaluate(() =>
        document.addEventListener('click', (event) => event.preventDefault(), { capture: true }),
      )
      await page.getByRole('link', { name: /Payroll/ }).click()
    }
    const anEntry = (status: UserStatus): Partial<UserStatus> =>
      entries({
        Description: 'Payroll',
        URL: 'https://payroll.example.com/',
        Status: 0,
        ExpiredAfter: new Date(Date.parse(status.Now) + hourMs).toISOString(),
      })

    it('local storage keys: view, favouriteAclIds, topAclIds, jsBundleHash, colourMode; session storage: userSession', async () => {
      const user = await aUser()
      const { page, leave } = await visit()
      await alterStatus(page, anEntry)
      await page.goto('/')
      await atLogin(page)
      expect(await storedKeys(page)).toEqual({ local: [], session: [] })
      await signIn(page, user)
      await useEverything(page)
      await eventually(() => storedKeys(page)).toEqual({
        local: ['colourMode', 'favouriteAclIds', 'jsBundleHash', 'topAclIds', 'view'],
        session: ['userSession'],
      })
      const [hash, built] = await page.evaluate(() => [
        localStorage.getItem('jsBundleHash'),
        document.querySelector('meta[name="bundle-hash"]')?.getAttribute('content'),
      ])
      expect(hash).toBe(built)
      const stored = await page.evaluate(() => sessionStorage.getItem('userSession'))
      expect(stored).not.toContain(user.password)
      await page.getByRole('button', { name: 'Log out' }).click()
      await atLogin(page)
      // The login stands before the server has answered the logout.
      await eventually(async () => (await storedKeys(page)).session).toEqual([])
      await leave()
    })

    it('kiosk: nothing written to localStorage, and a cookie without Max-Age', async () => {
      const user = await aUser()
      const { page, context, leave } = await visit()
      await alterStatus(page, anEntry)
      await page.goto('/')
      await page.getByLabel('This is a public computer').check()
      await page.getByRole('button', { name: 'Colours follow the system' }).click()
      await page.getByRole('button', { name: 'Light colours' }).click()
      await page.getByRole('button', { name: 'Dark colours' }).click()
      await submitLogin(page, user)
      await heading(page, /^Hello/).waitFor()
      await useEverything(page)
      await page.reload()
      await heading(page, /^Hello/).waitFor()
      await page.getByRole('button', { name: 'Show as list' }).click()
      expect((await storedKeys(page)).local).toEqual([])
      expect((await context.cookies()).map(({ expires }) => expires)).toEqual([-1])
      await page.getByRole('button', { name: 'Log out' }).click()
      await atLogin(page)
      await eventually(() => storedKeys(page)).toEqual({ local: [], session: [] })
      await leave()
    })
  })
})

/** Runs in the page: its clock goes ahead of the host's by so much, or by what `clockAheadMs` says later. */
function setClock(aheadMs: number): void {
  const place = globalThis as { clockAheadMs?: number }
  place.clockAheadMs = aheadMs
  const Real = Date
  const now = () => Real.now() + (place.clockAheadMs ?? 0)
  globalThis.Date = new Proxy(Real, {
    construct: (target, given: []) => (given.length === 0 ? new target(now()) : new target(...given)),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  })
}

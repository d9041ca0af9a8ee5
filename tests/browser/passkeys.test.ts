import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type LocalhostSite, localhostAdmin, openLocalhostSite } from '#tests/support/localhost-site.ts'
import { findBarriers } from './accessibility.ts'
import { heading, logOutAdmin, submitLogin } from './acts.ts'
import { journeyTime } from './patience.ts'

const user = { userName: 'robin', password: 'a password of users 1' }
const passkeyButton = { name: 'Sign in with a passkey' }
const stepButton = { name: 'Use a passkey' }
const patiently = { timeout: 10_000, interval: 20 }

/** With Chromium's own virtual authenticator, on the real pages. Each part goes on where the one before it ended. */
describe.skipIf(!hasBrowser())('passkeys in the browser', { timeout: journeyTime, retry: 1 }, () => {
  let site: LocalhostSite
  let browser: TestBrowser

  beforeAll(async () => {
    site = await openLocalhostSite()
    await site.api.request('POST', '/admin/users', {
      Name: 'Robin Reed',
      UserName: user.userName,
      PlainPassword: user.password,
    })
    browser = await startBrowser()
  }, 120_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  const realms = [
    {
      realm: 'user',
      login: user,
      loginPage: '/',
      isHome: (page: Page) => heading(page, /^Hello, /).waitFor(),
      openDialog: async (page: Page) => page.getByRole('button', { name: 'Passkeys' }).click(),
      logout: async (page: Page) => page.getByRole('button', { name: 'Log out' }).click(),
      demandSecondFactor: () =>
        site.db
          .updateTable('users')
          .set({ totpEnabled: true })
          .where('userName', '=', user.userName)
          .execute(),
    },
    {
      realm: 'admin',
      login: localhostAdmin,
      loginPage: '/admin/login',
      isHome: (page: Page) => heading(page, 'Home').waitFor(),
      openDialog: async (page: Page) => {
        await page.getByRole('button', { name: /^Account of/ }).click()
        await page.getByRole('menuitem', { name: 'Passkeys' }).click()
      },
      logout: logOutAdmin,
      demandSecondFactor: () =>
        site.db
          .updateTable('admins')
          .set({ totpEnabled: true })
          .where('userName', '=', localhostAdmin.userName)
          .execute(),
    },
  ] as const

  describe.each(realms)('of the $realm realm', (way) => {
    const { login, loginPage, isHome, openDialog, logout } = way
    let visitor: Visitor
    let page: Page
    let key: VirtualAuthenticator
    let dialog: Locator

    beforeAll(async () => {
      visitor = await browser.visit(site.url)
      // A stream that ends with its session may ask once more before the page has heard of it.
      visitor.expectFault(/^console \/api\/events\b.*\b401\b/)
      page = visitor.page
      key = await addAuthenticator(page)
      dialog = page.getByRole('dialog', { name: 'Passkeys' })
    })
    afterAll(() => visitor?.leave())

    const banner = (text: string) => page.getByRole('alert').getByText(text).waitFor()
    const add = async (name: string) => {
      await dialog.getByLabel('Name of the new passkey').fill(name)
      await page.keyboard.press('Enter')
    }
    const toLogin = async () => {
      await logout(page)
      await page.getByRole('button', passkeyButton).waitFor()
    }

    it('are added in the dialog, with a name', async () => {
      await page.goto(loginPage)
      await submitLogin(page, login)
      await isHome(page)
      await openDialog(page)
      await dialog.getByText('No passkeys yet').waitFor()
      await dialog.getByRole('button', { name: 'Add a passkey' }).click()
      await dialog.getByText('Required').waitFor()
      await add('Work laptop')
      await dialog.getByRole('listitem').getByText('Work laptop').waitFor()
      await dialog.getByRole('status').getByText('Passkey added').waitFor()
      expect(await dialog.getByRole('listitem').innerText()).toContain('Never used')
      await expect.poll(() => dialog.getByLabel('Name of the new passkey').inputValue()).toBe('')
      expect(await key.credentials()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }])
      expect(await key.findBarriers()).toEqual([])
    })

    it('are not added twice on one device', async () => {
      await add('The same again')
      await dialog.getByRole('alert').getByText('This passkey is registered already').waitFor()
      expect(await dialog.getByRole('listitem').count()).toBe(1)
    })

    it('are renamed in place, by keyboard alone', async () => {
      await dialog.getByRole('button', { name: 'Rename Work laptop' }).focus()
      await page.keyboard.press('Enter')
      const field = dialog.getByLabel('New name of Work laptop')
      expect(await field.inputValue()).toBe('Work laptop')
      await page.keyboard.press('Control+A')
      await page.keyboard.type('Home laptop')
      await page.keyboard.press('Enter')
      const renamed = dialog.getByRole('button', { name: 'Rename Home laptop' })
      await renamed.waitFor()
      await expect
        .poll(() => renamed.evaluate((button) => button === document.activeElement), patiently)
        .toBe(true)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
    })

    it('sign in alone, without name and password', async () => {
      await toLogin()
      await page.getByRole('button', passkeyButton).click()
      await isHome(page)
      await openDialog(page)
      await dialog.getByText(/Last used/).waitFor()
      await page.keyboard.press('Escape')
    })

    it('sign nobody in whose fingerprint is another’s', async () => {
      await toLogin()
      await key.setVerified(false)
      await page.getByRole('button', passkeyButton).click()
      await banner('No passkey was used')
      await key.setVerified(true)
      await page.getByRole('button', passkeyButton).click()
      await isHome(page)
    })

    it('are the second step', async () => {
      await way.demandSecondFactor()
      await toLogin()
      visitor.expectFault(/^console \/api\/(admin\/)?(login|status)\b.*\b403\b/)
      await submitLogin(page, login)
      await page.waitForURL('**/otp/verify')
      await page.getByRole('button', stepButton).waitFor()
      expect(await key.findBarriers()).toEqual([])
      await key.setVerified(false)
      await page.getByRole('button', stepButton).click()
      await banner('No passkey was used')
      await key.setVerified(true)
      await page.getByRole('button', stepButton).click()
      await isHome(page)
    })

    it('prove both factors alone', async () => {
      await toLogin()
      await page.getByRole('button', passkeyButton).click()
      await isHome(page)
    })

    it.runIf(way.realm === 'user')(
      'keep somebody signed in, where they are the second factor too',
      async () => {
        await site.db
          .updateTable('sessions')
          .set({ endsAt: new Date(Date.now() + 10 * 60_000) })
          .where('endedAt', 'is', null)
          .execute()
        await page.reload()
        const warning = page.getByRole('region', { name: 'End of the session' })
        await warning.getByRole('button', { name: 'Stay signed in' }).click()
        const question = page.getByRole('dialog', { name: 'Stay signed in' })
        await question.getByRole('button', passkeyButton).click()
        await question.waitFor({ state: 'hidden' })
        const timer = page.getByRole('timer', { name: 'Time left in this session' })
        await expect.poll(() => timer.innerText(), patiently).toMatch(/^0[78]:/)
      },
    )

    it('fit on a narrow screen', async () => {
      const size = page.viewportSize() ?? { width: 1280, height: 720 }
      await openDialog(page)
      await page.setViewportSize({ width: 320, height: 640 })
      await dialog.getByText('Home laptop').waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
      await page.setViewportSize(size)
    })

    it('are removed behind a question that names them', async () => {
      const question = page.getByRole('alertdialog', { name: 'Remove this passkey?' })
      const remove = dialog.getByRole('button', { name: 'Remove Home laptop' })
      await remove.click()
      await question.getByText('Home laptop').waitFor()
      await question.getByRole('button', { name: 'Cancel' }).click()
      await question.waitFor({ state: 'hidden' })
      await remove.click()
      await question.getByRole('button', { name: 'Remove' }).click()
      await dialog.getByText('No passkeys yet').waitFor()
      await dialog.getByRole('status').getByText('Passkey removed').waitFor()
      await question.waitFor({ state: 'hidden' })
      await expect
        .poll(() => dialog.evaluate((element) => element.contains(document.activeElement)), patiently)
        .toBe(true)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
    })

    it('are refused after that, with a text that says so', async () => {
      await toLogin()
      visitor.expectFault(/^console \/api\/(admin\/)?login\/passkey\b.*\b422\b/)
      await page.getByRole('button', passkeyButton).click()
      await banner("Error: This passkey wasn't accepted")
    })

    it('say inside the dialog what went wrong', async () => {
      const other = await browser.visit(site.url)
      await addAuthenticator(other.page)
      await other.page.route('**/api/**/passkeys', (route) => route.abort())
      await other.page.route('**/api/passkeys', (route) => route.abort())
      other.expectFault(/passkeys/)
      await site.db
        .updateTable(way.realm === 'user' ? 'users' : 'admins')
        .set({ totpEnabled: false })
        .execute()
      await other.page.goto(loginPage)
      await submitLogin(other.page, login)
      await isHome(other.page)
      await openDialog(other.page)
      const alert = other.page.getByRole('dialog', { name: 'Passkeys' }).getByRole('alert')
      await alert.getByText("Error: The server can't be reached").waitFor({ timeout: 20_000 })
      await other.leave()
    })

    it('aren’t offered where the browser has none', async () => {
      const other = await browser.visit(site.url)
      await other.context.addInitScript(() => {
        Reflect.deleteProperty(globalThis, 'PublicKeyCredential')
      })
      await other.page.goto(loginPage)
      await other.page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
      expect(await other.page.getByRole('button', passkeyButton).count()).toBe(0)
      await submitLogin(other.page, login)
      await isHome(other.page)
      await openDialog(other.page)
      await other.page.getByText("This browser or device can't use passkeys").waitFor()
      expect(await other.page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0)
      await other.leave()
    })
  })
})

type VirtualAuthenticator = Awaited<ReturnType<typeof addAuthenticator>>

/** A fingerprint reader of Chromium's own in one page, that always feels its owner's finger. */
async function addAuthenticator(page: Page) {
  const session = await page.context().newCDPSession(page)
  let authenticatorId = await plugIn()

  async function plugIn(): Promise<string> {
    await session.send('WebAuthn.enable')
    const added = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    return added.authenticatorId
  }
  const credentials = async () =>
    (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials

  return {
    credentials,
    /** Whose finger it is from now on. */
    setVerified: (isUserVerified: boolean) =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    /** Looks at the page as `findBarriers` does, whose leaving the page unplugs every authenticator in it. */
    findBarriers: async () => {
      const kept = await credentials()
      const barriers = await findBarriers(page)
      await session.send('WebAuthn.disable')
      authenticatorId = await plugIn()
      for (const credential of kept)
        await session.send('WebAuthn.addCredential', { authenticatorId, credential })
      return barriers
    },
  }
}

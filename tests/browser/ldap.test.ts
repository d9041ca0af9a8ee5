import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { directoryPasswordOf, dnOf, type Slapd, startSlapd } from '#tests/support/slapd.ts'
import { type Login, submitLogin } from './acts.ts'
import { createCodeApp } from './codes.ts'
import { journeyTime, patience } from './patience.ts'

const canRun =
  hasBrowser() && ['slapd', 'openssl', 'oathtool'].every((name) => requireProgram(name as 'slapd'))

/** With OpenLDAP, over StartTLS: its people sign in at the form that everybody has. */
describe.skipIf(!canRun)('a directory’s people in the browser', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let slapd: Slapd
  let browser: TestBrowser

  beforeAll(async () => {
    ;[site, slapd] = await Promise.all([openBrowserSite({ kind: 'gate' }), startSlapd()])
    await site.api.request('POST', '/admin/settings/authentication', {
      LDAPURL: slapd.url,
      LDAPStartTLS: true,
      LDAPSkipVerifyTLS: true,
    })
    const person = (UserName: string) => ({ Name: UserName, UserName, AuthType: 'LDAP' })
    await site.api.request('POST', '/admin/users', { ...person('ada'), ThirdPartyAuth: dnOf('ada') })
    await site.api.request('POST', '/admin/users', {
      ...person('grace'),
      ThirdPartyAuth: dnOf('grace'),
      TOTPEnabled: true,
    })
    await site.api.request('POST', '/admin/admins', { ...person('ada'), DN: dnOf('ada') })
    browser = await startBrowser()
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await slapd?.stop()
    await site?.close()
  }, 60_000)

  const loginOf = (userName: string): Login => ({ userName, password: directoryPasswordOf(userName) })
  const realms = [
    { realm: 'users', page: '/', home: '**/home/new' },
    { realm: 'admins', page: '/admin/login', home: '**/admin/home' },
  ] as const

  async function visit(path: string): Promise<Visitor> {
    const visitor = await browser.visit(site.arena.serverUrl)
    visitor.context.setDefaultTimeout(patience)
    visitor.expectFault(/^console \/api\/(admin\/)?(login|status|events|otp)\b.*\b(401|403|503)\b/)
    await visitor.page.goto(path)
    return visitor
  }

  it.each(realms)('let $realm in with the directory’s password only', async ({ page: path, home }) => {
    const { page, leave } = await visit(path)
    await submitLogin(page, { userName: 'ada', password: 'not the password' })
    await page.getByText('Error: Invalid credentials').waitFor()
    await submitLogin(page, loginOf('ada'))
    await page.waitForURL(home)
    await leave()
  })

  it('ask for a second factor as well, where the account must have one', async () => {
    const { page, leave } = await visit('/')
    await submitLogin(page, loginOf('grace'))
    await page.waitForURL('**/otp/onboard')
    const { Secret } = await page.evaluate(async () => {
      const response = await fetch('/api/otp/generate')
      return ((await response.json()) as { data: { Secret: string } }).data
    })
    await page.getByRole('textbox', { name: /code/i }).fill(await createCodeApp(Secret).next())
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Your recovery codes' }).waitFor()
    await leave()
  })

  it.each(realms)(
    'tell $realm when the directory is away, and count nothing',
    async ({ page: path, home }) => {
      await slapd.stop()
      try {
        const { page, leave } = await visit(path)
        await submitLogin(page, loginOf('ada'))
        await page.getByText(/Error: The directory can.t be reached/).waitFor()
        expect(page.url()).not.toMatch(/home/)
        await leave()
      } finally {
        slapd = await startSlapd()
        await site.api.request('POST', '/admin/settings/authentication', { LDAPURL: slapd.url })
      }
      const { page, leave } = await visit(path)
      await submitLogin(page, loginOf('ada'))
      await page.waitForURL(home)
      await leave()
    },
  )
})

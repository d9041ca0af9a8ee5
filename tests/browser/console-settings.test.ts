import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKeyPair } from '#server/auth/saml/key-pair.ts'
import type { AuthSettingsAnswer } from '#server/settings/auth-setting-wire.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { type SamlIdp, startSamlIdp } from '#tests/support/saml-idp.ts'
import { findBarriers } from './accessibility.ts'
import { goTo, heading, reads, signInAdmin } from './acts.ts'

const bindPassword = 'the password of the service account'

/** As long as a busy machine may take. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000, interval: 50 })

describe.skipIf(!hasBrowser())('settings in the console', { timeout: 120_000, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let idp: SamlIdp
  let boss: Visitor
  let page: Page
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'knoc-settings-'))
    idp = await startSamlIdp()
    site = await openBrowserSite({ kind: 'gate' })
    browser = await startBrowser()
    boss = await browser.visit(site.arena.serverUrl)
    page = boss.page
    page.setDefaultTimeout(30_000)
    await signInAdmin(page, admin)
  }, 120_000)
  beforeEach(async () => {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto('/admin/settings')
    await section('Authentication').getByLabel('Public URL').waitFor()
  })
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
    await idp?.stop()
    await rm(folder, { recursive: true, force: true })
  }, 60_000)

  /** A section by its heading: each is a form of its own. */
  const section = (name: string) =>
    page.locator('form').filter({
      has: page.getByRole('button', { name: 'Save' }),
      hasText: name === 'Kiosk' ? 'on a public computer' : 'Public URL',
    })
  const tab = (name: string) => page.getByRole('tab', { name })
  const panel = () => page.getByRole('tabpanel')
  const users = () => panel().locator('section').filter({ hasText: 'Users' }).first()
  const save = (name: string) => section(name).getByRole('button', { name: 'Save' })
  const cancel = (name: string) => section(name).getByRole('button', { name: 'Cancel' })
  const said = (text: string) => page.getByRole('log').getByText(text, { exact: true }).first().waitFor()
  const stored = () => site.api.request<AuthSettingsAnswer>('GET', '/admin/settings/authentication')
  const expectRefusal = (status: number) =>
    boss.expectFault(new RegExp(`^console /api/admin/settings[^ ]*: .*\\b${status}\\b`))

  describe('of the kiosk', () => {
    it('can be saved or taken back only when something is changed', async () => {
      const field = section('Kiosk').getByLabel('Session duration on a public computer')
      expect(await field.inputValue()).toBe('30')
      expect(await save('Kiosk').isDisabled()).toBe(true)
      expect(await cancel('Kiosk').isDisabled()).toBe(true)
      await field.fill('31')
      await cancel('Kiosk').click()
      expect(await field.inputValue()).toBe('30')
      expect(await save('Kiosk').isDisabled()).toBe(true)
    })

    it('last 5 to 120 minutes', async () => {
      const field = section('Kiosk').getByLabel('Session duration on a public computer')
      for (const wrong of ['4', '121', '7.5', 'soon', '']) {
        await field.fill(wrong)
        await save('Kiosk').click()
        await section('Kiosk').getByText('The kiosk session must last 5 to 120 minutes').waitFor()
      }
      await field.fill('45')
      await save('Kiosk').click()
      await said('Settings updated')
      await eventually(() => save('Kiosk').isDisabled()).toBe(true)
      await page.reload()
      await eventually(() => field.inputValue()).toBe('45')
    })

    it('are never written over somebody else’s change', async () => {
      const field = section('Kiosk').getByLabel('Session duration on a public computer')
      await field.fill('60')
      await site.api.request('POST', '/admin/settings/config', { KioskSessionDuration: 90 })
      expectRefusal(409)
      await save('Kiosk').click()
      await section('Kiosk').getByText('Somebody else changed this meanwhile').waitFor()
      await section('Kiosk').getByRole('button', { name: 'Load again' }).click()
      await eventually(() => field.inputValue()).toBe('90')
    })
  })

  describe('of the directory', () => {
    it('bring a fault up from a tab that isn’t shown', async () => {
      await tab('LDAP').click()
      await page.getByLabel('URL', { exact: true }).fill('cldap://ldap.example.org')
      await tab('SAML').click()
      await save('Authentication').click()
      await panel().getByText('URL must be ldap or ldaps').waitFor()
      expect(await tab('LDAP').getAttribute('aria-selected')).toBe('true')
      await eventually(() =>
        page.getByLabel('URL', { exact: true }).evaluate((field) => field === document.activeElement),
      ).toBe(true)
    })

    it('never show a secret again', async () => {
      await tab('LDAP').click()
      await page.getByLabel('URL', { exact: true }).fill('ldap://127.0.0.1:1')
      await panel().getByText('Passwords cross the network in the clear').waitFor()
      await panel().getByRole('switch', { name: 'StartTLS' }).click()
      await panel().getByRole('switch', { name: 'Skip TLS verification' }).click()
      await panel().getByText('Whoever stands between').waitFor()
      await panel().getByLabel('Service account (DN)').fill('cn=knoc,dc=example,dc=org')
      await panel().getByLabel('Password of the service account').fill(bindPassword)
      await panel().getByLabel('Search base').fill('dc=example,dc=org')
      await panel().getByLabel('User filter').fill('(uid=nobody)')
      expectRefusal(422)
      await save('Authentication').click()
      await panel().getByText('This is not a valid LDAP filter').waitFor()
      await panel().getByLabel('User filter').fill('(uid={username})')
      expect(await findBarriers(page)).toEqual([])
      await save('Authentication').click()
      await said('Settings updated')

      await page.reload()
      await tab('LDAP').click()
      const secret = panel().getByLabel('Password of the service account')
      expect(await secret.inputValue()).toBe('')
      expect(await secret.getAttribute('placeholder')).toBe('RECORDED')
      expect(await page.content()).not.toContain(bindPassword)
      expect(await stored()).toMatchObject({
        LDAPBindPassword: 'RECORDED',
        LDAPStartTLS: true,
        LDAPSkipVerifyTLS: true,
        LDAPUserFilter: '(uid={username})',
      })
    })

    it('keep a recorded secret, but not for another address', async () => {
      await tab('LDAP').click()
      await panel().getByLabel('Group filter').fill('(member={dn})')
      await save('Authentication').click()
      await said('Settings updated')
      expect(await stored()).toMatchObject({ LDAPBindPassword: 'RECORDED', LDAPGroupFilter: '(member={dn})' })
      await page.getByLabel('URL', { exact: true }).fill('ldap://127.0.0.2:1')
      await tab('OIDC').click()
      expectRefusal(409)
      await save('Authentication').click()
      await panel().getByText('enter the credentials again').waitFor()
      expect(await tab('LDAP').getAttribute('aria-selected')).toBe('true')
      await cancel('Authentication').click()
    })
  })

  describe('of SAML', () => {
    it('take metadata by their address, which is read at once', async () => {
      const url = users().getByLabel('Metadata URL')
      await url.fill('ftp://idp.example.org')
      await save('Authentication').click()
      await users().getByText('URL must be http or https').waitFor()
      await url.fill('http://127.0.0.1:1/metadata')
      expectRefusal(422)
      await save('Authentication').click()
      await users().getByText('The SAML metadata could not be read from this address').waitFor()
      await url.fill(idp.metadataUrl)
      await save('Authentication').click()
      await said('Settings updated')
      expect((await stored()).SAMLMetadataURL).toBe(idp.metadataUrl)
    })

    it('take metadata by file, in place of the address', async () => {
      const file = join(folder, 'metadata.xml')
      await writeFile(file, await (await fetch(idp.metadataUrl)).text())
      await users().getByRole('radio', { name: 'From a file' }).click()
      await users().getByLabel('Metadata (XML)', { exact: true }).fill('<html/>')
      expectRefusal(422)
      await save('Authentication').click()
      await users().getByText('These are not valid SAML metadata').waitFor()
      await users().locator('input[type="file"][accept*="xml"]').setInputFiles(file)
      await eventually(() => users().getByLabel('Metadata (XML)', { exact: true }).inputValue()).toContain(
        'EntityDescriptor',
      )
      await save('Authentication').click()
      await said('Settings updated')
      expect(await stored()).toMatchObject({
        SAMLMetadataURL: '',
        SAMLMetadataFile: expect.stringContaining('EntityDescriptor'),
      })
    })

    it('generate a key pair behind a confirmation, and keep what was typed elsewhere', async () => {
      await users().getByText('None', { exact: true }).waitFor()
      await tab('OIDC').click()
      await panel().getByLabel('Client ID').first().fill('typed, not saved')
      await tab('SAML').click()
      await generate()
      await users().getByText('Recorded', { exact: true }).waitFor()
      expect(await users().getByLabel('Private key (PEM)', { exact: true }).getAttribute('placeholder')).toBe(
        'RECORDED',
      )
      expect(await users().getByLabel('Certificate (PEM)', { exact: true }).getAttribute('placeholder')).toBe(
        'provided',
      )
      expect(await stored()).toMatchObject({ SAMLKeyFileSet: true, AdminSAMLKeyFileSet: false })
      await tab('OIDC').click()
      expect(await panel().getByLabel('Client ID').first().inputValue()).toBe('typed, not saved')
      await cancel('Authentication').click()
      await tab('SAML').click()
      await users().getByRole('button', { name: 'Generate key pair' }).click()
      await reads(page.getByRole('alertdialog'), /replaces the recorded one/)
      await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    })

    async function generate(): Promise<void> {
      await users().getByRole('button', { name: 'Generate key pair' }).click()
      const asked = page.getByRole('alertdialog', { name: 'Generate a new SAML key pair?' })
      await asked.getByRole('button', { name: 'Cancel' }).click()
      expect((await stored()).SAMLKeyFileSet).toBe(false)
      await users().getByRole('button', { name: 'Generate key pair' }).click()
      await asked.getByRole('button', { name: 'Generate key pair' }).click()
      const made = page.getByRole('dialog', { name: 'SAML key pair generated' })
      await reads(made, /-----BEGIN CERTIFICATE-----/)
      await made.getByRole('button', { name: 'Close' }).last().click()
      await made.waitFor({ state: 'hidden' })
    }

    it('take an uploaded key pair that fits, and remove one', async () => {
      const [one, other] = [await createKeyPair('sp.example'), await createKeyPair('other.example')]
      const key = users().getByLabel('Private key (PEM)', { exact: true })
      await key.fill(one.key)
      await users().getByLabel('Certificate (PEM)', { exact: true }).fill(other.certificate)
      expectRefusal(422)
      await save('Authentication').click()
      await users().getByText("The private key and the certificate don't fit together").waitFor()
      await users().getByLabel('Certificate (PEM)', { exact: true }).fill(one.certificate)
      await save('Authentication').click()
      await said('Settings updated')
      await eventually(() => key.inputValue()).toBe('')
      expect(await page.content()).not.toContain('PRIVATE KEY')

      await users().getByLabel('Remove the recorded key pair').check()
      expect(await key.isDisabled()).toBe(true)
      await save('Authentication').click()
      await users().getByText('None', { exact: true }).waitFor()
      expect(await stored()).toMatchObject({ SAMLKeyFileSet: false, SAMLCertFileSet: false })
    })

    it('show the addresses to tell the provider, by the public URL', async () => {
      const origin = site.arena.serverUrl
      await reads(users(), new RegExp(`${origin}/api/saml/metadata`))
      await section('Authentication').getByLabel('Public URL').fill('https://knoc.example.org/')
      await reads(users(), /https:\/\/knoc\.example\.org\/api\/saml\/acs/)
      await tab('OIDC').click()
      for (const path of [
        'oidc/callback',
        'oidc/backchannel',
        'admin/oidc/callback',
        'admin/oidc/backchannel',
      ])
        await panel().getByText(`https://knoc.example.org/api/${path}`, { exact: true }).waitFor()
      await cancel('Authentication').click()
    })
  })

  it('refuse an issuer that is none, at its field', async () => {
    await tab('OIDC').click()
    await panel().getByLabel('Issuer').first().fill('http://127.0.0.1:1')
    await panel().getByLabel('Client ID').first().fill('knoc')
    expectRefusal(422)
    await save('Authentication').click()
    await panel().getByText("The issuer's OpenID configuration could not be read").waitFor()
    await cancel('Authentication').click()
  })

  it('aren’t left with unsaved changes without a question', async () => {
    await section('Kiosk').getByLabel('Session duration on a public computer').fill('33')
    const toUsers = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' })
    const asked = page.getByRole('alertdialog', { name: 'Leave without saving?' })
    await toUsers.click()
    await asked.getByRole('button', { name: 'Cancel' }).click()
    await asked.waitFor({ state: 'hidden' })
    expect(await section('Kiosk').getByLabel('Session duration on a public computer').inputValue()).toBe('33')
    await toUsers.click()
    await asked.getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'Users').waitFor()
    await goTo(page, 'Settings')
  })

  it('stand without barriers, wide and narrow, on every tab', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    for (const width of [1280, 320])
      for (const name of ['SAML', 'OIDC', 'LDAP']) {
        await page.setViewportSize({ width, height: 800 })
        await tab(name).click()
        expect(await findBarriers(page), `${name} at ${width} px`).toEqual([])
      }
  })
})

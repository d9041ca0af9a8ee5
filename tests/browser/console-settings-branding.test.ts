import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { logoLimits } from '#server/settings/logo.schema.ts'
import type { SettingsAnswer } from '#server/settings/setting.schema.ts'
import type { Theme } from '#server/status/status.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { aPng, aPngOf } from '#tests/support/pictures.ts'
import { findBarriers, focusOf, moveTo } from './accessibility.ts'
import { signInAdmin, submitLogin } from './acts.ts'
import { eventually, journeyTime } from './patience.ts'

const user = { userName: 'robin', password: 'a password of users 1' }
const forLight = aPng({ width: 240, height: 60, colour: [30, 30, 110] })
const forDark = aPng({ width: 120, height: 60, colour: [230, 220, 120] })

describe.skipIf(!hasBrowser())('Settings → Branding and UI', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let boss: Visitor
  let page: Page

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    await site.api.request('POST', '/admin/users', {
      Name: 'Robin Reed',
      UserName: user.userName,
      PlainPassword: user.password,
    })
    browser = await startBrowser()
    boss = await browser.visit(site.arena.serverUrl)
    page = boss.page
    page.setDefaultTimeout(30_000)
    await signInAdmin(page, admin)
  }, 120_000)
  beforeEach(async () => {
    const initial = { Accent: 'grape', HighAccessibility: false, NewUserDashboard: true }
    await site.api.request('POST', '/admin/settings/customize', { ...initial, Logo: '', LightModeLogo: '' })
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto('/admin/settings')
    await form().waitFor()
  })
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  const form = (name = 'Branding') => page.getByRole('form', { name, exact: true })
  const field = (ground: 'light' | 'dark') =>
    form().getByRole('group', { name: `Logo on ${ground} backgrounds` })
  const save = (name = 'Branding') => form(name).getByRole('button', { name: 'Save' })
  const cancel = (name = 'Branding') => form(name).getByRole('button', { name: 'Cancel' })
  const said = (text: string) => page.getByRole('log').getByText(text, { exact: true }).first().waitFor()
  const stored = () => site.api.request<SettingsAnswer>('GET', '/admin/settings')
  const theme = () => site.api.request<Theme>('GET', '/theme')
  const pageLook = (of: Page) =>
    of.evaluate(() => {
      const { accent, contrast, mode } = document.documentElement.dataset
      return { accent, contrast, mode }
    })
  const pick = (ground: 'light' | 'dark', buffer: Buffer, mimeType = 'image/png') =>
    field(ground).locator('input[type="file"]').setInputFiles({ name: 'logo.png', mimeType, buffer })

  it('are set with the keyboard alone, and the console wears them at once', async () => {
    await form().getByRole('radio', { name: 'Grape' }).focus()
    await page.keyboard.press('ArrowRight')
    await eventually(() => form().getByRole('radio', { name: 'Iceberg' }).getAttribute('aria-checked')).toBe(
      'true',
    )
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await eventually(() =>
      form().getByRole('switch', { name: 'High accessibility' }).getAttribute('aria-checked'),
    ).toBe('true')
    expect(await pageLook(page)).toMatchObject({ accent: 'grape', contrast: 'normal' })

    // Well before the key: the browser has to be told that somebody waits.
    const chooser = page.waitForEvent('filechooser')
    await moveTo(page, 'Choose picture: Logo on light backgrounds')
    await page.keyboard.press('Enter')
    await (await chooser).setFiles({ name: 'logo.png', mimeType: 'image/png', buffer: forLight })
    await field('light').getByText('As it will be shown').waitFor()
    await moveTo(page, 'Remove: Logo on light backgrounds')
    await moveTo(page, 'Choose picture: Logo on dark backgrounds')
    await moveTo(page, 'Save')
    await page.keyboard.press('Enter')
    await said('Settings updated')
    await eventually(() => pageLook(page)).toMatchObject({ accent: 'iceberg', contrast: 'high' })
    await eventually(() => shownLogo(page, 'Knoc console, home')).toBe((await theme()).LightModeLogo)
    expect(await stored()).toMatchObject({ Accent: 'iceberg', HighAccessibility: true, Logo: '' })
  })

  it('can be saved or taken back only when something is changed, and keep what is typed in another section', async () => {
    expect([await save().isDisabled(), await cancel().isDisabled()]).toEqual([true, true])
    await pick('dark', forDark)
    await form('UI').getByRole('switch', { name: 'New user dashboard' }).click()
    await form().getByRole('radio', { name: 'Rose' }).click()
    await eventually(() => save().isDisabled()).toBe(false)
    await cancel().click()
    await eventually(() => save().isDisabled()).toBe(true)
    expect(
      await field('dark')
        .getByRole('button', { name: /^Remove/ })
        .count(),
    ).toBe(0)
    await form().getByRole('radio', { name: 'Teal' }).click()
    await save().click()
    await said('Settings updated')
    await eventually(() => save().isDisabled()).toBe(true)
    expect(await stored()).toMatchObject({ Accent: 'teal', NewUserDashboard: true })
    expect(await save('UI').isDisabled()).toBe(false)
    await save('UI').click()
    await eventually(async () => (await stored()).NewUserDashboard).toBe(false)
  })

  it('are never written over somebody else’s change, and say so', async () => {
    await form().getByRole('radio', { name: 'Rose' }).click()
    await site.api.request('POST', '/admin/settings/customize', { Accent: 'offsite' })
    boss.expectFault(/^console \/api\/admin\/settings\/customize: .*\b409\b/)
    await save().click()
    await form().getByText('Somebody else changed this meanwhile').waitFor()
    await form().getByRole('button', { name: 'Load again' }).click()
    await eventually(() => form().getByRole('radio', { name: 'Offsite' }).getAttribute('aria-checked')).toBe(
      'true',
    )
  })

  it('say what somebody else changed of what is typed here when another section is saved', async () => {
    await form().getByRole('radio', { name: 'Rose' }).click()
    await form('UI').getByRole('switch', { name: 'New user dashboard' }).click()
    await site.api.request('POST', '/admin/settings/customize', { Accent: 'offsite' })
    boss.expectFault(/^console \/api\/admin\/settings\/customize: .*\b409\b/)
    await save('UI').click()
    await form('UI').getByRole('button', { name: 'Load again' }).click()
    await form().getByText('Somebody else changed this meanwhile').waitFor()
    expect(await form().getByRole('radio', { name: 'Rose' }).getAttribute('aria-checked')).toBe('true')
  })

  it('preview portal and console in both modes before anything is saved', async () => {
    const grounds = () =>
      form()
        .locator('figure > .themed.grid')
        .evaluateAll((parts) =>
          parts.map((part) => {
            const button = part.querySelector('.bg-accent')
            return [getComputedStyle(part).colorScheme, button && getComputedStyle(button).backgroundColor]
          }),
        )
    const [light, dark] = await grounds()
    expect([light?.[0], dark?.[0]]).toEqual(['light', 'dark'])
    expect(light?.[1]).not.toBe(dark?.[1])
    const console = await rootColour(page)
    await form().getByRole('radio', { name: 'Rose' }).click()
    await eventually(async () => (await grounds())[0]?.[1]).not.toBe(light?.[1])
    expect(await rootColour(page)).toBe(console)
  })

  it('take a picture that is dropped, show it on its own background, and in the portal by the colour mode', async () => {
    await drop(field('light'), forLight)
    await drop(field('dark'), forDark)
    for (const [ground, width] of [
      ['light', 240],
      ['dark', 120],
    ] as const) {
      const image = field(ground).getByRole('img')
      await eventually(() => naturalWidth(image)).toBe(width)
      await field(ground).getByText('As it will be shown').waitFor()
    }
    await save().click()
    await said('Settings updated')
    const { Logo, LightModeLogo } = await theme()
    expect(Logo).not.toBe(LightModeLogo)

    const visitor = await browser.visit(site.arena.serverUrl)
    await visitor.page.emulateMedia({ colorScheme: 'light' })
    await visitor.page.goto('/login')
    await eventually(() => shownLogo(visitor.page, 'Knoc')).toBe(LightModeLogo)
    await visitor.page.emulateMedia({ colorScheme: 'dark' })
    await eventually(() => shownLogo(visitor.page, 'Knoc')).toBe(Logo)
    await visitor.page.getByLabel('Username').waitFor()
    await submitLogin(visitor.page, user)
    await visitor.page.waitForURL('**/home/new')
    for (const width of [1280, 320]) {
      await visitor.page.setViewportSize({ width, height: 800 })
      await eventually(() => shownLogo(visitor.page, 'Knoc')).toBe(Logo)
      await eventually(() => naturalWidth(visitor.page.getByRole('img', { name: 'Knoc', exact: true }))).toBe(
        120,
      )
      expect(await findBarriers(visitor.page), `the portal at ${width} px`).toEqual([])
    }
    await visitor.leave()
  })

  it('remove a logo: the other one stands in, then the product’s own', async () => {
    const base64 = (picture: Buffer) => picture.toString('base64')
    await site.api.request('POST', '/admin/settings/customize', {
      Logo: base64(forDark),
      LightModeLogo: base64(forLight),
    })
    await page.reload()
    await field('light').getByRole('button', { name: 'Remove: Logo on light backgrounds' }).click()
    await eventually(async () => (await focusOf(page)).name).toBe('Choose picture: Logo on light backgrounds')
    await field('light').getByText('None of its own: the other logo is shown').waitFor()
    await save().click()
    await said('Settings updated')
    const { Logo } = await theme()
    expect(await theme()).toMatchObject({ LightModeLogo: null })
    await eventually(() => shownLogo(page, 'Knoc console, home')).toBe(Logo)
    await field('dark')
      .getByRole('button', { name: /^Remove/ })
      .click()
    await field('dark').getByText('None: Knoc’s own is shown').waitFor()
    await save().click()
    await eventually(() => shownLogo(page, 'Knoc console, home')).toBeNull()
    expect(await theme()).toMatchObject({ Logo: null, LightModeLogo: null })
  })

  it('show the product’s own mark where the address of a logo is no longer good', async () => {
    await site.api.request('POST', '/admin/settings/customize', { Logo: forDark.toString('base64') })
    const visitor = await browser.visit(site.arena.serverUrl)
    visitor.expectFault(/^console \/api\/theme\/logo\/.*\b404\b/)
    await visitor.page.route('**/api/theme/logo/*', (route) => route.fulfill({ status: 404, json: {} }))
    await visitor.page.goto('/login')
    await visitor.page.locator('svg[aria-label="Knoc"]').waitFor()
    await visitor.leave()
  })

  it.each([
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'must be a PNG or JPEG picture'],
    ['a page', Buffer.from('<!doctype html>'), 'must be a PNG or JPEG picture'],
    ['nothing', Buffer.alloc(0), 'must be a PNG or JPEG picture'],
    ['a PNG that breaks off', forLight.subarray(0, 60), 'must be a PNG or JPEG picture'],
    ['more than 512 kB', aPngOf(logoLimits.bytes + 1), 'must not be larger than 512 kB'],
    [
      'more than 4096 pixels',
      aPng({ width: 4097, height: 1 }),
      'must not be wider or higher than 4096 pixels',
    ],
  ])('refuse %s at once, at its field, and keep what was there', async (_, file, text) => {
    await pick('light', forLight)
    await field('light').getByText('As it will be shown').waitFor()
    await pick('light', file)
    await field('light').getByText(text).waitFor()
    const described = await field('light')
      .getByRole('button', { name: /^Choose/ })
      .getAttribute('aria-describedby')
    const error = await field('light').getByText(text).locator('xpath=ancestor::p').getAttribute('id')
    expect(described?.split(' ')).toContain(error)
    await eventually(() => naturalWidth(field('light').getByRole('img'))).toBe(240)
    expect(await findBarriers(page)).toEqual([])
    await pick('light', forDark)
    await eventually(() => field('light').getByText(text).count()).toBe(0)
  })

  it('don’t lose the page to a picture that is dropped beside the fields', async () => {
    await form().getByRole('radio', { name: 'Rose' }).click()
    const taken = await form()
      .getByRole('radio', { name: 'Rose' })
      .evaluate((element) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File(['x'], 'x.png', { type: 'image/png' }))
        const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })
        element.dispatchEvent(event)
        return event.defaultPrevented
      })
    expect(taken).toBe(true)
    expect(await save().isDisabled()).toBe(false)
  })

  it('decide which dashboard users get', async () => {
    await form('UI').getByRole('switch', { name: 'New user dashboard' }).click()
    await save('UI').click()
    await said('Settings updated')
    const visitor = await browser.visit(site.arena.serverUrl)
    await visitor.page.goto('/login')
    await submitLogin(visitor.page, user)
    await visitor.page.waitForURL(/\/home$/)
    await visitor.leave()
  })

  it('stand without barriers at every width, in both modes and high contrast', async () => {
    await site.api.request('POST', '/admin/settings/customize', {
      LightModeLogo: forLight.toString('base64'),
      HighAccessibility: true,
    })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.reload()
      await form().waitFor()
      for (const width of [1440, 768, 320]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await findBarriers(page), `${colorScheme} at ${width} px`).toEqual([])
      }
    }
  })
})

/** The address of the logo with this name that is drawn; null while it is the product's own drawing. */
const shownLogo = (page: Page, name: string): Promise<string | null> =>
  page.evaluate((alt) => {
    const shown = [...document.querySelectorAll<HTMLImageElement>(`img[alt="${alt}"]`)].find(
      (image) => image.checkVisibility() && image.naturalWidth > 0,
    )
    return shown?.getAttribute('src') ?? null
  }, name)

const naturalWidth = (image: Locator): Promise<number> =>
  image.evaluate((element) => (element instanceof HTMLImageElement ? element.naturalWidth : 0))

const rootColour = (page: Page): Promise<string> =>
  page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent'))

/** Drags a file over a place and lets it go there, as far as a page can tell. */
async function drop(place: Locator, picture: Buffer): Promise<void> {
  const dataTransfer = await place.evaluateHandle((_, base64) => {
    const transfer = new DataTransfer()
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
    transfer.items.add(new File([bytes], 'logo.png', { type: 'image/png' }))
    return transfer
  }, picture.toString('base64'))
  await place.dispatchEvent('dragover', { dataTransfer })
  await eventually(() => place.evaluate((element) => element.classList.contains('border-accent'))).toBe(true)
  await place.dispatchEvent('drop', { dataTransfer })
  await eventually(() => place.evaluate((element) => element.classList.contains('border-accent'))).toBe(false)
}

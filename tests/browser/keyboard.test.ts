import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { until } from '#tests/support/until.ts'
import { findBarriers, focusOf, moveTo } from './accessibility.ts'
import { entry, heading, reads, signIn } from './acts.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const knocName = 'Payroll'
const user = { userName: 'robin', password: 'a password of users 1' }

/** On a loopback address, which browsers trust: with Web Locks and a clipboard, unlike the journey's plain http. */
describe.skipIf(!hasBrowser())('without a mouse', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let robin: Visitor
  let boss: Visitor
  let knocId: string

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    knocId = await site.seed({ name: knocName, user })
    browser = await startBrowser()
    robin = await browser.visit(site.arena.serverUrl)
    boss = await browser.visit(site.arena.serverUrl)
    for (const { context } of [robin, boss]) context.setDefaultTimeout(patience)
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  describe('a user', () => {
    it('signs in', async () => {
      const { page } = robin
      await page.goto('/')
      await heading(page, 'Sign in').waitFor()
      await moveTo(page, 'Username')
      await page.keyboard.type(user.userName)
      await moveTo(page, 'Password')
      await page.keyboard.type(user.password)
      await moveTo(page, 'This is a public computer')
      await page.keyboard.press('Space')
      expect(await page.getByRole('checkbox').isChecked()).toBe(true)
      await page.keyboard.press('Space')
      await moveTo(page, 'Sign in')
      await page.keyboard.press('Enter')
      await heading(page, /^Hello/).waitFor()
    })

    it('skips to the entries', async () => {
      const { page } = robin
      await page.reload()
      await entry(page, knocName).waitFor()
      await moveTo(page, 'Skip to the content')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      expect((await focusOf(page)).name).toBe('Show as list')
    })

    it('grants and revokes; the focus stays on the button', async () => {
      const { page } = robin
      await moveTo(page, `Grant Access to ${knocName}`)
      await page.keyboard.press('Enter')
      await until('the door is open', site.isReachable)
      await reads(entry(page, knocName), /Access for/)
      expect(await focusOf(page)).toMatchObject({ name: `Revoke Access to ${knocName}`, isVisible: true })
      await page.keyboard.press('Space')
      await until('the door is shut', async () => !(await site.isReachable()))
      await reads(entry(page, knocName), /Revoked/)
      expect((await focusOf(page)).name).toBe(`Grant Access to ${knocName}`)
    })

    it('opens and leaves a dialog, which keeps the focus inside and gives it back', async () => {
      const { page } = robin
      await page.reload()
      await entry(page, knocName).waitFor()
      await moveTo(page, 'Change password')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Change password' }).waitFor()
      await checkTrap(page)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await eventually(() => focusOf(page)).toMatchObject({ name: 'Change password', isVisible: true })
    })

    it('makes a favourite and takes it back, and changes the view; the focus stays on the button', async () => {
      const { page } = robin
      await moveTo(page, `Add ${knocName} to favourites`)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Favourites' }).waitFor()
      await eventually(() => focusOf(page)).toMatchObject({
        name: `Remove ${knocName} from favourites`,
        isVisible: true,
      })
      await page.keyboard.press('Space')
      await page.getByRole('heading', { name: 'Favourites' }).waitFor({ state: 'hidden' })
      await eventually(() => focusOf(page)).toMatchObject({
        name: `Add ${knocName} to favourites`,
        isVisible: true,
      })
      await moveTo(page, 'Show as list', 'Shift+Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('row', { name: new RegExp(knocName) }).waitFor()
      expect(await focusOf(page)).toMatchObject({ name: 'Show as cards', isVisible: true })
      await page.keyboard.press('Enter')
      await entry(page, knocName).waitFor()
    })

    it('searches, and goes back to everything', async () => {
      const { page } = robin
      await addEntries(12)
      await page.reload()
      await entry(page, 'Host 11').waitFor()
      await moveTo(page, 'Search your entries')
      await page.keyboard.type('host 11')
      await page.getByRole('article').nth(1).waitFor({ state: 'hidden' })
      expect(await page.getByRole('article').count()).toBe(1)
      await moveTo(page, 'Grant Access to Host 11')
      await moveTo(page, 'Search your entries', 'Shift+Tab')
      await page.keyboard.press('Control+A')
      await page.keyboard.press('Delete')
      await entry(page, knocName).waitFor()
      expect(await focusOf(page)).toMatchObject({ name: 'Search your entries', isVisible: true })
    })

    it('changes the password, and is told so', async () => {
      const { page } = robin
      const changed = 'another password of users 2'
      await page.reload()
      await moveTo(page, 'Change password')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Change password' }).waitFor()
      for (const [field, text] of [
        ['Current password', user.password],
        ['New password', changed],
        ['Confirm the new password', changed],
      ] as const) {
        if ((await focusOf(page)).name !== field) await moveTo(page, field)
        await page.keyboard.type(text)
      }
      await page.keyboard.press('Enter')
      await page.getByText('Password changed successfully').waitFor()
      await eventually(() => focusOf(page)).toMatchObject({ name: 'OK', inDialog: true, isVisible: true })
      await page.keyboard.press('Enter')
      await eventually(() => focusOf(page)).toMatchObject({ name: 'Change password', isVisible: true })
      user.password = changed
    })

    it('can’t leave the dialog of the unlicensed but by logging out', async () => {
      const { page } = robin
      await site.api.request('DELETE', '/admin/settings/license')
      await page.goto('/home')
      const dialog = page.getByRole('alertdialog')
      await dialog.waitFor()
      await page.keyboard.press('Escape')
      await eventually(async () => (await focusOf(page)).inDialog).toBe(true)
      for (const key of ['Tab', 'Tab', 'Escape']) {
        await page.keyboard.press(key)
        await eventually(() => focusOf(page)).toMatchObject({
          name: 'Log out',
          inDialog: true,
          isVisible: true,
        })
      }
      await page.keyboard.press('Enter')
      await heading(page, 'Sign in').waitFor()
      await site.api.request('POST', '/admin/settings/license', { License: site.licence })
      await signIn(page, user)
    })

    it('changes the colours, and logs out', async () => {
      const { page } = robin
      const mode = () => page.evaluate(() => document.documentElement.dataset['mode'])
      await moveTo(page, /colours|Colours/, 'Shift+Tab')
      const modes = new Set([await mode()])
      for (let press = 0; press < 2; press += 1) {
        await page.keyboard.press('Space')
        modes.add(await mode())
      }
      expect(modes).toEqual(new Set(['light', 'dark']))
      await moveTo(page, 'Log out')
      await page.keyboard.press('Enter')
      await heading(page, 'Sign in').waitFor()
    })
  })

  describe('an admin', () => {
    it('signs in with Enter', async () => {
      const { page } = boss
      await page.goto('/admin/login')
      await heading(page, 'Admin login').waitFor()
      expect((await focusOf(page)).name).toBe('Username')
      await page.keyboard.type(admin.userName)
      await page.keyboard.press('Tab')
      await page.keyboard.type(admin.password)
      await page.keyboard.press('Enter')
      await heading(page, 'Home').waitFor()
    })

    it('goes from page to page; the heading has the focus then', async () => {
      const { page } = boss
      await moveTo(page, 'Agents')
      await page.keyboard.press('Enter')
      await heading(page, 'Agents').waitFor()
      await eventually(async () => (await focusOf(page)).name).toBe('Agents')
    })

    it('renames an agent from its menu, and gets back to the menu', async () => {
      const { page } = boss
      await page.getByRole('row', { name: /edge/ }).waitFor()
      await moveTo(page, 'Actions for edge')
      await page.keyboard.press('Enter')
      await page.getByRole('menu').waitFor()
      await page.keyboard.press('Escape')
      await eventually(async () => (await focusOf(page)).name).toBe('Actions for edge')
      await page.keyboard.press('Enter')
      await page.getByRole('menu').waitFor()
      await page.keyboard.type('ed')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Rename the agent' }).waitFor()
      await checkTrap(page)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await eventually(async () => (await focusOf(page)).name).toBe('Actions for edge')
    })

    it('creates a user', async () => {
      const { page } = boss
      await page.goto('/admin/users')
      await heading(page, 'Users').waitFor()
      await moveTo(page, 'Create user')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Create a user' }).waitFor()
      await eventually(async () => (await focusOf(page)).inDialog).toBe(true)
      if ((await focusOf(page)).name !== 'Name') await moveTo(page, 'Name')
      await page.keyboard.type('Kay Board')
      for (const field of ['Password', 'Confirm password']) {
        await moveTo(page, field)
        await page.keyboard.type('a password of users 3')
      }
      await page.keyboard.press('Enter')
      await page.getByRole('log').getByText('User created').waitFor()
      await page.getByRole('row', { name: /Kay Board/ }).waitFor()
      await eventually(() => focusOf(page)).toMatchObject({ name: 'Create user', isVisible: true })
    })

    it('changes a setting', async () => {
      const { page } = boss
      await page.goto('/admin/settings')
      const field = page.getByLabel('Session duration on a public computer, in minutes')
      await field.waitFor()
      await moveTo(page, /^Session duration on a public computer/, 'Tab')
      await page.keyboard.press('Control+A')
      await page.keyboard.type('45')
      await page.keyboard.press('Enter')
      await page.getByRole('log').getByText('Settings updated').waitFor()
      expect(await focusOf(page)).toMatchObject({ isVisible: true })
      expect(await field.inputValue()).toBe('45')
    })

    it('opens the navigation at 320 px as a drawer, which keeps the focus inside and gives it back', async () => {
      const { page } = boss
      await page.setViewportSize({ width: 320, height: 640 })
      await page.goto('/admin/home')
      await heading(page, 'Home').waitFor()
      await moveTo(page, 'Open the menu')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByRole('navigation').waitFor()
      await checkTrap(page)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await eventually(() => focusOf(page)).toMatchObject({ name: 'Open the menu', isVisible: true })
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByRole('navigation').waitFor()
      await moveTo(page, 'Users')
      await page.keyboard.press('Enter')
      await heading(page, 'Users').waitFor()
      await eventually(async () => (await focusOf(page)).name).toBe('Users')
      await page.setViewportSize({ width: 1280, height: 900 })
    })
  })

  /** Entries that nothing enforces, beside the one that something does. */
  async function addEntries(count: number): Promise<void> {
    const { id: userId } = await site.db
      .selectFrom('users')
      .select('id')
      .where('userName', '=', user.userName)
      .executeTakeFirstOrThrow()
    const made = await site.db
      .insertInto('acls')
      .values(
        Array.from({ length: count }, (_, index) => ({ description: `Host ${index}`, clickToGrant: true })),
      )
      .returning('id')
      .execute()
    await site.db
      .insertInto('userAcls')
      .values(made.map(({ id }) => ({ userId, aclId: id })))
      .execute()
  }

  /** Forwards and backwards through everything, the focus never leaves the dialog. */
  async function checkTrap(page: Page): Promise<void> {
    await eventually(async () => (await focusOf(page)).inDialog).toBe(true)
    for (const key of [...Array<string>(10).fill('Tab'), ...Array<string>(10).fill('Shift+Tab')]) {
      await page.keyboard.press(key)
      expect(await focusOf(page)).toMatchObject({ inDialog: true, isVisible: true })
    }
  }

  describe('no barriers', () => {
    const sizes = [
      { width: 1280, height: 900 },
      { width: 320, height: 640 },
    ]
    const titles = new Map<string, string>()

    async function checkPage(page: Page, path: string, name: string | RegExp): Promise<void> {
      for (const size of sizes) {
        await page.setViewportSize(size)
        await page.goto(path)
        await heading(page, name).waitFor()
        await page.waitForLoadState('networkidle')
        expect(await findBarriers(page), `${path} at ${size.width} px`).toEqual([])
      }
      titles.set(path, await page.title())
    }

    it('stand on the portal', async () => {
      const { page } = robin
      await checkPage(page, '/', 'Sign in')
      await signIn(page, user)
      await checkPage(page, '/home/new', /^Hello/)
      await page.getByRole('button', { name: 'Show as list' }).click()
      expect(await findBarriers(page)).toEqual([])
      await page.getByRole('button', { name: 'Change password' }).click()
      await page.getByRole('dialog').waitFor()
      expect(await findBarriers(page)).toEqual([])
    })

    it('stand in the console', async () => {
      const { page } = boss
      const stranger = await browser.visit(site.arena.serverUrl)
      await checkPage(stranger.page, '/admin/login', 'Admin login')
      await stranger.leave()
      await checkPage(page, '/admin/home', 'Home')
      await checkPage(page, '/admin/agents', 'Agents')
      await checkPage(page, '/admin/knocs', 'Knocs')
      await checkPage(page, '/admin/knocs/new', 'New Knoc')
      await checkPage(page, '/admin/knocs/new/linux', /^New Knoc: /)
      await checkPage(page, `/admin/knocs/${knocId}/update`, `Update ${knocName}`)
      await checkPage(page, '/admin/users', 'Users')
      await checkPage(page, '/admin/settings', 'Settings')
    })

    const drawer = (page: Page) => page.getByRole('dialog').getByRole('navigation')

    it('stand in the console’s dialogs', async () => {
      const { page } = boss
      const open = async (path: string, button: string) => {
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.getByRole('button', { name: button }).first().click()
        await page.getByRole('dialog').getByRole('heading').or(drawer(page)).first().waitFor()
        expect(await findBarriers(page), `${path}, ${button}`).toEqual([])
      }
      await page.setViewportSize({ width: 320, height: 640 })
      await open('/admin/users', 'Create user')
      await open('/admin/agents', 'Create agent')
      await open('/admin/agents', 'Capabilities of edge')
      await open('/admin/knocs', `Details of ${knocName}`)
      await open('/admin/home', 'Open the menu')
      await page.setViewportSize({ width: 1280, height: 900 })
    })

    it('make two pages look alike in the list of tabs', () => {
      expect(new Set(titles.values()).size).toBe(titles.size)
    })
  })

  it('lets one tab of a browser listen for all of them, and another when that one goes', async () => {
    const visitor = await browser.visit(site.arena.serverUrl)
    const streams: Page[] = []
    visitor.context.on('request', (request) => {
      if (request.url().endsWith('/api/events')) streams.push(request.frame().page())
    })
    await signIn(visitor.page, user)
    const tabs = [visitor.page, await visitor.tab(), await visitor.tab()]
    for (const tab of tabs.slice(1)) {
      await tab.goto('/home/new')
      await entry(tab, knocName).waitFor()
    }
    await until('a stream is open', () => streams.length > 0)
    expect(streams).toEqual([visitor.page])
    await entry(tabs[2] as Page, knocName)
      .getByRole('button', { name: /^Grant/ })
      .click()
    for (const tab of tabs) await reads(entry(tab, knocName), /Access for/, 3_000)
    await visitor.page.close()
    await until('another tab has taken the stream over', () => streams.length === 2)
    expect(tabs.slice(1)).toContain(streams[1])
    await entry(tabs[2] as Page, knocName)
      .getByRole('button', { name: /^Revoke/ })
      .click()
    await reads(entry(tabs[1] as Page, knocName), /Revoked/, 3_000)
    await visitor.leave()
  })

  it('copies to the clipboard where there is one', async () => {
    await boss.context.grantPermissions(['clipboard-read'])
    await boss.page.goto('/admin/agents')
    const { ID } = await site.api.request<{ ID: string; Token: string }>('POST', '/admin/agents', {
      Name: 'second',
    })
    await boss.page.getByRole('button', { name: 'Actions for second' }).click()
    await boss.page.getByRole('menuitem', { name: 'View' }).click()
    const token = await boss.page.getByRole('region', { name: 'Token' }).innerText()
    await boss.page.getByRole('button', { name: 'Copy token' }).click()
    await boss.page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await boss.page.evaluate(() => navigator.clipboard.readText())).toBe(token)
    await site.api.request('DELETE', `/admin/agents/${ID}`)
  })
})

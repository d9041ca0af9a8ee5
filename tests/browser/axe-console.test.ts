import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { saveDrift, saveTargetReports } from '#server/gateway/report.store.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { aDoor, aList, anAgentRow, closing, inSeconds } from '#tests/support/door-builders.ts'
import { chooseAction, heading, logOutAdmin, signInAdmin, submitLogin } from './acts.ts'
import { findBreaches } from './axe.ts'
import { changeAnswer } from './change-answer.ts'
import { createCodeApp } from './codes.ts'
import { journeyTime, patience } from './patience.ts'

const password = 'a password of users 1'
const knocName = 'Payroll'
const grace = { userName: 'grace', password: 'a password of admins 2' }

/** Each page, dialog and step: every rule of WCAG 2.2 AA, and what depends on colours in all twenty themes. */
describe.skipIf(!hasBrowser() || !requireProgram('oathtool'))(
  'axe finds no breach of WCAG 2.2 AA in the console, in all 20 themes,',
  { timeout: journeyTime, retry: 1 },
  () => {
    let site: BrowserSite
    let browser: TestBrowser
    let boss: Visitor
    let page: Page
    let knocId: string
    const advice = new Set<string>()

    beforeAll(async () => {
      site = await openBrowserSite({ kind: 'gate' })
      knocId = await site.seed({ name: knocName, user: { userName: 'robin', password } })
      await site.api.request('POST', '/admin/agents', { Name: 'not-installed' })
      await site.api.request('POST', '/admin/groups', {
        Name: 'Finance',
        Description: 'Money',
        Type: 'local',
      })
      await site.api.request('POST', '/admin/admins', {
        Name: 'Grace Hopper',
        UserName: grace.userName,
        AuthType: 'local',
        PlainPassword: grace.password,
        TOTPEnabled: true,
      })
      browser = await startBrowser()
      boss = await visit()
      page = boss.page
      await signInAdmin(page, admin)
    }, 180_000)
    afterEach(() => browser.checkFaults())
    afterAll(async () => {
      if (advice.size > 0) console.warn(`axe advises beyond the standard:\n${[...advice].join('\n')}`)
      await browser?.close()
      await site?.close()
    }, 60_000)

    async function visit(): Promise<Visitor> {
      const visitor = await browser.visit(site.arena.serverUrl)
      visitor.context.setDefaultTimeout(patience)
      visitor.expectFault(/^console \/api\/admin\/[\w/?=&-]*: .*\b4(01|03|09|22|29)\b/)
      return visitor
    }

    async function check(options?: { pointed?: boolean }, shown = page): Promise<void> {
      const { breaches, advice: further } = await findBreaches(shown, options)
      for (const line of further) advice.add(line)
      expect.soft(breaches).toEqual([])
    }

    async function show(path: string, name: string | RegExp): Promise<void> {
      await page.goto(path)
      await heading(page, name).waitFor()
      await page.waitForLoadState('networkidle')
    }
    const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()
    const dialog = (name: string | RegExp) => page.getByRole('dialog', { name })
    const question = () => page.getByRole('alertdialog')
    const tab = (name: string) => page.getByRole('tab', { name }).click()

    it('while somebody signs in, with and without a second factor', async () => {
      const stranger = await visit()
      const theirs = stranger.page
      await theirs.goto('/admin/login?error=err.loginNotPermitted')
      await theirs.getByText('Error: Login not permitted').waitFor()
      await check({ pointed: true }, theirs)
      await submitLogin(theirs, grace)
      await heading(theirs, 'Set up your second factor').waitFor()
      await theirs.getByRole('img', { name: /QR/ }).waitFor()
      await check({}, theirs)
      const secret = await theirs.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).innerText()
      const app = createCodeApp(secret.replaceAll(' ', ''))
      await theirs.getByLabel('Code', { exact: true }).fill(await app.next())
      await theirs.getByRole('button', { name: 'Verify' }).click()
      await theirs.getByRole('list', { name: 'Your recovery codes' }).waitFor()
      await check({}, theirs)
      await theirs.getByLabel('I have kept them').check()
      await theirs.getByRole('button', { name: 'Continue' }).click()
      await heading(theirs, 'Home').waitFor()
      await logOutAdmin(theirs)
      await submitLogin(theirs, grace)
      await theirs.getByRole('button', { name: 'Log in', exact: true }).waitFor()
      await check({}, theirs)
      await stranger.leave()
    })

    it('on the home page, with the account’s menu, its password and its passkeys', async () => {
      await show('/admin/home', 'Home')
      await check({ pointed: true })
      await press(/^Account of/)
      await page.getByRole('menu').waitFor()
      await check()
      await page.getByRole('menuitem', { name: 'Change password' }).click()
      await dialog('Change password').waitFor()
      await check()
      await page.keyboard.press('Escape')
      await press(/^Account of/)
      await page.getByRole('menuitem', { name: 'Passkeys' }).click()
      await dialog('Passkeys').waitFor()
      await check()
    })

    it('with the navigation as a drawer, at 320 px', async () => {
      await page.setViewportSize({ width: 320, height: 640 })
      await show('/admin/home', 'Home')
      await press('Open the menu')
      await page.getByRole('dialog').getByRole('navigation').waitFor()
      await check()
      await page.keyboard.press('Escape')
      await page.setViewportSize({ width: 1280, height: 900 })
    })

    it('of agents: the table, its menu, creating one, its capabilities', async () => {
      await show('/admin/agents', 'Agents')
      await check({ pointed: true })
      await press('Actions for edge')
      await page.getByRole('menu').waitFor()
      await check()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await question().waitFor()
      await check()
      await question().getByRole('button', { name: 'Cancel' }).click()
      await press('Create agent')
      // A second try of the test finds the first one's agent there.
      const name = `second-${Date.now()}`
      await dialog('Create an agent').getByLabel('Name').fill(name)
      await dialog('Create an agent').getByRole('button', { name: 'Create' }).click()
      await dialog(`Install ${name}`).getByRole('region', { name: 'Token' }).waitFor()
      await check({ pointed: true })
      await page.keyboard.press('Escape')
      await press('Capabilities of edge')
      await dialog('Capabilities of edge').waitFor()
      await check()
    })

    it('of an agent: alarms above its lists, its debts, what was found, forgetting a list', async () => {
      const { db } = site
      const { id } = await anAgentRow(db, { name: `gone-${Date.now()}`, conflictAt: inSeconds(0) })
      const draining = await aList(db, id, { state: 'draining' })
      await aDoor(db, await aList(db, id))
      await aDoor(db, draining, {
        ...closing(-300),
        attempts: 3,
        failedGeneration: 11,
        errorText: 'no such set',
      })
      await aDoor(db, draining, { ...closing(-300), heldUntil: inSeconds(-200) })
      await saveTargetReports(db, id, [
        {
          targetId: draining,
          checkedAtMs: Date.now(),
          desired: 0,
          actual: 2,
          foreign: 2,
          error: 'no such set',
        },
      ])
      const drift = {
        targetId: draining,
        kind: 'foreign',
        count: 1,
        sample: ['203.0.113.7'],
        repaired: false,
      } as const
      await saveDrift(db, id, [{ ...drift, sample: [...drift.sample] }])
      // What alarms say is half a second old at most.
      await page.waitForTimeout(600)
      await show(`/admin/agents/${id}`, /^gone-/)
      await page.getByRole('alert').first().waitFor()
      await check({ pointed: true })
      await press(/^Forget it:/)
      await dialog(/^Forget the list/)
        .getByRole('button', { name: 'Forget it' })
        .click()
      await dialog(/^Forget the list/)
        .getByText('Say why')
        .waitFor()
      await check()
      await page.keyboard.press('Escape')
      await db.updateTable('targets').set({ state: 'forgotten' }).where('agentId', '=', id).execute()
      await db.updateTable('agents').set({ conflictAt: null }).where('id', '=', id).execute()
    })

    it('of knocs: the table, the details, the question before deleting, the chooser', async () => {
      await show('/admin/knocs', 'Knocs')
      await page.getByRole('row', { name: new RegExp(knocName) }).waitFor()
      await check({ pointed: true })
      await press(`Details of ${knocName}`)
      await dialog(knocName).waitFor()
      await check()
      await page.keyboard.press('Escape')
      await chooseAction(page, knocName, 'Delete')
      await question().waitFor()
      await check()
      await show('/admin/knocs/new', 'New Knoc')
      await check({ pointed: true })
    })

    it('of users: the table, creating one, its faults, the details, the menu', async () => {
      await show('/admin/users', 'Users')
      await page.getByRole('row', { name: /Robin/ }).waitFor()
      await check({ pointed: true })
      await press('Create user')
      await dialog('Create a user').waitFor()
      await dialog('Create a user').getByLabel('Password', { exact: true }).fill('hunter2 hunter2')
      await dialog('Create a user').getByRole('button', { name: 'Create user' }).click()
      await page.getByText('Required').first().waitFor()
      await check({ pointed: true })
      await dialog('Create a user')
        .getByRole('button', { name: /^Auth type/ })
        .click()
      await page.getByRole('listbox').waitFor()
      await check()
      await page.getByRole('option', { name: /^API key/ }).click()
      await check()
      await dialog('Create a user').getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('row', { name: /Robin/ }).click()
      await dialog('Robin Reed').waitFor()
      await check()
    })

    it('of groups and admins: the tables and their dialogs', async () => {
      await show('/admin/groups', 'Groups')
      await check()
      await press('Create group')
      await dialog('Create a group').waitFor()
      await check()
      await show('/admin/admins', 'Admins')
      await check()
      await press('Create admin')
      await dialog('Create an admin').waitFor()
      await check()
    })

    it('of settings: every section and tab', async () => {
      await show('/admin/settings', 'Settings')
      await page.getByRole('tab', { name: 'SAML' }).waitFor()
      await check({ pointed: true })
      for (const name of ['OIDC', 'LDAP']) {
        await tab(name)
        await check()
      }
    })

    it('of the Linux wizard: each of its steps', async () => {
      // The gate's host has no ipset; the page is told that it has.
      const ipset = { command_available: true, sudo_enabled: true, privilege: 'root', ipsets: [] }
      await page.route(/\/api\/admin\/agents(\?|$)/, (route) =>
        changeAnswer<{ Capabilities: object | null }[]>(route, (rows) =>
          rows.map((row) => ({ ...row, Capabilities: row.Capabilities && { ...row.Capabilities, ipset } })),
        ),
      )
      await show('/admin/knocs/new/linux', /Linux/)
      await check()
      await page.getByRole('radio', { name: 'edge' }).check()
      await press('Next')
      await page.getByLabel('Description', { exact: true }).waitFor()
      await check()
      await page.getByLabel('Description', { exact: true }).fill('Wiki')
      await page.getByLabel('IPv4 set name').fill('allowed_wiki')
      await press('Next')
      await page.getByRole('switch', { name: 'Click to grant' }).waitFor()
      await page.getByRole('radio', { name: 'Close after a while' }).check()
      await page.getByRole('radio', { name: 'Remove them' }).check()
      await check()
      await press('Next')
      await page.getByRole('checkbox', { name: /Robin/ }).waitFor()
      await check()
      await press('Next')
      await page.getByRole('region', { name: 'Review' }).waitFor()
      await check()
      await page.unroute(/\/api\/admin\/agents(\?|$)/)
    })

    it('of a knoc that is edited', async () => {
      await show(`/admin/knocs/${knocId}/update`, `Update ${knocName}`)
      await check()
    })
  },
)

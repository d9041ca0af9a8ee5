import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { hasKernel } from '#tests/support/host.ts'
import { until } from '#tests/support/until.ts'
import {
  chooseAction,
  createUser,
  entry,
  goTo,
  heading,
  isSameDocument,
  logOutAdmin,
  markDocument,
  reads,
  signIn,
  signInAdmin,
  submitLogin,
} from './acts.ts'
import { eventually, journeyTime } from './patience.ts'

const kind = hasKernel() ? 'kernel' : 'gate'
const isKernel = kind === 'kernel'
const password = 'a password of users 1'
const agentName = 'edge-host'
const knocName = 'Payroll'

/** Each part goes on where the one before it ended, as a day with the product does. */
describe.skipIf(!hasBrowser())(
  `a day in the browser, on the ${kind}`,
  { timeout: journeyTime, retry: 1 },
  () => {
    let site: BrowserSite
    let browser: TestBrowser
    let boss: Visitor
    let robin: Visitor
    const robinsLogin = { userName: '', password }
    const tonisLogin = { userName: '', password }

    beforeAll(async () => {
      site = await openBrowserSite({ kind })
      browser = await startBrowser()
      boss = await browser.visit(site.arena.serverUrl)
      robin = await browser.visit(site.arena.serverUrl)
    }, 120_000)
    afterEach(() => browser.checkFaults())
    afterAll(async () => {
      await browser?.close()
      await site?.close()
    }, 60_000)

    const untilOpen = () => until('the door is open', site.isReachable)
    const untilShut = () => until('the door is shut', async () => !(await site.isReachable()))

    describe('an admin', () => {
      it('is sent to the admin login, and signs in', async () => {
        const { page } = boss
        await page.goto('/admin/users')
        await page.waitForURL('**/admin/login')
        await eventually(() => page.title()).toBe('Admin login · Knoc')
        boss.expectFault(/^console \/api\/admin\/login: .*401/)
        await submitLogin(page, { ...admin, password: 'not the password' })
        await page.getByText('Error: Invalid credentials').waitFor()
        await submitLogin(page, admin)
        await heading(page, 'Home').waitFor()
        await eventually(() => page.title()).toBe('Home · Knoc')
        await eventually(() => page.locator('link[rel="icon"]').getAttribute('href')).toBe(
          '/favicon-console.svg',
        )
      })

      it('creates an agent and installs it with the token that is shown', async () => {
        const { page } = boss
        await goTo(page, 'Agents')
        await page.getByText('No agents yet').waitFor()
        await page.getByRole('button', { name: 'Create agent' }).first().click()
        const naming = page.getByRole('dialog', { name: 'Create an agent' })
        await naming.getByLabel('Name').fill(agentName)
        await naming.getByRole('button', { name: 'Create' }).click()

        const install = page.getByRole('dialog', { name: `Install ${agentName}` })
        const token = await install.getByRole('region', { name: 'Token' }).innerText()
        const command = await install.getByRole('region', { name: 'Run this on the host' }).innerText()
        expect(command).toContain(site.arena.serverUrl)
        expect(command).toContain(token)
        await checkCopy(token)
        await install.getByText('Waiting for the agent to connect').waitFor()
        await site.startAgent(token)
        await page.getByText('In use since').waitFor({ timeout: 20_000 })
        expect(await page.getByRole('dialog').innerText()).not.toContain(token)
        await page.getByRole('button', { name: 'Done' }).click()
      })

      /** Copying works without the clipboard API too, which plain http doesn't have; it says so for 750 ms. */
      async function checkCopy(token: string): Promise<void> {
        const { page } = boss
        await page.getByRole('button', { name: 'Copy token' }).click()
        const copiedAt = Date.now()
        await page.getByRole('button', { name: 'Copied' }).waitFor()
        await page.getByRole('button', { name: 'Copy token' }).waitFor()
        expect(Date.now() - copiedAt).toBeGreaterThan(600)
        expect(Date.now() - copiedAt).toBeLessThan(10_000)
        await page.evaluate(() => {
          const area = document.createElement('textarea')
          area.id = 'pasted'
          document.querySelector('[role="dialog"]')?.append(area)
          area.focus()
        })
        await page.keyboard.press('Control+V')
        expect(await page.locator('#pasted').inputValue()).toBe(token)
        await page.locator('#pasted').evaluate((area) => area.remove())
      }

      it('sees what the agent can do, without a reload', async () => {
        const { page } = boss
        const row = page.getByRole('row', { name: new RegExp(agentName) })
        await row.getByText('Up to date').waitFor()
        await row.getByRole('button', { name: `Capabilities of ${agentName}` }).click()
        const dialog = page.getByRole('dialog', { name: `Capabilities of ${agentName}` })
        const text = await dialog.innerText()
        if (isKernel) {
          expect(text).toContain('knoc_demo4')
          expect(text).toContain('knoc_demo6')
        } else expect(text).toContain('gate-script.sh')
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'hidden' })
      })

      it('creates a user, whose username follows the name', async () => {
        const { page } = boss
        await goTo(page, 'Users')
        await page.getByRole('button', { name: 'Create user' }).first().click()
        robinsLogin.userName = await createUser(page, {
          name: 'Robin Reed',
          company: 'Example Ltd',
          password,
        })
        expect(robinsLogin.userName).toMatch(/robin/)
        await page.getByRole('row', { name: /Robin Reed/ }).waitFor()
        await page.getByRole('log').getByText('User created').waitFor()
      })

      it.runIf(isKernel)('makes a Linux knoc in five steps', async () => {
        const { page } = boss
        await goTo(page, 'Knocs')
        await page.getByText('Protect your first service').waitFor()
        await page.getByRole('link', { name: /Linux host/ }).click()
        const next = page.getByRole('button', { name: 'Next' })

        await eventually(() => page.getByRole('radio', { name: agentName }).isChecked()).toBe(true)
        await next.click()
        await next.click()
        const description = page.getByLabel('Description', { exact: true })
        await page.getByText('Required').first().waitFor()
        await eventually(() => description.evaluate((field) => field === document.activeElement)).toBe(true)
        await description.fill(knocName)
        await page.getByLabel('URL').fill(site.arena.doorUrl)
        await page.getByLabel('Category').fill('Finance')
        await page.getByRole('button', { name: /^Icon/ }).click()
        await page.getByRole('dialog', { name: 'Choose an icon' }).getByLabel('Search').fill('credit')
        await page.getByRole('button', { name: 'credit card' }).click()
        await page.getByRole('button', { name: 'knoc_demo4' }).click()
        await page.getByLabel('IPv6 set name').fill('knoc_missing6')
        expect(await page.getByRole('complementary', { name: 'Preview' }).innerText()).toContain(knocName)

        await next.click()
        await page.getByRole('switch', { name: 'Click to grant' }).click()
        await page.getByLabel('Maximum grant duration, in minutes').fill('30')
        await next.click()
        await page.getByRole('checkbox', { name: /Robin Reed/ }).check()
        await page.getByRole('button', { name: 'Create user' }).click()
        tonisLogin.userName = await createUser(page, { name: 'Toni Tell', password })
        await eventually(() => page.getByRole('checkbox', { name: /Toni Tell/ }).isChecked()).toBe(true)
        await page.getByText('2 selected').waitFor()

        await next.click()
        const review = page.getByRole('region', { name: 'Review' })
        await reads(review, /The IPv6 set “knoc_missing6” was not found on the agent/)
        for (const fact of [agentName, knocName, 'Finance', '30', 'Example Ltd', 'toni', 'knoc_demo4'])
          await eventually(() => review.innerText()).toContain(fact)
        expect(await review.getByRole('row', { name: /Toni Tell/ }).innerText()).toMatch(/-/)

        // Back to the settings, with everything kept, for a set that exists.
        await page.getByRole('button', { name: /^Settings\b.*done/ }).click()
        expect(await description.inputValue()).toBe(knocName)
        await page.getByRole('button', { name: 'knoc_demo6' }).click()
        for (let step = 0; step < 3; step += 1) await next.click()
        await review.waitFor()
        expect(await review.innerText()).not.toContain('was not found')
        await page.getByRole('button', { name: 'Submit' }).click()
        await page.waitForURL('**/admin/knocs')
        await page.getByRole('log').getByText('Knoc created successfully').waitFor()
        await eventually(() => page.getByRole('row', { name: new RegExp(knocName) }).innerText()).toContain(
          agentName,
        )
      })

      it.runIf(!isKernel)(
        'is not offered an agent without ipset, and makes the knoc through the API',
        async () => {
          const { page } = boss
          await page.goto('/admin/knocs/new/linux')
          const mark = page.getByText('Not capable', { exact: true })
          await mark.waitFor()
          expect(await page.getByRole('radio', { name: agentName }).isDisabled()).toBe(true)
          expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
          await mark.hover()
          await page
            .locator('[aria-hidden="true"]', { hasText: 'Agent is not capable of granting' })
            .waitFor()
          tonisLogin.userName = await createToni()
          await createKnocByApi()
        },
      )

      async function createToni(): Promise<string> {
        await goTo(boss.page, 'Users')
        await boss.page.getByRole('button', { name: 'Create user' }).first().click()
        return createUser(boss.page, { name: 'Toni Tell', password })
      }

      async function createKnocByApi(): Promise<void> {
        const agents = await site.api.request<{ ID: string }[]>('GET', '/admin/agents')
        const users = await site.api.request<{ ID: string }[]>('GET', '/admin/users')
        await site.api.request('POST', '/admin/knocs', {
          Backend: { AgentID: agents[0]?.ID, Config: site.arena.knoc.backend },
          ACL: {
            Description: knocName,
            URL: site.arena.doorUrl,
            Category: 'Finance',
            ClickToGrant: true,
            MaximumGrantDuration: 1_800,
            Config: site.arena.knoc.acl,
          },
          UserIDs: users.map(({ ID }) => ID),
        })
      }
    })

    describe('a user', () => {
      it('is told when the password is wrong, and signs in with the right one', async () => {
        const { page } = robin
        await page.goto('/home/new')
        await page.waitForURL(`${site.arena.serverUrl}/`)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByText('Required').first().waitFor()
        await eventually(() =>
          page.getByLabel('Username').evaluate((field) => field === document.activeElement),
        ).toBe(true)
        robin.expectFault(/^console \/api\/login: .*401/)
        await submitLogin(page, { ...robinsLogin, password: 'not the password' })
        await page.getByText('Error: Invalid credentials').waitFor()
        await submitLogin(page, robinsLogin)
        await page.waitForURL('**/home/new')
        await eventually(() => page.title()).toBe('Your access · Knoc')
      })

      it('sees the entry, and the time that is left', async () => {
        const { page } = robin
        await reads(entry(page, knocName), /Waiting/)
        await page.getByRole('heading', { name: 'Finance' }).waitFor()
        const timer = page.getByRole('timer', { name: 'Time left in this session' })
        const shown = await timer.innerText()
        expect(shown).toMatch(/^0[78]:\d\d:\d\d$/)
        await expect.poll(() => timer.innerText()).not.toBe(shown)
      })

      it('opens the door with a click and shuts it with another; every tab says so without a reload', async () => {
        const { page } = robin
        expect(await site.isReachable()).toBe(false)
        const tab = await robin.tab()
        await tab.goto('/home/new')
        await entry(tab, knocName).waitFor()
        await Promise.all([page, tab].map(markDocument))

        await page.bringToFront()
        await entry(page, knocName)
          .getByRole('button', { name: `Grant Access to ${knocName}` })
          .click()
        await untilOpen()
        await reads(entry(page, knocName), /Access for \d+ min/)
        await reads(entry(tab, knocName), /Access for \d+ min/)
        const door = robin.context.waitForEvent('page')
        await entry(page, knocName)
          .getByRole('link', { name: `Open ${knocName}` })
          .click()
        await reads((await door).locator('body'), /You came through the door/)
        await (await door).close()

        await entry(page, knocName)
          .getByRole('button', { name: `Revoke Access to ${knocName}` })
          .click()
        await untilShut()
        await reads(entry(page, knocName), /Revoked/)
        await reads(entry(tab, knocName), /Revoked/)
        expect(await Promise.all([page, tab].map(isSameDocument))).toEqual([true, true])
        await tab.close()
      })

      it('keeps favourites and the view over a reload, and the session', async () => {
        const { page } = robin
        await page.getByRole('button', { name: `Add ${knocName} to favourites` }).click()
        await page.getByRole('heading', { name: 'Favourites' }).waitFor()
        await page.getByRole('button', { name: 'Show as list' }).click()
        await page.reload()
        await page.getByRole('row', { name: new RegExp(knocName) }).waitFor()
        await page.getByRole('heading', { name: 'Favourites' }).waitFor()
        await page.getByRole('button', { name: 'Show as cards' }).click()
        await entry(page, knocName).waitFor()
      })

      it('changes the password, and signs in with it from then on', async () => {
        const { page } = robin
        const changed = 'another password 2'
        await page.getByRole('button', { name: 'Change password' }).click()
        const dialog = page.getByRole('dialog', { name: 'Change password' })
        const fill = async (current: string, next: string, confirmed: string) => {
          await dialog.getByLabel('Current password').fill(current)
          await dialog.getByLabel('New password', { exact: true }).fill(next)
          await dialog.getByLabel('Confirm the new password').fill(confirmed)
          await dialog.getByRole('button', { name: 'Change password' }).click()
        }
        await fill(password, changed, 'something else')
        await dialog.getByText("Passwords don't match").waitFor()
        robin.expectFault(/^console \/api\/password: .*40[01]/)
        await fill('not the password', changed, changed)
        await dialog.getByRole('alert').waitFor()
        await fill(password, changed, changed)
        await dialog.getByText('Password changed successfully').waitFor()
        await dialog.getByRole('button', { name: 'OK' }).click()
        robinsLogin.password = changed
        await page.getByRole('button', { name: 'Log out' }).click()
        await page.waitForURL(`${site.arena.serverUrl}/`)
        await signIn(page, robinsLogin)
      })

      it('leaves no door open behind a logout', async () => {
        const { page } = robin
        await entry(page, knocName)
          .getByRole('button', { name: /^Grant Access/ })
          .click()
        await untilOpen()
        await page.getByRole('button', { name: 'Log out' }).click()
        await page.waitForURL(`${site.arena.serverUrl}/`)
        await untilShut()
        expect(await page.evaluate(() => sessionStorage.getItem('userSession'))).toBeNull()
        await page.goto('/home/new')
        await page.waitForURL(`${site.arena.serverUrl}/`)
      })

      it('holds a shared address together with another user', async () => {
        const toni = await browser.visit(site.arena.serverUrl)
        await signIn(robin.page, robinsLogin)
        await signIn(toni.page, tonisLogin)
        for (const { page } of [robin, toni])
          await entry(page, knocName)
            .getByRole('button', { name: /^Grant Access/ })
            .click()
        for (const { page } of [robin, toni]) await reads(entry(page, knocName), /Access for/)
        await entry(robin.page, knocName)
          .getByRole('button', { name: /^Revoke Access/ })
          .click()
        await reads(entry(robin.page, knocName), /Revoked/)
        await reads(entry(toni.page, knocName), /Access for/)
        expect(await site.isReachable()).toBe(true)
        await entry(toni.page, knocName)
          .getByRole('button', { name: /^Revoke Access/ })
          .click()
        await untilShut()
        await toni.leave()
      })

      it('loses the page when another account signs in beside it: nothing is clicked for the other one', async () => {
        robin.expectFault(/^console \/api\/.*\b40[19]\b/)
        await entry(robin.page, knocName).waitFor()
        const other = await robin.context.request.post('/api/login', {
          data: { UserName: tonisLogin.userName, Password: tonisLogin.password },
          headers: { Origin: site.arena.serverUrl },
        })
        expect(other.status()).toBe(200)
        const toLogin = heading(robin.page, 'Sign in')
        await toLogin.or(heading(robin.page, 'Hello, Toni Tell')).waitFor()
        await robin.context.clearCookies()
        await robin.page.evaluate(() => sessionStorage.clear())
        await signIn(robin.page, robinsLogin)
      })
    })

    describe('the admin again', () => {
      it('ends the session, and the user’s page goes to the login', async () => {
        const { page } = boss
        await entry(robin.page, knocName)
          .getByRole('button', { name: /^Grant Access/ })
          .click()
        await untilOpen()
        robin.expectFault(/^(console|request) .*\/api\/(events|status)/)
        await goTo(page, 'Users')
        await page.getByRole('row', { name: /Robin Reed/ }).click()
        const dialog = page.getByRole('dialog', { name: 'Robin Reed' })
        await dialog.getByText(knocName).waitFor()
        await dialog
          .getByRole('button', { name: /^End the session from/ })
          .first()
          .click()
        await robin.page.waitForURL((url) => url.pathname === '/', { timeout: 5_000 })
        await untilShut()
        await dialog.getByText('Not signed in.').waitFor()
        await dialog.getByRole('button', { name: 'Done' }).click()
      })

      it('looks at the knoc, edits it, and is told so once', async () => {
        const { page } = boss
        await goTo(page, 'Knocs')
        await page.getByRole('row', { name: new RegExp(knocName) }).click()
        const dialog = page.getByRole('dialog', { name: knocName })
        if (isKernel) await reads(dialog, /ipset create knoc_demo4/)
        await dialog.getByRole('button', { name: `Actions for ${knocName}` }).click()
        await page.getByRole('menuitem', { name: 'Edit' }).click()
        await heading(page, `Update ${knocName}`).waitFor()
        if (!isKernel) {
          await page.getByText('Knocs of the type “script” can’t be edited here').waitFor()
          return
        }
        await page.getByLabel('Description', { exact: true }).fill('Wages')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('log').getByText('Knoc updated successfully').waitFor()
        await page.getByRole('row', { name: /Wages/ }).waitFor()
        expect(new URL(page.url()).search).toBe('')
        await page.reload()
        await page.getByRole('row', { name: /Wages/ }).waitFor()
        expect(await page.getByText('Knoc updated successfully').count()).toBe(0)
      })

      it('finds a knoc by the address that names it, which is then cleared', async () => {
        const { page } = boss
        const [knoc] = await site.api.request<{ ID: string; Name: string }[]>('GET', '/admin/knocs')
        await page.goto(`/admin/knocs?viewKnocId=${knoc?.ID}`)
        await page.getByRole('dialog', { name: knoc?.Name ?? '' }).waitFor()
        expect(new URL(page.url()).search).toBe('')
        await page.keyboard.press('Escape')
      })

      it('sees the license alert and no wizard without a license', async () => {
        const { page } = boss
        await site.api.request('DELETE', '/admin/settings/license')
        await page.goto('/admin/knocs/new/linux')
        await page.getByRole('alert').getByText('You do not have a license').waitFor()
        expect(await page.getByRole('button', { name: 'Next' }).count()).toBe(0)
        expect(await page.getByRole('navigation', { name: 'Steps' }).count()).toBe(0)
        await site.api.request('POST', '/admin/settings/license', { License: site.licence })
        await page.reload()
        await page.getByRole('navigation', { name: 'Steps' }).waitFor()
      })

      it('deletes the knoc after a question that names it, and the agent after that', async () => {
        const { page } = boss
        const name = isKernel ? 'Wages' : knocName
        await goTo(page, 'Knocs')
        await chooseAction(page, name, 'Delete')
        const question = page.getByRole('alertdialog', { name: 'Delete this Knoc?' })
        await reads(question, new RegExp(name))
        await question.getByRole('button', { name: 'Cancel' }).click()
        await page.getByRole('row', { name: new RegExp(name) }).waitFor()
        await chooseAction(page, name, 'Delete')
        await question.getByRole('button', { name: 'Delete' }).click()
        await page.getByText('Protect your first service').waitFor()

        await goTo(page, 'Agents')
        await chooseAction(page, agentName, 'Delete')
        const agentQuestion = page.getByRole('alertdialog', { name: 'Delete this agent?' })
        await reads(agentQuestion, new RegExp(agentName))
        await agentQuestion.getByRole('button', { name: 'Delete' }).click()
        await page.getByText('No agents yet').waitFor()
      })

      it('logs out', async () => {
        const { page } = boss
        await logOutAdmin(page)
        await page.goto('/admin/knocs')
        await page.waitForURL('**/admin/login')
        await signInAdmin(page, admin)
      })
    })
  },
)

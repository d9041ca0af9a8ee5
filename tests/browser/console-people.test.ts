import { sql } from 'kysely'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import type { GroupRow } from '#server/groups/group.schema.ts'
import type { UserRow } from '#server/users/user.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { findBarriers } from './accessibility.ts'
import { chooseAction, goTo, heading, reads, signIn, signInAdmin, submitLogin } from './acts.ts'

const robin = { userName: 'robin', password: 'a password of users 1' }
const knocName = 'Payroll'
const secondAdmin = { userName: 'grace', password: 'a password of admins 2' }

/** As long as a busy machine may take. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000, interval: 50 })

/** Each part goes on where the one before it ended, as a day in the console does. */
describe.skipIf(!hasBrowser())('people in the console', { timeout: 120_000, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let boss: Visitor
  let page: Page

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    browser = await startBrowser()
    boss = await browser.visit(site.arena.serverUrl)
    page = boss.page
    // The list of leaked passwords is read with the first new password.
    page.setDefaultTimeout(30_000)
    await site.seed({ name: knocName, user: robin })
    await insertUsers([{ name: 'Sam Assertion', userName: 'sam', authType: 'SAML' }])
    await signInAdmin(page, admin)
  }, 120_000)
  beforeEach(() => page.setViewportSize({ width: 1280, height: 900 }))
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  /** Users as an identity provider would have made them, or many at once. */
  async function insertUsers(
    rows: { name: string; userName: string; authType: string }[],
  ): Promise<string[]> {
    const made = await site.db
      .insertInto('users')
      .values(
        rows.map((row, index) => ({
          ...row,
          sessionMinutes: 480,
          // One after the other: the license counts in that order.
          createdAt: new Date(Date.now() + index),
        })),
      )
      .returning('id')
      .execute()
    return made.map(({ id }) => id)
  }
  const said = (text: string) => page.getByRole('log').getByText(text, { exact: true }).first().waitFor()
  const row = (name: string | RegExp) =>
    page.getByRole('row', { name: typeof name === 'string' ? new RegExp(name) : name })
  const dialogOf = (name: string) => page.getByRole('dialog', { name })
  const question = (name: string) => page.getByRole('alertdialog', { name })
  const isFocused = (field: Locator) => field.evaluate((element) => element === document.activeElement)
  const choose = async (dialog: Locator, label: string, option: string) => {
    await dialog.getByRole('button', { name: new RegExp(`^${label}`) }).click()
    await page.getByRole('option', { name: new RegExp(`^${option}`) }).click()
  }
  const findUser = async (userName: string): Promise<UserRow> => {
    const found = await site.api.request<UserRow[]>('GET', `/admin/users?search=${userName}&limit=10`)
    const user = found.find(({ UserName }) => UserName === userName)
    if (user === undefined) throw new Error(`no user ${userName}`)
    return user
  }
  /** A refusal is told by the browser as an error. */
  const expectRefusal = (path: string, status: number) =>
    boss.expectFault(new RegExp(`^console /api${path}[^ ]*: .*\\b${status}\\b`))

  describe('users', () => {
    it('are made with a user name that follows the name, and a second factor', async () => {
      await goTo(page, 'Users')
      await page.getByRole('button', { name: 'Create user' }).first().click()
      const dialog = dialogOf('Create a user')
      await dialog.getByRole('button', { name: 'Create user' }).click()
      await dialog.getByText('Required').first().waitFor()
      await eventually(() => isFocused(dialog.getByLabel('Name', { exact: true }))).toBe(true)

      await dialog.getByLabel('Name', { exact: true }).fill('Ada  Lovelace')
      expect(await dialog.getByLabel('Username').inputValue()).toBe('ada.lovelace')
      await dialog.getByLabel('Username').fill('ada')
      await dialog.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
      expect(await dialog.getByLabel('Username').inputValue()).toBe('ada')
      expect(await dialog.getByLabel('Session duration').inputValue()).toBe('480')
      expect(await dialog.getByLabel('Session limit').inputValue()).toBe('5')

      await dialog.getByLabel('Password', { exact: true }).fill('short')
      await dialog.getByLabel('Confirm password').fill('different')
      await dialog.getByLabel('Session limit').fill('6')
      await dialog.getByLabel('Session duration').fill('0')
      await dialog.getByRole('button', { name: 'Create user' }).click()
      for (const fault of [
        'Must be between 8 and 64 characters',
        "Passwords don't match",
        'A whole number, at least 1',
        'A whole number from 1 to the license’s limit',
      ])
        await dialog.getByText(fault).waitFor()
      await dialog.getByText('Very weak').or(dialog.getByText('Weak')).first().waitFor()

      await dialog.getByLabel('Session limit').fill('2')
      await dialog.getByLabel('Session duration').fill('60')
      for (const label of ['Password', 'Confirm password'])
        await dialog.getByLabel(label, { exact: true }).fill('correct horse battery staple 9')
      await dialog.getByText('Very strong').waitFor()
      expect(await findBarriers(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Create user' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await said('User created')
      expect(await findUser('ada')).toMatchObject({
        Duration: 60,
        SessionLimit: 2,
        TOTPEnabled: true,
        AuthType: 'local',
      })
    })

    it('are refused at the field that is wrong', async () => {
      await page.getByRole('button', { name: 'Create user' }).first().click()
      const dialog = dialogOf('Create a user')
      await dialog.getByLabel('Name', { exact: true }).fill('Robin Reed')
      await dialog.getByLabel('Username').fill(robin.userName.toUpperCase())
      for (const label of ['Password', 'Confirm password'])
        await dialog.getByLabel(label, { exact: true }).fill('correct horse battery staple 9')
      expectRefusal('/admin/users', 409)
      await dialog.getByRole('button', { name: 'Create user' }).click()
      await dialog.getByText('A user with this name exists').waitFor()
      await eventually(() => isFocused(dialog.getByLabel('Username'))).toBe(true)

      await dialog.getByLabel('Username').fill('robin2')
      for (const label of ['Password', 'Confirm password'])
        await dialog.getByLabel(label, { exact: true }).fill('password123')
      expectRefusal('/admin/users', 422)
      await dialog.getByRole('button', { name: 'Create user' }).click()
      await dialog.getByText(/leaked passwords, choose another/).waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
    })

    it('of a directory have a DN, and no password', async () => {
      await page.getByRole('button', { name: 'Create user' }).first().click()
      const dialog = dialogOf('Create a user')
      await dialog.getByLabel('Name', { exact: true }).fill('Dan Directory')
      await choose(dialog, 'Auth type', 'LDAP')
      expect(await dialog.getByLabel('Password', { exact: true }).count()).toBe(0)
      await dialog.getByRole('button', { name: 'Create user' }).click()
      await dialog.getByText('Enter the distinguished name (DN)').waitFor()
      await dialog.getByLabel('Distinguished name').fill('uid=dan,ou=people,dc=example,dc=org')
      await dialog.getByRole('button', { name: 'Create user' }).click()
      await dialog.waitFor({ state: 'hidden' })
      expect(await findUser('dan.directory')).toMatchObject({
        AuthType: 'LDAP',
        ThirdPartyAuth: 'uid=dan,ou=people,dc=example,dc=org',
        TOTPEnabled: true,
      })
    })

    it('of keys get a key that is shown once', async () => {
      await page.getByRole('button', { name: 'Create user' }).first().click()
      const dialog = dialogOf('Create a user')
      await dialog.getByLabel('Name', { exact: true }).fill('Build Server')
      await choose(dialog, 'Auth type', 'API key')
      expect(await dialog.getByRole('switch', { name: 'Second factor' }).count()).toBe(0)
      await dialog.getByLabel('Range 1', { exact: true }).fill('10.0.0.0/33')
      await dialog.getByRole('button', { name: 'Create user' }).click()
      await dialog.getByText('Required').waitFor()
      await dialog.getByText('Not an address range (CIDR)').waitFor()
      await dialog.getByLabel('Name of the key').fill('builds')
      await dialog.getByLabel('Range 1', { exact: true }).fill('127.0.0.0/8')
      await dialog.getByLabel('Note on range 1').fill('here')
      await dialog.getByRole('button', { name: 'Remove range 2' }).click()
      await choose(dialog, 'Expires', 'in 24 months')
      expect(await findBarriers(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Create user' }).click()

      const shown = question('API key “builds”')
      const key = await shown.getByRole('region', { name: 'Key' }).innerText()
      expect(key.length).toBeGreaterThan(20)
      await page.keyboard.press('Escape')
      await shown.getByRole('button', { name: 'Copy key' }).click()
      await shown.getByRole('button', { name: 'Copied' }).waitFor()
      await shown.getByRole('button', { name: 'Close' }).click()
      await shown.waitFor({ state: 'hidden' })
      await row(/Build Server/).click()
      await dialogOf('Build Server').getByText('API key').waitFor()
      expect(await page.content()).not.toContain(key)
      await page.keyboard.press('Escape')
    })

    it('are edited with a fixed user name, and never over somebody else’s change', async () => {
      const user = await findUser('ada')
      await chooseAction(page, 'Ada Lovelace', 'Edit')
      const dialog = dialogOf('Edit Ada Lovelace')
      expect(await dialog.getByLabel('Username').isDisabled()).toBe(true)
      expect(await dialog.getByRole('button', { name: /^Auth type/ }).isDisabled()).toBe(true)
      await dialog.getByLabel('Company').fill('Typed Ltd')
      await site.api.request('PUT', `/admin/users/${user.ID}`, { Name: 'Ada King', Company: 'Else Ltd' })
      expectRefusal('/admin/users', 409)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('Somebody else changed this meanwhile').waitFor()
      expect(await dialog.getByLabel('Company').inputValue()).toBe('Typed Ltd')
      await dialog.getByRole('button', { name: 'Load again' }).click()
      await eventually(() => dialogOf('Edit Ada King').getByLabel('Company').inputValue()).toBe('Else Ltd')
      await dialogOf('Edit Ada King').getByLabel('Company').fill('Typed Ltd')
      await dialogOf('Edit Ada King').getByRole('button', { name: 'Save' }).click()
      await said('User updated')
      expect(await findUser('ada')).toMatchObject({ Name: 'Ada King', Company: 'Typed Ltd', Duration: 60 })
    })

    it('lose their second factor by a reset, which only who has one is offered', async () => {
      await site.db
        .updateTable('users')
        .set({ totpSecret: 'sealed', totpConfirmedAt: new Date() })
        .where('userName', '=', 'ada')
        .execute()
      await page.getByRole('button', { name: 'Actions for Robin Reed' }).click()
      await page.getByRole('menuitem', { name: 'View' }).waitFor()
      expect(await page.getByRole('menuitem', { name: 'Reset 2FA' }).count()).toBe(0)
      await page.keyboard.press('Escape')
      await chooseAction(page, 'Ada King', 'Reset 2FA')
      const asked = question('Reset the second factor?')
      await reads(asked, /“Ada King”/)
      await asked.getByRole('button', { name: 'Reset 2FA' }).click()
      await said('2FA reset')
      expect(await findUser('ada')).toMatchObject({ TOTPEnabled: true, TOTPVerified: false })
    })

    it('of an identity provider can be looked at, not edited', async () => {
      await page.getByRole('button', { name: 'Actions for Sam Assertion' }).click()
      await page.getByRole('menuitem', { name: 'View' }).waitFor()
      for (const name of ['Edit', 'Reset 2FA'])
        expect(await page.getByRole('menuitem', { name }).count()).toBe(0)
      await page.getByRole('menuitem', { name: 'View' }).click()
      await dialogOf('Sam Assertion').getByText('by the identity provider').waitFor()
      await page.keyboard.press('Escape')
    })

    it('are all signed out after a question', async () => {
      const visitor = await browser.visit(site.arena.serverUrl)
      visitor.expectFault(/^(console|request) .*\/api\/(events|status)/)
      await signIn(visitor.page, robin)
      await page.reload()
      await row(/Robin Reed/)
        .getByText('Active', { exact: true })
        .waitFor()
      await page.getByRole('button', { name: 'Invalidate all sessions' }).click()
      await question('Invalidate all sessions?')
        .getByRole('button', { name: 'Invalidate all sessions' })
        .click()
      await said('All user sessions invalidated')
      await visitor.page.waitForURL((url) => url.pathname === '/', { timeout: 10_000 })
      await visitor.leave()
    })

    it('beyond the license are grey, and no more can be made', async () => {
      const ids = await insertUsers(
        Array.from({ length: 40 }, (_, index) => ({
          name: `Zoe Extra ${String(index).padStart(2, '0')}`,
          userName: `zoe${index}`,
          authType: 'local',
        })),
      )
      // The license is counted anew where users come or go; these came past it.
      const count = () => site.api.request('POST', '/admin/settings/license', { License: site.licence })
      await count()
      await page.goto('/admin/users')
      await page.getByLabel('Search users').fill('Zoe Extra 39')
      const last = row(/Zoe Extra 39/)
      await last.getByText('Zoe Extra 39').first().hover()
      await page
        .locator('[aria-hidden="true"]', { hasText: 'This user is disabled due to license restrictions' })
        .waitFor()
      await page.getByRole('button', { name: 'Create user' }).first().click()
      const dialog = dialogOf('Create a user')
      await dialog.getByText('Licensed user limit reached').waitFor()
      expect(await dialog.getByRole('button', { name: 'Create user' }).count()).toBe(0)
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await site.db.deleteFrom('users').where('id', 'in', ids).execute()
      await count()
      await page.reload()
    })
  })

  describe('groups', () => {
    it('are made with knocs and users found by the server; a provider’s users are not offered', async () => {
      await page.goto('/admin/groups')
      await page.getByText('No groups yet').waitFor()
      await page.getByRole('button', { name: 'Create group' }).first().click()
      const dialog = dialogOf('Create a group')
      await dialog.getByLabel('Name', { exact: true }).fill('Finance')
      await dialog.getByLabel('Description').fill('Whoever counts money')
      await dialog.getByRole('checkbox', { name: new RegExp(knocName) }).check()
      const users = dialog.getByRole('group', { name: 'Users' })
      await users.getByLabel('Search', { exact: true }).fill('sam')
      await users.getByText('Nothing matches your search').waitFor()
      await users.getByLabel('Search', { exact: true }).fill('dan')
      await users.getByRole('checkbox', { name: /Dan Directory/ }).check()
      await users.getByLabel('Search', { exact: true }).fill('')
      await users.getByRole('checkbox', { name: /Robin Reed/ }).check()
      await users.getByText('2 selected').waitFor()
      expect(await findBarriers(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Create group' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await said('Group created')
      await reads(row(/Finance/), /Finance\s+Local\s+Whoever counts money\s+1\s+2/)
      await goTo(page, 'Users')
      await row(/Dan Directory/).click()
      await dialogOf('Dan Directory').getByText('by Finance').waitFor()
      await page.keyboard.press('Escape')
    })

    it('are refused a name that is taken, at the field', async () => {
      await goTo(page, 'Groups')
      await page.getByRole('button', { name: 'Create group' }).first().click()
      const dialog = dialogOf('Create a group')
      await dialog.getByRole('button', { name: 'Create group' }).click()
      await dialog.getByText('Required').waitFor()
      await dialog.getByLabel('Name', { exact: true }).fill('FINANCE')
      expectRefusal('/admin/groups', 409)
      await dialog.getByRole('button', { name: 'Create group' }).click()
      await dialog.getByText('A group with this name exists').waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
    })

    it('of SAML have their users from the provider, and keep their type', async () => {
      await page.getByRole('button', { name: 'Create group' }).first().click()
      const dialog = dialogOf('Create a group')
      await dialog.getByLabel('Name', { exact: true }).fill('Claims')
      await choose(dialog, 'Type', 'SAML')
      await dialog.getByText('Its users come from the identity provider').waitFor()
      expect(await dialog.getByRole('group', { name: 'Users' }).count()).toBe(0)
      await dialog.getByRole('button', { name: 'Create group' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Edit Claims' }).click()
      expect(await dialogOf('Edit Claims').getByRole('button', { name: /^Type/ }).isDisabled()).toBe(true)
      await page.keyboard.press('Escape')
    })

    it('keep every member that no list has shown', async () => {
      const ids = await insertUsers(
        Array.from({ length: 120 }, (_, index) => ({
          name: `Member ${String(index).padStart(3, '0')}`,
          userName: `member${index}`,
          authType: 'local',
        })),
      )
      const finance = await findGroup('Finance')
      await site.api.request('PUT', `/admin/groups/${finance.ID}`, {
        Name: 'Finance',
        UserIDs: [...finance.UserIDs, ...ids],
      })
      await page.reload()
      await row(/Finance/).click()
      const dialog = dialogOf('Edit Finance')
      const users = dialog.getByRole('group', { name: 'Users' })
      await users.getByText('122 selected').waitFor()
      await users.getByLabel('Search', { exact: true }).fill('Member 119')
      await users.getByRole('checkbox', { name: /Member 119/ }).uncheck()
      await dialog.getByLabel('Description').fill('Fewer')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await said('Group updated')
      const after = await findGroup('Finance')
      expect(after).toMatchObject({ Description: 'Fewer', ACLIDs: finance.ACLIDs })
      expect(new Set(after.UserIDs)).toEqual(new Set([...finance.UserIDs, ...ids.slice(0, 119)]))
    })

    it('are never written over somebody else’s change', async () => {
      const finance = await findGroup('Finance')
      await page.getByRole('button', { name: 'Edit Finance' }).click()
      const dialog = dialogOf('Edit Finance')
      await dialog.getByLabel('Name', { exact: true }).fill('Treasury')
      await site.api.request('PUT', `/admin/groups/${finance.ID}`, { Name: 'Finance', UserIDs: [] })
      expectRefusal('/admin/groups', 409)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('Somebody else changed this meanwhile').waitFor()
      await dialog.getByRole('button', { name: 'Load again' }).click()
      await dialog.getByRole('group', { name: 'Users' }).getByText('0 selected').waitFor()
      expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Finance')
      await page.keyboard.press('Escape')
      expect((await findGroup('Finance')).UserIDs).toEqual([])
    })

    it('are deleted after a question that names them', async () => {
      await page.getByRole('button', { name: 'Delete Claims' }).click()
      await reads(question('Delete this group?'), /“Claims”/)
      await question('Delete this group?').getByRole('button', { name: 'Delete' }).click()
      await said('Group deleted')
      await row(/Claims/).waitFor({ state: 'hidden' })
      await page.getByLabel('Search groups').fill('nothing like it')
      await page.getByText('Nothing matches your search').waitFor()
    })

    const findGroup = async (name: string): Promise<GroupRow> => {
      const group = (await site.api.request<GroupRow[]>('GET', '/admin/groups')).find(
        ({ Name }) => Name === name,
      )
      if (group === undefined) throw new Error(`no group ${name}`)
      return group
    }
  })

  describe('admins', () => {
    it('are made, edited and disabled', async () => {
      await goTo(page, 'Admins')
      await row(/root/).getByText('You', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Create admin' }).click()
      const dialog = dialogOf('Create an admin')
      await dialog.getByLabel('Name', { exact: true }).fill('Grace Hopper')
      expect(await dialog.getByLabel('Username').inputValue()).toBe('grace.hopper')
      await dialog.getByLabel('Username').fill(secondAdmin.userName)
      await choose(dialog, 'Auth type', 'SAML')
      await dialog.getByText('The identity provider looks after the second factor').waitFor()
      expect(await dialog.getByRole('switch', { name: 'Second factor' }).count()).toBe(0)
      await choose(dialog, 'Auth type', 'Local')
      await dialog.getByRole('button', { name: 'Create admin' }).click()
      await dialog.getByText('Required').waitFor()
      for (const label of ['Password', 'Confirm password'])
        await dialog.getByLabel(label, { exact: true }).fill(secondAdmin.password)
      await dialog.getByRole('switch', { name: 'Second factor' }).click()
      expect(await findBarriers(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Create admin' }).click()
      await said('Admin created')

      await chooseAction(page, 'Grace Hopper', 'Edit')
      const editing = dialogOf('Edit Grace Hopper')
      expect(await editing.getByLabel('Username').isDisabled()).toBe(true)
      await editing.getByRole('switch', { name: 'Sign-in permitted' }).click()
      await editing.getByRole('button', { name: 'Save' }).click()
      await said('Admin updated')
      await row(/Grace Hopper/)
        .getByText('DISABLED')
        .waitFor()
    })

    it('can’t lose the last owner', async () => {
      await chooseAction(page, 'root', 'Delete')
      const asked = question('Delete this admin?')
      await reads(asked, /your own account/)
      expectRefusal('/admin/admins', 409)
      await asked.getByRole('button', { name: 'Delete' }).click()
      await asked.getByText("The last owner can't be disabled, demoted or deleted").waitFor()
      await asked.getByRole('button', { name: 'Cancel' }).click()
    })

    it('can’t disable or reset their own second factor', async () => {
      const own = (await site.api.request<AdminRow[]>('GET', '/admin/admins')).find(
        ({ UserName }) => UserName === admin.userName,
      )
      await site.api.request('PUT', `/admin/admins/${own?.ID}`, { Name: 'root', TOTPEnabled: true })
      await page.reload()
      await page.getByRole('button', { name: 'Actions for root' }).click()
      await page.getByRole('menuitem', { name: 'Edit' }).waitFor()
      expect(await page.getByRole('menuitem', { name: 'Reset 2FA' }).count()).toBe(0)
      await page.getByRole('menuitem', { name: 'Edit' }).click()
      const dialog = dialogOf('Edit root')
      const factor = dialog.getByRole('switch', { name: 'Second factor' })
      expect(await factor.isChecked()).toBe(true)
      expect(await factor.isDisabled()).toBe(true)
      await dialog.getByText('You can’t disable your own second factor').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Set up your second factor' }).waitFor()
      await sql`update admins set totp_enabled = false where user_name = ${admin.userName}`.execute(site.db)
    })

    it('are seen with their sessions, each of which can be ended', async () => {
      await chooseAction(page, 'Grace Hopper', 'Edit')
      await dialogOf('Edit Grace Hopper').getByRole('switch', { name: 'Sign-in permitted' }).click()
      await dialogOf('Edit Grace Hopper').getByRole('switch', { name: 'Second factor' }).waitFor()
      await dialogOf('Edit Grace Hopper').getByRole('button', { name: 'Save' }).click()
      await said('Admin updated')
      const other = await browser.visit(site.arena.serverUrl)
      other.expectFault(/^console \/api\/admin\/.*\b401\b/)
      await signInAdmin(other.page, secondAdmin)
      await page.reload()
      await row(/Grace Hopper/).click()
      const dialog = dialogOf('Grace Hopper')
      await dialog.getByText(/^(127\.0\.0\.1|::1)$/).waitFor()
      await dialog.getByRole('button', { name: /^End the session from/ }).click()
      await said('Admin session deleted')
      await dialog.getByText('Not signed in.').waitFor()
      await other.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click()
      await other.page.waitForURL('**/admin/login')
      await other.leave()
      await page.keyboard.press('Escape')
      await row(/root/).click()
      await dialogOf('root').getByText('This session').waitFor()
      expect(await findBarriers(page)).toEqual([])
      await page.keyboard.press('Escape')
    })

    it('lose their second factor by another admin’s reset, and are deleted after a question', async () => {
      await sql`update admins set totp_enabled = true, totp_confirmed_at = now(), totp_secret = 'sealed'
        where user_name = ${secondAdmin.userName}`.execute(site.db)
      await page.reload()
      await chooseAction(page, 'Grace Hopper', 'Reset 2FA')
      await question('Reset the second factor?').getByRole('button', { name: 'Reset 2FA' }).click()
      await said('2FA reset')
      await chooseAction(page, 'Grace Hopper', 'Delete')
      await reads(question('Delete this admin?'), /“Grace Hopper”/)
      await question('Delete this admin?').getByRole('button', { name: 'Delete' }).click()
      await said('Admin deleted')
      await row(/Grace Hopper/).waitFor({ state: 'hidden' })
    })

    it('are all signed out, whoever asks for it included', async () => {
      boss.expectFault(/^console \/api\/admin\/.*\b401\b/)
      await page.getByRole('button', { name: 'Invalidate all admin sessions' }).click()
      await question('Invalidate all admin sessions?')
        .getByRole('button', { name: 'Invalidate all sessions' })
        .click()
      await page.waitForURL('**/admin/login')
      await page.goto('/admin/users')
      await page.waitForURL('**/admin/login')
      await submitLogin(page, admin)
      await heading(page, 'Home').waitFor()
    })
  })

  it('have pages without barriers, wide and narrow', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    for (const [path, name] of [
      ['/admin/groups', 'Groups'],
      ['/admin/admins', 'Admins'],
      ['/admin/users', 'Users'],
    ] as const)
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 800 })
        await page.goto(path)
        await heading(page, name).waitFor()
        await page.waitForLoadState('networkidle')
        expect(await findBarriers(page), `${path} at ${width} px`).toEqual([])
      }
  })
})

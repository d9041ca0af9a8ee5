import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { findBarriers, focusOf, moveTo } from './accessibility.ts'
import { entry, heading, isSameDocument, markDocument, reads, submitLogin } from './acts.ts'
import { eventually, journeyTime, patience } from './patience.ts'
import {
  entries,
  inMinutes,
  manyOf,
  openShownPortal,
  type ShownPortal,
  shownNames,
  shownSections,
} from './portal-states.ts'

const robin = { userName: 'robin', password: 'a password of users 1' }
/** Signs in anew again and again, which ends sessions of hers: the others' tests have robin's. */
const kim = { userName: 'kim', password: 'a password of users 1' }
const knocName = 'Payroll'
const isShut = { Licensed: false }

/** Portal §2, rule by rule: the titles are the specification's own words. */
describe.skipIf(!hasBrowser())('the dashboards of the portal', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let portal: ShownPortal
  let page: ShownPortal['page']

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    const aclId = await site.seed({ name: knocName, user: robin })
    const { ID: userId } = await site.api.request<{ ID: string }>('POST', '/admin/users', {
      Name: 'Kim Code',
      UserName: kim.userName,
      PlainPassword: kim.password,
    })
    await site.db.insertInto('userAcls').values({ userId, aclId }).execute()
    browser = await startBrowser()
    portal = await openShownPortal({ site, browser, login: robin })
    page = portal.page
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  const setFlag = (isNew: boolean) =>
    site.db
      .insertInto('settings')
      .values({ name: 'NewUserDashboard', value: JSON.stringify(isNew) })
      .onConflict((on) => on.column('name').doUpdateSet({ value: JSON.stringify(isNew) }))
      .execute()

  describe('which of them', () => {
    for (const [isNew, path] of [
      [false, '/home'],
      [true, '/home/new'],
    ] as const)
      it(`a signed-in user is redirected to ${path} when the NewUserDashboard flag is ${isNew ? 'set' : 'not set'}`, async () => {
        await setFlag(isNew)
        const { page, context, leave } = await browser.visit(site.arena.serverUrl)
        context.setDefaultTimeout(patience)
        await page.goto('/')
        await submitLogin(page, kim)
        await heading(page, /^Hello, /).waitFor()
        expect(new URL(page.url()).pathname).toBe(path)
        for (const from of ['/', '/otp/verify', '/nowhere']) {
          await page.goto(from)
          await page.waitForURL((url) => url.pathname === path)
        }
        // Both stay reachable by hand.
        for (const [by, column] of [
          ['/home', 'Description'],
          ['/home/new', null],
        ] as const) {
          await page.goto(by)
          await page.getByText(knocName).first().waitFor()
          expect(new URL(page.url()).pathname).toBe(by)
          expect(await page.getByRole('columnheader', { name: 'Description' }).count()).toBe(column ? 1 : 0)
        }
        await setFlag(true)
        await leave()
      })
  })

  describe('classic home (/home)', () => {
    it('shows greeting with name, ‘session active’, countdown HH:MM:SS, current IP, ‘keep this page open’', async () => {
      await portal.show({}, '/home')
      await heading(page, 'Hello, Robin Reed').waitFor()
      await page.getByText('Session active').waitFor()
      const timer = page.getByRole('timer', { name: 'Time left in this session' })
      const shown = await timer.innerText()
      expect(shown).toMatch(/^0[78]:\d\d:\d\d$/)
      await eventually(() => timer.innerText()).not.toBe(shown)
      const account = page.getByRole('region', { name: 'Account' })
      expect(await account.innerText()).toMatch(/\b\d+\.\d+\.\d+\.\d+\b/)
      expect(await account.innerText()).toContain('Keep this page open')
    })

    it('shows a table of ACLs: description as a link, status, action', async () => {
      await portal.show(
        entries(
          { Description: 'Ledger', URL: 'https://ledger.example/' },
          { Description: 'Shell', URL: 'ssh://shell.example', Status: 0, ExpiredAfter: inMinutes(90) },
          { Description: 'Broken', Status: 1, Error: 'err.grantFailed' },
        ),
        '/home',
      )
      const table = page.getByRole('table')
      expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
        'Description',
        'Status',
        'Action',
      ])
      const row = (name: string) => table.getByRole('row', { name })
      const link = row('Ledger').getByRole('link', { name: 'Open Ledger' })
      expect(await link.getAttribute('href')).toBe('https://ledger.example/')
      expect(await row('Ledger').innerText()).toContain('Waiting')
      await row('Ledger').getByRole('button', { name: 'Grant Access to Ledger' }).waitFor()
      expect(await row('Shell').getByRole('link').count()).toBe(0)
      expect(await row('Shell').innerText()).toContain('Access for 1h')
      await row('Shell').getByRole('button', { name: 'Revoke Access to Shell' }).waitFor()
      expect(await row('Broken').innerText()).toContain('Access could not be granted')
      expect(await row('Broken').getByRole('button').count()).toBe(0)
    })

    it('hides there too what HideFromUsers hides, children, and a Description’s second', async () => {
      await portal.show(
        entries(
          { Description: 'Hidden', HideFromUsers: true },
          { Description: 'Same', Status: 9 },
          { Description: 'Same' },
          { Description: 'Child', ParentID: 'parent', ID: '' },
        ),
        '/home',
      )
      expect(await shownNames(page)).toEqual(['Same'])
      expect(await page.getByRole('row', { name: 'Same' }).innerText()).toContain('Revoked')
    })

    for (const [status, title] of [
      [isShut, 'This installation has no license'],
      [{ UserLicensed: false }, 'Your account has no license'],
    ] as const)
      it(`an unlicensed dialog offers logout only: ${title}`, async () => {
        await portal.show(status, '/home')
        const dialog = page.getByRole('alertdialog', { name: title })
        await dialog.waitFor()
        expect(await dialog.innerText()).toContain('Contact an admin')
        expect(await dialog.getByRole('button').allInnerTexts()).toEqual(['Log out'])
        expect(await findBarriers(page)).toEqual([])

        // Neither Escape nor a click beside it leads past it, and the focus stays inside.
        await page.keyboard.press('Escape')
        await page.mouse.click(5, 5)
        await dialog.waitFor()
        for (const key of ['Tab', 'Tab', 'Shift+Tab']) {
          await page.keyboard.press(key)
          expect(await focusOf(page)).toMatchObject({ name: 'Log out', inDialog: true })
        }
        // It goes by itself once there is a licence.
        portal.set({})
        await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
        await dialog.waitFor({ state: 'hidden' })
      })

    it('logs out from the unlicensed dialog', async () => {
      const own = await openShownPortal({ site, browser, login: kim })
      await own.show(isShut, '/home')
      await own.page.getByRole('alertdialog').getByRole('button', { name: 'Log out' }).click()
      await heading(own.page, 'Sign in').waitFor()
      await own.visitor.leave()
    })

    it('grants and revokes by the keyboard alone, on a telephone', async () => {
      const { page, context, leave } = await browser.visit(site.arena.serverUrl, {
        viewport: { width: 320, height: 640 },
      })
      context.setDefaultTimeout(patience)
      await page.goto('/')
      await submitLogin(page, kim)
      await heading(page, /^Hello, /).waitFor()
      await page.goto('/home')
      const row = page.getByRole('row', { name: knocName })
      await row.waitFor()
      await markDocument(page)
      await moveTo(page, `Grant Access to ${knocName}`)
      await page.keyboard.press('Enter')
      await reads(row, /Access for/, patience)
      await eventually(site.isReachable).toBe(true)
      expect(await findBarriers(page)).toEqual([])
      await row.getByRole('button', { name: `Revoke Access to ${knocName}` }).focus()
      await page.keyboard.press('Space')
      await reads(row, /Revoked/, patience)
      await eventually(site.isReachable).toBe(false)
      expect(await isSameDocument(page)).toBe(true)
      await leave()
    })
  })

  describe('new dashboard (/home/new)', () => {
    const inCategories = manyOf(4, (index) => ({
      Description: ['Zebra', 'Apple', 'Mango', 'Pear'][index] ?? '',
      Category: ['Zoo', 'Default', 'Fruit', ''][index] ?? '',
    }))

    it('card view: one group per category; the ‘Default’ category is labelled ‘Other’ and sorted last', async () => {
      await portal.show(inCategories)
      const sections = await shownSections(page)
      expect(sections).toEqual({ Fruit: ['Mango'], Zoo: ['Zebra'], Other: ['Apple', 'Pear'] })
      expect(Object.keys(sections)).toEqual(['Fruit', 'Zoo', 'Other'])
    })

    it('card view begins with Favourites, which are the same in every tab and after a reload', async () => {
      await portal.show(inCategories)
      await page.getByRole('button', { name: 'Add Pear to favourites' }).click()
      await page.getByRole('heading', { name: 'Favourites' }).waitFor()
      expect(Object.entries(await shownSections(page))[0]).toEqual(['Favourites', ['Pear']])
      expect((await shownSections(page))['Other']).toEqual(['Apple'])
      const tab = await portal.visitor.tab()
      await tab.goto('/home/new')
      await tab.getByRole('button', { name: 'Remove Pear from favourites' }).click()
      await tab.getByRole('button', { name: 'Add Mango to favourites' }).click()
      await eventually(async () => (await shownSections(page))['Favourites']).toEqual(['Mango'])
      await tab.close()
      await page.reload()
      await page.getByRole('button', { name: 'Remove Mango from favourites' }).click()
      expect(await page.evaluate(() => localStorage.getItem('favouriteAclIds'))).toBe('[]')
      expect(Object.keys(await shownSections(page))).toEqual(['Fruit', 'Zoo', 'Other'])
    })

    it('the card/list toggle is remembered in local storage under ‘view’', async () => {
      await portal.show(inCategories)
      expect(await page.getByRole('table').count()).toBe(0)
      await page.getByRole('button', { name: 'Show as list' }).click()
      await page.getByRole('table').waitFor()
      expect(await page.evaluate(() => localStorage.getItem('view'))).toBe('list')
      await page.reload()
      await page.getByRole('table').waitFor()
      await page.getByRole('button', { name: 'Show as cards' }).click()
      await entry(page, 'Zebra').waitFor()
      expect(await page.evaluate(() => localStorage.getItem('view'))).toBe('card')
    })

    it('list view is a table with columns favourite, system, access', async () => {
      await portal.show(inCategories)
      await page.getByRole('button', { name: 'Show as list' }).click()
      const table = page.getByRole('table')
      expect(await table.getByRole('columnheader').allInnerTexts()).toEqual(['Favourite', 'System', 'Access'])
      expect(await table.getByRole('heading').allInnerTexts()).toEqual(['Fruit', 'Zoo', 'Other'])
      expect(await shownNames(page)).toEqual(['Mango', 'Zebra', 'Apple', 'Pear'])
      const cells = table.getByRole('row', { name: 'Zebra' }).getByRole('cell')
      await cells.first().getByRole('button', { name: 'Add Zebra to favourites' }).waitFor()
      await cells.last().getByRole('button', { name: 'Grant Access to Zebra' }).waitFor()
      await page.getByRole('button', { name: 'Show as cards' }).click()
    })

    it('Top: only when more than 20 ACLs, showing the 5 most used, counted in topAclIds', async () => {
      const many = (count: number) => manyOf(count, () => ({ URL: 'https://a.example/' }))
      const idOf = (index: number) => many(21).ACLs?.[index]?.ACLID ?? ''
      const uses = { [idOf(3)]: 2, [idOf(4)]: 9, [idOf(5)]: 1, [idOf(6)]: 4, [idOf(7)]: 3, [idOf(8)]: 5 }
      await page.evaluate((stored) => localStorage.setItem('topAclIds', stored), JSON.stringify(uses))
      await portal.show(many(20))
      expect(Object.keys(await shownSections(page))).toEqual(['Other'])
      await portal.show(many(21))
      const top = async () => (await shownSections(page))['Top']
      expect(await top()).toEqual(['Entry 4', 'Entry 8', 'Entry 6', 'Entry 7', 'Entry 3'])
      expect((await shownSections(page))['Other']).toHaveLength(21)
      // A click on a link is a use.
      await portal.visitor.context.route('https://a.example/**', (route) => route.fulfill({ body: 'there' }))
      for (let click = 0; click < 2; click += 1) {
        const opened = portal.visitor.context.waitForEvent('page')
        await page.getByRole('link', { name: 'Open Entry 5', exact: true }).last().click()
        await (await opened).close()
      }
      await eventually(top).toEqual(['Entry 4', 'Entry 8', 'Entry 6', 'Entry 5', 'Entry 7'])
      await page.evaluate(() => localStorage.removeItem('topAclIds'))
    })

    it('a search box appears when there are more than 10 ACLs', async () => {
      await portal.show(manyOf(10))
      expect(await page.getByLabel('Search your entries').count()).toBe(0)
      await portal.show(manyOf(11))
      expect(await page.getByLabel('Search your entries').count()).toBe(1)
      // Those that nobody sees don't count.
      await portal.show(manyOf(12, (index) => ({ HideFromUsers: index < 2 })))
      expect(await page.getByLabel('Search your entries').count()).toBe(0)
    })

    it('it matches Description, URL or Icon, case-insensitively', async () => {
      await portal.show(
        manyOf(12, (index) => ({
          ...(index === 1 && { Description: 'Payroll' }),
          ...(index === 2 && { URL: 'https://PAY.example/' }),
          ...(index === 3 && { Icon: 'credit-card' }),
        })),
      )
      const search = page.getByLabel('Search your entries')
      await search.fill(' pay ')
      await eventually(() => shownNames(page)).toEqual(['Entry 2', 'Payroll'])
      await reads(page.getByRole('main'), /2 entries found/, patience)
      await search.fill('CREDIT')
      await eventually(() => shownNames(page)).toEqual(['Entry 3'])
      await search.fill('nothing like it')
      await page.getByText('Nothing matches “nothing like it”').waitFor()
      await search.press('Escape')
      await eventually(() => shownNames(page)).toHaveLength(12)
      await page.getByRole('button', { name: 'Show as list' }).click()
      await search.fill('pAyRoLl')
      await eventually(() => shownNames(page)).toEqual(['Payroll'])
      await page.getByRole('button', { name: 'Show as cards' }).click()
    })

    it('unlicensed users see an unlicensed message with a hint to contact an admin', async () => {
      await portal.show({ ...manyOf(1), ...isShut })
      const message = page.getByRole('alert').filter({ hasText: 'This installation has no license' })
      expect(await message.innerText()).toContain('Contact an admin')
      expect(await page.getByRole('button', { name: /^Grant Access/ }).isDisabled()).toBe(true)
    })

    it('UserLicensed false beside Licensed true is its own message', async () => {
      await portal.show({ ...manyOf(1), UserLicensed: false })
      const message = page.getByRole('alert').filter({ hasText: 'Your account has no license' })
      expect(await message.innerText()).toContain('Contact an admin')
      expect(await page.getByText('This installation has no license').count()).toBe(0)
      expect(await page.getByRole('button', { name: /^Grant Access/ }).isDisabled()).toBe(true)
    })

    it('only the first message shows, in the order: unlicensed, the error after it, the user’s own, the proxy', async () => {
      const shown = page.getByRole('main').locator('[role="alert"], [role="status"]')
      const look = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      portal.visitor.expectFault(/\/api\/status/)
      const all = { ...isShut, UserLicensed: false, UntrustedProxy: '10.0.0.9' }
      let isDown = false
      await page.route(/\/api\/status(\?|$)/, (route) =>
        isDown ? route.fulfill({ status: 503, json: { Err: 'err.serviceUnavailable' } }) : route.fallback(),
      )
      const check = async (status: object, text: RegExp) => {
        isDown = false
        await portal.show(status)
        isDown = true
        await look()
        await eventually(() => shown.allInnerTexts()).toEqual([expect.stringMatching(text)])
        isDown = false
      }
      await check(all, /This installation has no license/)
      await check({ ...all, Licensed: true }, /The server can.t be reached/)
      await page.getByRole('button', { name: 'Try again' }).click()
      await eventually(() => shown.allInnerTexts()).toEqual([
        expect.stringMatching(/Your account has no license/),
      ])
      await portal.show({ UntrustedProxy: '10.0.0.9' })
      await eventually(() => shown.allInnerTexts()).toEqual([expect.stringMatching(/10\.0\.0\.9/)])
      await page.unroute(/\/api\/status(\?|$)/)
    })
  })

  describe('visibility rules for ACLs', () => {
    it('ACLs with HideFromUsers are hidden; duplicates by Description are shown once; child ACLs are hidden as well', async () => {
      await portal.show(
        entries(
          { Description: 'Hidden', HideFromUsers: true },
          { Description: 'Twice', HideFromUsers: true, Status: 1 },
          { Description: 'Twice', Status: 9 },
          { Description: 'Twice', Status: 4 },
          { Description: 'Child', ParentID: 'parent', ID: '' },
        ),
      )
      expect(await shownNames(page)).toEqual(['Twice'])
      expect(await entry(page, 'Twice').innerText()).toContain('Revoked')
    })

    for (const [because, facts, reason] of [
      ['not internal', { RestrictedBy: 'internalOnly' }, 'Only from internal addresses'],
      ['internal', { RestrictedBy: 'externalOnly' }, 'not from inside a private network'],
      ['not on the list', { RestrictedBy: 'allowList' }, 'yours isn’t one of them'],
      ['on the list', { RestrictedBy: 'denyList' }, 'has shut out the address'],
      ['restricted for no told reason', { RestrictedBy: null }, 'Consult your admin'],
      [
        'waiting for an agent that is offline',
        { Status: 3, DisableForUser: false },
        'agent that opens this is away',
      ],
    ] as const)
      it(`ACLs with DisableForUser, or whose agent is offline, are greyed out (‘Access restricted’, consult your admin): ${because}`, async () => {
        const status = entries({
          Description: 'Grey',
          URL: 'https://grey.example/',
          DisableForUser: true,
          ...facts,
        })
        for (const path of ['/home/new', '/home'] as const) {
          await portal.show(status, path)
          const drawing = page.locator('main').locator('article, tbody tr').filter({ hasText: 'Grey' })
          const text = (await drawing.innerText()).replaceAll("'", '’')
          expect(text).toContain('Access restricted')
          expect(text).toContain('Consult your admin')
          expect(text).toContain(reason)
          // No way in: neither a link nor a button that grants.
          expect(await drawing.getByRole('link').count()).toBe(0)
          expect(await drawing.getByRole('button', { name: /Access/ }).count()).toBe(0)
        }
      })
  })

  describe('AutoBrowse', () => {
    const target = 'https://intranet.example/start?knoc_token=t'

    it('navigates in the same tab to the address of the one ACL that wants it, once a session', async () => {
      const own = await openShownPortal({ site, browser, login: kim })
      await own.visitor.context.route('https://intranet.example/**', (route) =>
        route.fulfill({ body: 'the intranet', contentType: 'text/html' }),
      )
      own.set({ AutoBrowseToURI: target })
      // The page that stands here may hear of it first, and leave while the other is asked for.
      await own.page.goto('/home/new', { waitUntil: 'commit' }).catch(() => undefined)
      // Loads that are given up for it on the way are no fault: `waitForURL` would take them for one.
      await eventually(() => own.page.url()).toBe(target)
      expect(own.visitor.context.pages()).toHaveLength(1)
      await own.page.goBack()
      await heading(own.page, /^Hello, /).waitFor()
      await own.page.reload()
      await entry(own.page, knocName).waitFor()
      expect(new URL(own.page.url()).pathname).toBe('/home/new')
      await own.visitor.leave()
    })

    it('only for http or https URLs', async () => {
      for (const AutoBrowseToURI of [
        'javascript:alert(document.domain)',
        'data:text/html,x',
        'ssh://a.example',
      ]) {
        const dialogs: string[] = []
        page.on('dialog', (dialog) => dialogs.push(dialog.message()))
        await portal.show({ AutoBrowseToURI })
        await entry(page, knocName).waitFor()
        expect(new URL(page.url()).pathname).toBe('/home/new')
        expect(dialogs).toEqual([])
      }
    })
  })

  describe('200 entries', () => {
    const manyOpen = manyOf(200, (index) => ({
      Category: `Category ${index % 4}`,
      Status: index % 2 === 0 ? 0 : 4,
      ExpiredAfter: index % 2 === 0 ? inMinutes(600 + index) : null,
      VerifiedAt: index % 2 === 0 ? inMinutes(-3) : null,
      Verified: index % 2 === 0 ? ('verified' as const) : null,
    }))

    /** Runs in the page before anything else: counts which components React draws, as its developer tools do. */
    function countDrawings(): void {
      type Fiber = {
        tag: number
        flags: number
        child: Fiber | null
        sibling: Fiber | null
        alternate: Fiber | null
        memoizedProps: unknown
        memoizedState: unknown
      }
      const components = [0, 11, 14, 15]
      const performedWork = 1
      const isDrawn = (next: Fiber, before: Fiber | null) =>
        components.includes(next.tag) &&
        (before === null ||
          ((next.flags & performedWork) !== 0 &&
            (before.memoizedProps !== next.memoizedProps || before.memoizedState !== next.memoizedState)))
      const countIn = (next: Fiber, before: Fiber | null): number => {
        let count = isDrawn(next, before) ? 1 : 0
        if (before === null || next.child !== before.child)
          for (let child = next.child; child; child = child.sibling) count += countIn(child, child.alternate)
        return count
      }
      const drawings: number[] = []
      Object.assign(window, {
        drawings,
        __REACT_DEVTOOLS_GLOBAL_HOOK__: {
          supportsFiber: true,
          inject: () => 1,
          onCommitFiberUnmount: () => undefined,
          onPostCommitFiberRoot: () => undefined,
          onCommitFiberRoot: (_: number, root: { current: Fiber }) =>
            drawings.push(countIn(root.current, root.current.alternate)),
        },
      })
    }
    const takeDrawings = (page: ShownPortal['page']) =>
      page.evaluate(() => (window as unknown as { drawings: number[] }).drawings.splice(0))

    /** Waits until what a page still has to draw is drawn: for a second nothing but its clock was. */
    const untilStill = (page: ShownPortal['page']) =>
      eventually(async () => {
        await page.waitForTimeout(1_000)
        return Math.max(0, ...(await takeDrawings(page)))
      }).toBeLessThan(60)

    for (const path of ['/home/new', '/home'] as const)
      it(`the clock that ticks every second doesn’t draw them anew on ${path}`, async () => {
        const own = await openShownPortal({ site, browser, login: kim })
        await own.visitor.context.addInitScript(countDrawings)
        await own.show(manyOpen, path)
        await eventually(() => shownNames(own.page).then((names) => names.length)).toBe(200)
        expect(Math.max(...(await takeDrawings(own.page)))).toBeGreaterThan(1_000)
        // Looks at the status draw anew what has changed; here only the clock is to run.
        await own.page.route(/\/api\/status/, () => undefined)
        await untilStill(own.page)
        const timer = own.page.getByRole('timer')
        const before = await timer.innerText()
        await own.page.waitForTimeout(4_000)
        const drawings: number[] = []
        await eventually(async () => drawings.push(...(await takeDrawings(own.page)))).toBeGreaterThanOrEqual(
          3,
        )
        expect(await timer.innerText()).not.toBe(before)
        const drawn = drawings.toSorted((one, other) => one - other)
        // The session's own timer and its frame; a minute's turn of the texts may fall into it once.
        expect(drawn.at(Math.floor(drawn.length / 2))).toBeLessThan(60)
        expect(drawn.filter((count) => count >= 60).length).toBeLessThanOrEqual(2)
        await own.visitor.leave()
      })

    it('the same status read again draws none of them', async () => {
      const own = await openShownPortal({ site, browser, login: kim })
      await own.visitor.context.addInitScript(countDrawings)
      await own.show(manyOpen)
      await eventually(() => shownNames(own.page).then((names) => names.length)).toBe(200)
      await untilStill(own.page)
      const answered = own.page.waitForResponse(/\/api\/status/)
      await own.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      await answered
      await own.page.waitForTimeout(1_000)
      expect(Math.max(...(await takeDrawings(own.page)))).toBeLessThan(150)
      await own.visitor.leave()
    })

    it('are searched as fast as somebody types, and found when scrolled to', async () => {
      await portal.show(manyOpen)
      const search = page.getByLabel('Search your entries')
      await search.pressSequentially('entry 17')
      expect(await search.inputValue()).toBe('entry 17')
      await eventually(() => shownNames(page).then((names) => names.length)).toBe(11)
      await search.fill('')
      await eventually(() => shownNames(page).then((names) => names.length)).toBe(200)
      const last = entry(page, 'Entry 199')
      await last.scrollIntoViewIfNeeded()
      await last.getByRole('button', { name: 'Grant Access to Entry 199' }).waitFor()
    })
  })
})

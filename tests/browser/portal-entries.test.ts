import type { Locator, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AclStatus } from '#server/status/status.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { entry, heading, reads } from './acts.ts'
import { changeAnswer } from './change-answer.ts'
import { eventually, journeyTime, patience } from './patience.ts'
import { entries, inMinutes, openShownPortal, type ShownPortal } from './portal-states.ts'

const robin = { userName: 'robin', password: 'a password of users 1' }
/** Signs in anew for pages whose clock is moved, which ends sessions of hers. */
const kim = { userName: 'kim', password: 'a password of users 1' }
const knocName = 'Payroll'
const farEnd = () => inMinutes(90)

/** Portal §4 and the specification README's "Statuses", "Entries in the status", "Buttons": the titles are its own words. */
describe.skipIf(!hasBrowser())('the entries of the portal', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let portal: ShownPortal
  let page: ShownPortal['page']

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    await site.seed({ name: knocName, user: robin })
    await site.api.request('POST', '/admin/users', {
      Name: 'Kim Code',
      UserName: kim.userName,
      PlainPassword: kim.password,
    })
    browser = await startBrowser()
    portal = await openShownPortal({ site, browser, login: robin })
    page = portal.page
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  /** Shows one entry, and answers its card. */
  async function showOne(facts: Partial<AclStatus>): Promise<Locator> {
    await portal.show(entries({ Description: 'It', ...facts }))
    const card = entry(page, 'It')
    await card.waitFor()
    return card
  }
  const accessButton = (card: Locator) => card.getByRole('button', { name: /Access to It|Pending/ })

  describe('ACL status numbers', () => {
    for (const [number, label] of [
      [0, 'Granted'],
      [1, 'Error'],
      [2, 'Pending'],
      [3, 'Agent offline'],
      [4, 'Waiting'],
      [5, 'Read'],
      [6, 'Published'],
      [8, 'Revoking'],
      [9, 'Revoked'],
      [10, 'Error'],
    ] as const)
      it(`${number} is labelled ${label}`, async () => {
        const card = await showOne({ Status: number })
        expect((await card.innerText()).split('\n')).toContain(label)
      })
  })

  describe('buttons', () => {
    for (const [button, numbers] of [
      ['Revoke Access', [0, 5, 6, 8]],
      ['Grant Access', [4, 9]],
      ['Pending', [2]],
      [null, [1, 10, 3, 7]],
    ] as const)
      it(`${button ?? 'none'} at ${numbers.join(', ')}`, async () => {
        for (const Status of numbers) {
          const card = await showOne({ Status })
          expect(await accessButton(card).allInnerTexts(), `at ${Status}`).toEqual(button ? [button] : [])
        }
      })

    it('Revoke Access when the status is grant-issued or ExpiredAfter is in the future', async () => {
      for (const Status of [0, 4, 5, 6, 8, 9]) {
        const card = await showOne({ Status, ExpiredAfter: farEnd() })
        expect(await accessButton(card).allInnerTexts(), `at ${Status}`).toEqual(['Revoke Access'])
      }
    })

    it('a Pending button that does nothing when pending', async () => {
      const card = await showOne({ Status: 2 })
      const sent: string[] = []
      page.on('request', (request) => {
        if (request.method() !== 'GET') sent.push(request.url())
      })
      const button = card.getByRole('button', { name: 'Pending: It' })
      await button.click({ force: true })
      await button.focus()
      await page.keyboard.press('Enter')
      await page.waitForTimeout(300)
      expect(sent).toEqual([])
      await button.waitFor()
    })

    it('no button on error, but the error’s text', async () => {
      const card = await showOne({ Status: 1, Error: 'err.grantFailed', ExpiredAfter: farEnd() })
      expect(await accessButton(card).count()).toBe(0)
      expect(await card.innerText()).toContain('Access could not be granted, contact an admin if it stays so')
      expect(await (await showOne({ Status: 10, Error: 'err.revokeFailed' })).innerText()).toContain(
        'The door may still be open: closing it failed, and is being tried again.',
      )
      expect(await (await showOne({ Status: 6, Error: 'said by the child' })).innerText()).toContain(
        'said by the child',
      )
    })

    it('1 of a click goes to 4 with its text kept: the button is there again', async () => {
      const card = await showOne({ Status: 4, Error: 'err.grantFailed' })
      expect(await accessButton(card).allInnerTexts()).toEqual(['Grant Access'])
      expect(await card.innerText()).toContain('Access could not be granted')
    })

    it('only click-to-grant entries have them', async () => {
      for (const Status of [0, 2, 4, 9]) {
        const card = await showOne({ Status, ClickToGrant: false })
        expect(await accessButton(card).count(), `at ${Status}`).toBe(0)
        expect(await card.innerText()).toContain('Opens by itself')
      }
    })

    it('a click acts on the one shown of those with the same Description', async () => {
      await portal.show(
        entries({ Description: 'It', HideFromUsers: true }, { Description: 'It' }, { Description: 'It' }),
      )
      const asked: unknown[] = []
      await page.route('**/api/grant', (route) => {
        const body = route.request().postDataJSON() as { ACLID: string }
        asked.push(body.ACLID)
        return route.fulfill({ json: { data: { ACLID: body.ACLID, Status: 4, ExpiredAfter: null } } })
      })
      await accessButton(entry(page, 'It')).click()
      await eventually(() => asked).toEqual(['00000000-0000-4000-8000-000000000001'])
      await page.unroute('**/api/grant')
    })

    it('says on the entry why a click was refused', async () => {
      portal.visitor.expectFault(/^console \/api\/grant: .*403/)
      const card = await showOne({})
      await page.route('**/api/grant', (route) =>
        route.fulfill({ status: 403, json: { Err: 'err.accessRestricted' } }),
      )
      await accessButton(card).click()
      await card.getByRole('alert').getByText('Access is restricted from where you are').waitFor()
      await page.unroute('**/api/grant')
    })
  })

  describe('the status badge', () => {
    /** A colour of the theme as the browser computes it. */
    const colour = (name: string) =>
      page.evaluate((variable) => {
        const probe = document.createElement('i')
        probe.style.color = `var(${variable})`
        document.body.append(probe)
        const { color } = getComputedStyle(probe)
        probe.remove()
        return color
      }, name)
    const colourOf = (badge: Locator) => badge.evaluate((element) => getComputedStyle(element).color)

    it('reads ‘Access for {relative time}’ and turns orange when fewer than 15 minutes remain', async () => {
      for (const [minutes, text, tone] of [
        [14.9, 'Access for 14 minutes', '--warn'],
        [15.2, 'Access for 15 minutes', '--ok'],
        [95.2, 'Access for 1h 35m', '--ok'],
        [60 * 24 * 3 + 1, 'Access for 3 days', '--ok'],
        [0.7, /^Access for \d\d seconds$/, '--warn'],
      ] as const) {
        const card = await showOne({ Status: 0, ExpiredAfter: inMinutes(minutes) })
        const badge = card.getByText(text)
        await badge.waitFor()
        expect(await colourOf(badge), `at ${minutes}`).toBe(await colour(tone))
      }
    })

    it('runs by itself, by the server’s clock although the browser’s is wrong', async () => {
      const { context, page, leave } = await browser.visit(site.arena.serverUrl)
      context.setDefaultTimeout(patience)
      // Two hours behind: the end seems near, and the session to be over soon.
      await context.addInitScript(() => {
        const real = Date.now
        Date.now = () => real() + 7_200_000
      })
      const status = () => entries({ Description: 'It', Status: 0, ExpiredAfter: end })
      await context.route(/\/api\/status(\?|$)/, (route) =>
        changeAnswer<object>(route, (data) => ({ ...data, ...status() })),
      )
      const end = inMinutes(15.1)
      await page.goto('/')
      await page.getByLabel('Username').fill(kim.userName)
      await page.getByLabel('Password', { exact: true }).fill(kim.password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await reads(entry(page, 'It'), /Access for 15 minutes/, patience)
      await reads(entry(page, 'It'), /Access for 14 minutes/, patience)
      await leave()
    })
  })

  describe('after a grant or revoke', () => {
    /** A page whose clock a test moves, and an entry that its status shows. */
    async function openStill() {
      const own = await openShownPortal({ site, browser, login: kim })
      await own.page.clock.install()
      // A click tells the browser's other tabs, and through them this page: that look is none of the poll's.
      await own.page.addInitScript(() => {
        globalThis.BroadcastChannel = class extends BroadcastChannel {
          override postMessage(message: unknown): void {
            // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no origins
            if (this.name !== 'knoc-events') super.postMessage(message)
          }
        }
      })
      for (const [path, method] of [
        ['**/api/grant', 'POST'],
        ['**/api/sessions/current/granted-acls/*', 'DELETE'],
      ] as const)
        await own.page.route(path, (route) =>
          route.fulfill({
            json: { data: { ACLID: 'it', Status: method === 'POST' ? 2 : 8, ExpiredAfter: null } },
          }),
        )
      /** Shows the entry in this status, and stops the clock. */
      const show = async (Status: number) => {
        await own.page.clock.resume()
        await own.show(entries({ Description: 'It', Status }))
        await entry(own.page, 'It').waitFor()
        await own.page.waitForTimeout(400)
        await own.page.clock.pauseAt((await own.page.evaluate(() => Date.now())) + 2_000)
        await settle()
        own.looks.splice(0)
      }
      const underWay = new Set<Request>()
      own.page.on('request', (request) => {
        if (request.url().includes('/api/status')) underWay.add(request)
      })
      own.page.on('requestfinished', (request) => void underWay.delete(request))
      own.page.on('requestfailed', (request) => void underWay.delete(request))
      /** Waits for the answers that are under way, and gives the page the time to take them; its clock stands meanwhile. */
      const settle = async () => {
        await eventually(() => underWay.size).toBe(0)
        await own.page.waitForTimeout(300)
        await own.page.clock.runFor(20)
      }
      const pass = async (milliseconds: number) => {
        await own.page.clock.runFor(milliseconds)
        await settle()
      }
      /** The poll's part of the page is loaded by the first click: until it asks, time passes in small steps. */
      const click = async () => {
        await accessButton(entry(own.page, 'It')).click()
        await eventually(async () => {
          await own.page.clock.runFor(50)
          return own.looks.length
        }).toBe(1)
        await settle()
      }
      return { ...own, show, pass, click }
    }

    it('the status is re-fetched with force and then polled: after 1, 1, 2, 3, 5, 8, 13 and 21 s, and ends when a wait would pass 30 s', async () => {
      const { show, set, looks, pass, click, visitor } = await openStill()
      await show(4)
      set(entries({ Description: 'It', Status: 2 }))
      await click()
      let expected = 1
      for (const seconds of [1, 1, 2, 3, 5, 8, 13, 21]) {
        await pass(seconds * 1_000 - 150)
        expect(looks.length, `before ${seconds} s`).toBe(expected)
        await pass(200)
        expected += 1
        await eventually(() => looks.length).toBe(expected)
      }
      await pass(40_000)
      expect(looks.length).toBe(expected)
      await visitor.leave()
    })

    it('it stops at status 1, 3, 4 or 6, and at the settled 0, 5, 9 and 10', async () => {
      const { show, set, looks, pass, click, visitor } = await openStill()
      for (const Status of [1, 3, 4, 6, 0, 5, 9, 10]) {
        await show(4)
        set(entries({ Description: 'It', Status }))
        await click()
        await pass(10_000)
        expect(looks.length, `at ${Status}`).toBe(1)
      }
      await visitor.leave()
    })

    it('it goes on at 2 and at 8, and follows a revoke as it follows a grant', async () => {
      const { show, set, looks, pass, click, visitor } = await openStill()
      for (const [from, Status] of [
        [4, 2],
        [0, 8],
      ] as const) {
        await show(from)
        set(entries({ Description: 'It', Status }))
        await click()
        await pass(1_050)
        await eventually(() => looks.length).toBe(2)
      }
      await visitor.leave()
    })

    it('tells screen readers how it ended', async () => {
      const card = await showOne({})
      await page.route('**/api/grant', (route) => {
        // Not before: a look by itself would show a door that nobody clicked.
        portal.set(entries({ Description: 'It', Status: 0, ExpiredAfter: farEnd() }))
        return route.fulfill({ json: { data: { ACLID: 'it', Status: 2, ExpiredAfter: null } } })
      })
      await accessButton(card).click()
      await page.getByRole('status').getByText('It: access granted').waitFor({ state: 'attached' })
      await page.unroute('**/api/grant')
    })

    it('an ACL whose ExpiredAfter is in the past triggers a forced status refresh, at most one in 5 s', async () => {
      await showOne({ Status: 0, ExpiredAfter: farEnd() })
      // The looks that come with a page are over.
      await eventually(() => Date.now() - (portal.looks.at(-1) ?? 0)).toBeGreaterThan(1_500)
      portal.looks.splice(0)
      portal.set(entries({ Description: 'It', Status: 0, ExpiredAfter: inMinutes(-1) }))
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      await eventually(() => portal.looks.length).toBeGreaterThanOrEqual(3)
      const gaps = portal.looks.slice(1).map((at, index) => at - (portal.looks[index] ?? 0))
      expect(Math.min(...gaps)).toBeGreaterThan(4_000)
      portal.set(entries({ Description: 'It', Status: 9 }))
      await reads(entry(page, 'It'), /Revoked/, patience)
      portal.looks.splice(0)
      await page.waitForTimeout(7_000)
      expect(portal.looks).toEqual([])
    })

    it('on a real gate: Grant Access opens, Revoke Access closes, and the entry says so', async () => {
      await portal.show({})
      const card = entry(page, knocName)
      await card.getByRole('button', { name: `Grant Access to ${knocName}` }).click()
      await reads(card, /Access for/, patience)
      await eventually(site.isReachable).toBe(true)
      await card.getByRole('button', { name: `Revoke Access to ${knocName}` }).click()
      await reads(card, /Revoked/, patience)
      await eventually(site.isReachable).toBe(false)
    })
  })

  describe('links', () => {
    it('Config.UriToken is appended to the URL as a query parameter, beside a query and before a fragment', async () => {
      for (const [url, href] of [
        ['https://a.example/x', 'https://a.example/x?knoc_token=t%26%2B'],
        ['https://a.example/x?y=1', 'https://a.example/x?y=1&knoc_token=t%26%2B'],
        ['https://a.example/x#part', 'https://a.example/x?knoc_token=t%26%2B#part'],
      ] as const) {
        const card = await showOne({ URL: url, Config: { UriToken: 't&+' } })
        expect(await card.getByRole('link', { name: 'Open It' }).getAttribute('href')).toBe(href)
      }
    })

    it('only http and https are links, others are text', async () => {
      for (const [url, count] of [
        ['http://a.example/', 1],
        ['https://a.example/', 1],
        ['javascript:alert(1)', 0],
        ['JavaScript:alert(1)', 0],
        ['data:text/html,<script>alert(1)</script>', 0],
        ['ssh://a.example', 0],
        ['', 0],
      ] as const) {
        const card = await showOne({ URL: url })
        expect(await card.getByRole('link').count(), url).toBe(count)
        expect(await card.innerText()).toContain('It')
      }
    })
  })

  describe('what is special about an entry', () => {
    it('specifiedIps entries say that the user’s address isn’t used', async () => {
      for (const Status of [0, 4]) {
        const card = await showOne({ Status, GrantTypeFixedIps: true })
        expect(await card.innerText()).toMatch(/your own address isn.t used/)
      }
    })

    for (const [when, facts, texts] of [
      [
        'published and never read',
        { Status: 6, ExpiredAfter: 'ahead' },
        ['access works once a firewall has read it', 'No firewall has read the list yet'],
      ],
      [
        'published, read before',
        { Status: 6, ExpiredAfter: 'ahead', ListReadAt: -3.5, NextReadAt: 2.5 },
        [
          'access works once a firewall has read it',
          'List last read 3 minutes ago',
          'Next reading expected in 2 minutes',
        ],
      ],
      [
        'read, no rhythm known yet',
        { Status: 5, ExpiredAfter: 'ahead', ListReadAt: -65 },
        ['List last read 1 hour ago'],
      ],
      [
        'read, the next reading overdue',
        { Status: 5, ExpiredAfter: 'ahead', ListReadAt: -5.5, NextReadAt: -0.5 },
        ['List last read 5 minutes ago', 'Next reading expected now'],
      ],
      [
        'revoking',
        { Status: 8, ListReadAt: -1.5, NextReadAt: 3.5 },
        ['access ends once a firewall has read it', 'Next reading expected in 3 minutes'],
      ],
      ['at rest', { Status: 4, ListReadAt: -1.5 }, ['List last read 1 minute ago']],
    ] as const)
      it(`passive entries show when the list was last read and the time to the next reading: ${when}`, async () => {
        const instant = (minutes: number | undefined) => (minutes === undefined ? null : inMinutes(minutes))
        const card = await showOne({
          Passive: true,
          Status: facts.Status,
          ExpiredAfter: 'ExpiredAfter' in facts ? farEnd() : null,
          ListReadAt: instant('ListReadAt' in facts ? facts.ListReadAt : undefined),
          NextReadAt: instant('NextReadAt' in facts ? facts.NextReadAt : undefined),
        })
        const text = await card.innerText()
        for (const expected of texts) expect(text).toContain(expected)
        expect(text).not.toMatch(/^(Pending|Published)$/m)
      })

    it('passive-mode grants refresh every 60 s', async () => {
      const own = await openShownPortal({ site, browser, login: kim })
      await own.page.clock.install()
      await own.show(entries({ Description: 'It', Passive: true, Status: 6, ExpiredAfter: farEnd() }))
      await reads(entry(own.page, 'It'), /No firewall has read the list yet/, patience)
      own.set(
        entries({
          Description: 'It',
          Passive: true,
          Status: 5,
          ExpiredAfter: farEnd(),
          ListReadAt: inMinutes(0),
        }),
      )
      await own.page.clock.runFor(60_000)
      await reads(entry(own.page, 'It'), /List last read/, patience)
      await heading(own.page, /^Hello, /).waitFor()
      await own.visitor.leave()
    })
  })
})

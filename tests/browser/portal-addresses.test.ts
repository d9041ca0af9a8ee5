import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GrantRequest } from '#server/grants/grant.schema.ts'
import type { AclStatus, SystemStatus, UserStatus } from '#server/status/status.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { findBarriers } from './accessibility.ts'
import { entry, heading, isSameDocument, markDocument, reads, signIn } from './acts.ts'
import { changeAnswer } from './change-answer.ts'
import { type LookupServices, startLookupServices } from './lookup-services.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const password = 'a password of users 1'
const knocName = 'Payroll'
const robin = { userName: 'robin', password }
const loopback = { Port: 0, IP: '127.0.0.1' }

/** The page's half; what the server makes of addresses is told by what its answers are changed to. */
describe.skipIf(!hasBrowser())(
  'the portal follows its user’s addresses',
  { timeout: journeyTime, retry: 1 },
  () => {
    let site: BrowserSite
    let browser: TestBrowser
    let visitor: Visitor
    let page: Page
    let services: LookupServices | undefined
    /** What the answers of the server are changed to. */
    let system: Partial<SystemStatus>
    let status: Partial<UserStatus>
    let acl: Partial<AclStatus>
    /** How the next POST /api/grant are refused, before the server is asked. */
    let refusals: { Err: string; Extra: string }[]
    let granted: { IPs: GrantRequest['IPs']; at: number }[]
    let logged: GrantRequest['IPs']
    let revalidations: number
    /** What every status waits for before it is answered. */
    let held: Promise<void> | undefined
    let hasLeft: boolean

    beforeAll(async () => {
      site = await openBrowserSite({ kind: 'gate' })
      await site.seed({ name: knocName, user: robin })
      browser = await startBrowser()
    }, 180_000)
    beforeEach(async () => {
      system = {}
      status = {}
      acl = { CGNATOpen: true }
      refusals = []
      granted = []
      logged = []
      revalidations = 0
      held = undefined
      hasLeft = false
      visitor = await browser.visit(site.arena.serverUrl, { bypassCSP: true })
      visitor.context.setDefaultTimeout(patience)
      visitor.expectFault(/^console .*\b(409|401|ERR_INTERNET_DISCONNECTED)\b/)
      visitor.expectFault(/ERR_(CONNECTION_REFUSED|INTERNET_DISCONNECTED|NETWORK_CHANGED)/)
      const { context } = visitor
      await context.route(
        '**/api/system_status',
        unlessLeft((route) => change(route, system)),
      )
      await context.route(/\/api\/status(\?|$)/, unlessLeft(answerStatus))
      await context.route('**/api/grant', unlessLeft(answerGrant))
      await context.route('**/api/log_ips', (route) => {
        logged.push(...(route.request().postDataJSON() as GrantRequest).IPs)
        return route.fulfill({ json: { data: null } })
      })
      page = visitor.page
    })
    afterEach(async () => {
      await visitor.leave()
      await services?.close()
      services = undefined
      browser.checkFaults()
    })
    afterAll(async () => {
      await browser?.close()
      await site?.close()
    }, 60_000)

    /** What is still to be answered when the visitor leaves is nobody's fault. */
    const unlessLeft = (answer: (route: Route) => Promise<void>) => (route: Route) =>
      answer(route).catch((error: unknown) => {
        if (!hasLeft) throw error
      })

    const change = (route: Route, fields: object) =>
      changeAnswer<object>(route, (data) => ({ ...data, ...fields }))

    /** Statuses that are asked for from now on are answered when what this answers is called. */
    function holdStatus(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = undefined
        resolve()
      }
    }

    async function answerStatus(route: Route): Promise<void> {
      if (route.request().headers()['x-knoc-revalidate'] === '1') revalidations += 1
      await held
      await changeAnswer<UserStatus>(route, (data) => ({
        ...data,
        Nonce: data.Nonce || 'nonce-of-a-test',
        ACLs: data.ACLs.map((one) => ({ ...one, ...acl })),
        ...status,
      }))
    }

    /** The server is asked for its own address only: it has seen no other. */
    async function answerGrant(route: Route): Promise<void> {
      const body = route.request().postDataJSON() as GrantRequest
      granted.push({ IPs: body.IPs, at: Date.now() })
      const refusal = refusals.shift()
      if (refusal) return route.fulfill({ status: 409, json: refusal })
      const own = body.IPs.filter(({ Port }) => Port === 0)
      return route.continue({ postData: JSON.stringify({ ...body, IPs: own }) })
    }

    /** Signs in with lookup services of these answers, and waits until the page has settled. */
    async function arrive(answers: Parameters<typeof startLookupServices>[0] = {}): Promise<void> {
      services = await startLookupServices(answers)
      if (services.ports.length > 0)
        system = { ...system, IPApi: 'http://127.0.0.1', LookupPorts: services.ports }
      await signIn(page, robin)
      await entry(page, knocName).waitFor()
      await revoke()
    }

    const grantButton = () => entry(page, knocName).getByRole('button', { name: /^Grant Access/ })
    const revokeButton = () => entry(page, knocName).getByRole('button', { name: /^Revoke Access/ })

    async function revoke(): Promise<void> {
      await grantButton().or(revokeButton()).first().waitFor()
      if (await revokeButton().isVisible()) await revokeButton().click()
      await grantButton().waitFor()
    }

    async function clickGrant(): Promise<number> {
      const clickedAt = Date.now()
      await grantButton().click()
      await revokeButton().waitFor()
      return clickedAt
    }

    describe('click to grant', () => {
      it('sends the discovered per-port IPs, with CGNATOpen and a lookup service available', async () => {
        await arrive({
          443: { text: '203.0.113.1\n' },
          222: { text: '203.0.113.2' },
          3389: { text: '<html>Sign in to this network</html>' },
          8000: { text: '2001:db8::8' },
        })
        await clickGrant()
        expect(granted).toHaveLength(1)
        expect(granted[0]?.IPs[0]).toEqual(loopback)
        expect(granted[0]?.IPs.slice(1).toSorted((a, b) => a.Port - b.Port)).toEqual([
          { Port: 222, IP: '203.0.113.2' },
          { Port: 443, IP: '203.0.113.1' },
          { Port: 8000, IP: '2001:db8::8' },
        ])
        expect(services?.asked[0]).toMatch(/^\d+ \/ip\?n=.+/)
      })

      it('is not delayed by a blocked port: sends what came within 1 s, the rest by log_ips', async () => {
        await arrive({
          443: { text: '203.0.113.1' },
          222: 'blocked',
          8000: { text: '203.0.113.8', afterMs: 1_800 },
        })
        const clickedAt = await clickGrant()
        expect(granted[0]?.IPs).toEqual([loopback, { Port: 443, IP: '203.0.113.1' }])
        expect((granted[0]?.at ?? 0) - clickedAt).toBeLessThan(5_000)
        await eventually(() => logged).toEqual([{ Port: 8000, IP: '203.0.113.8' }])
      })

      it('sends one entry with Port 0 and the current address otherwise', async () => {
        acl = { CGNATOpen: false }
        await arrive({ 443: { text: '203.0.113.1' } })
        await clickGrant()
        expect(granted.map(({ IPs }) => IPs)).toEqual([[loopback]])
        expect(services?.asked).toEqual([])
      })

      it('falls back to one entry, Port 0, with no lookup reachable', async () => {
        await arrive({ 443: { text: '' } })
        await services?.close()
        await clickGrant()
        expect(granted.map(({ IPs }) => IPs)).toEqual([[loopback]])
      })

      it('asks once again without an address that the server has not seen', async () => {
        await arrive({ 443: { text: '203.0.113.1' }, 222: { text: '203.0.113.2' } })
        refusals = [{ Err: 'err.addressNotSeen', Extra: '203.0.113.2' }]
        await clickGrant()
        expect(granted.map(({ IPs }) => IPs.length)).toEqual([3, 2])
        expect(granted[1]?.IPs).toEqual([loopback, { Port: 443, IP: '203.0.113.1' }])
      })

      it('re-validates and asks again once when the address has changed', async () => {
        await arrive()
        const before = revalidations
        refusals = [{ Err: 'err.addressChanged', Extra: '203.0.113.9' }]
        await clickGrant()
        expect(granted).toHaveLength(2)
        expect(revalidations).toBeGreaterThan(before)
        await revoke()
        refusals = Array.from({ length: 3 }, () => ({ Err: 'err.addressChanged', Extra: '203.0.113.9' }))
        await grantButton().click()
        await reads(entry(page, knocName), /Your address has changed/, patience)
        expect(granted).toHaveLength(4)
      })
    })

    describe('automatic entries with CGNATOpen', () => {
      it('are looked up once after the sign-in, and told by log_ips', async () => {
        acl = { CGNATOpen: true, ClickToGrant: false }
        services = await startLookupServices({ 443: { text: '203.0.113.1' }, 222: 'blocked' })
        system = { IPApi: 'http://127.0.0.1', LookupPorts: services.ports }
        await signIn(page, robin)
        await eventually(() => logged).toEqual([{ Port: 443, IP: '203.0.113.1' }])
        expect(services.asked).toHaveLength(1)
        // A move puts it in doubt: it is looked up anew.
        status = { CurrentAddress: '203.0.113.99', Addresses: [{ IP: '203.0.113.99', Source: 'own' }] }
        await page.evaluate(() => window.dispatchEvent(new Event('online')))
        await eventually(() => logged.length).toBe(2)
      })
    })

    describe('with both families', () => {
      it('IPv4 and IPv6 are both looked up at the start of the page, and told as the session’s own', async () => {
        acl = {}
        services = await startLookupServices({ 4: { text: '203.0.113.1' }, 6: { text: '2001:db8::1' } })
        const [v4, v6] = services.ports.map(({ At }) => `http://127.0.0.1:${At}`)
        system = { IPv4Origin: v4 ?? '', IPv6Origin: v6 ?? '' }
        await signIn(page, robin)
        await eventually(() => logged.map(({ IP }) => IP).toSorted()).toEqual(['2001:db8::1', '203.0.113.1'])
        expect(logged.every(({ Port }) => Port === 0)).toBe(true)
        expect(services.asked.every((asked) => asked.includes('/ip?n='))).toBe(true)
      })
    })

    describe('re-validation', () => {
      it('is every 30 s while the home page is open, and reads passive entries anew within 60 s', async () => {
        await page.clock.install()
        acl = { Passive: true, ClickToGrant: false, Status: 6 }
        await signIn(page, robin)
        await reads(entry(page, knocName), /Published/, patience)
        await eventually(() => revalidations).toBeGreaterThan(0)
        acl = { ...acl, Status: 5 }
        for (let round = 0; round < 3; round += 1) {
          const before = revalidations
          await page.clock.runFor(30_000)
          await eventually(() => revalidations).toBeGreaterThan(before)
          expect(revalidations).toBeLessThanOrEqual(before + 2)
        }
        await reads(entry(page, knocName), /Read/, patience)
      })

      it('is at once when the browser reports a network change, and once for many reports', async () => {
        await arrive()
        await markDocument(page)
        for (const report of ['online', 'connection', 'resume', 'return']) {
          // Longer ago than the least pause, and before the next that comes by itself.
          await page.waitForTimeout(2_500)
          const before = revalidations
          await page.evaluate((kind) => {
            const { connection } = navigator as unknown as { connection: EventTarget }
            for (let i = 0; i < 20; i += 1) {
              if (kind === 'online') window.dispatchEvent(new Event('online'))
              if (kind === 'connection') connection.dispatchEvent(new Event('change'))
              if (kind === 'resume') document.dispatchEvent(new Event('resume'))
              if (kind === 'return') document.dispatchEvent(new Event('visibilitychange'))
            }
          }, report)
          await expect.poll(() => revalidations, { timeout: 15_000 }).toBeGreaterThan(before)
          await page.waitForTimeout(500)
          expect(revalidations, report).toBeLessThanOrEqual(before + 2)
        }
        expect(await isSameDocument(page)).toBe(true)
      })

      it('says calmly that there is no network, clears nothing, and goes on when it is back', async () => {
        await arrive()
        await markDocument(page)
        await visitor.context.setOffline(true)
        await page.getByText('You are offline').waitFor()
        await entry(page, knocName).waitFor()
        await page.getByRole('timer').waitFor()
        expect(await findBarriers(page)).toEqual([])
        const before = revalidations
        await visitor.context.setOffline(false)
        await page.getByText('You are offline').waitFor({ state: 'hidden' })
        await eventually(() => revalidations).toBeGreaterThan(before)
        expect(await isSameDocument(page)).toBe(true)
      })

      it('says so still when an answer arrives that was on its way when the network went', async () => {
        await arrive()
        const release = holdStatus()
        const before = revalidations
        await page.evaluate(() => window.dispatchEvent(new Event('online')))
        await eventually(() => revalidations).toBeGreaterThan(before)
        await visitor.context.setOffline(true)
        await page.getByText('You are offline').waitFor()
        const answered = page.waitForResponse(/\/api\/status\?/)
        release()
        await (await answered).finished()
        await page.waitForTimeout(300)
        expect(await page.getByText('You are offline').isVisible()).toBe(true)
      })

      it('leads to the login, which says why, when the address has changed too often', async () => {
        await arrive()
        await visitor.context.route(/\/api\/status\?revalidate/, (route) =>
          route.fulfill({
            status: 401,
            json: { Err: 'err.sessionExpired', Extra: 'err.addressMovedTooOften' },
          }),
        )
        await page.evaluate(() => window.dispatchEvent(new Event('online')))
        await page.getByText('Error: Your address has changed too often').waitFor()
        await heading(page, 'Sign in').waitFor()
      })
    })

    describe('every move is shown', () => {
      const own = (IP: string) => ({ IP, Source: 'own' as const })
      const found = (IP: string) => ({ IP, Source: 'discovered' as const })
      const [v4, v6] = ['203.0.113.11', '2001:db8:1234:5678:9abc:def0:1234:5678']

      async function look(
        Addresses: UserStatus['Addresses'],
        facts: Partial<UserStatus> = {},
      ): Promise<void> {
        status = { CurrentAddress: Addresses[0]?.IP ?? '', Addresses, ...facts }
        const before = revalidations
        await page.evaluate(() => window.dispatchEvent(new Event('online')))
        await eventually(() => revalidations).toBeGreaterThan(before)
      }
      const listed = () =>
        page.getByRole('list', { name: 'Your addresses' }).getByRole('listitem').allInnerTexts()

      it('with both families, joined and dropped addresses in plain words', async () => {
        status = { CurrentAddress: v4, Addresses: [own(v4), own(v6)] }
        await arrive()
        expect(await listed()).toEqual([v4, v6])
        expect(await page.getByText('Your address has changed').count()).toBe(0)

        await look([own('203.0.113.12'), own(v6)])
        await page.getByText(`Your address has changed from ${v4} to 203.0.113.12.`).waitFor()
        await page.getByRole('button', { name: 'Dismiss' }).click()
        await look([own('203.0.113.12')])
        await page.getByText(`You no longer have the address ${v6}.`).waitFor()
        await page.getByRole('button', { name: 'Dismiss' }).click()

        // What comes so soon after a sign-in is no news: it stands in the panel.
        await look([own('203.0.113.12'), own(v6), found('203.0.113.77')])
        await eventually(listed).toEqual(['203.0.113.12', v6])
        await page.getByText('Also open for 203.0.113.77').waitFor()
        const Now = new Date(Date.now() + 60_000).toISOString()
        await look([own('203.0.113.12'), own(v6), found('203.0.113.77'), found('203.0.113.78')], { Now })
        await page.getByText('A further address of yours was found: 203.0.113.78.').waitFor()
      })

      it('fits a width of 320 px', async () => {
        await page.setViewportSize({ width: 320, height: 720 })
        status = {
          CurrentAddress: v6,
          Addresses: [own(v6), own(v4), found('203.0.113.77'), found('203.0.113.78')],
        }
        await arrive()
        await look([
          own('2001:db8:1234:5678:9abc:def0:1234:9999'),
          own('203.0.113.12'),
          found('203.0.113.77'),
        ])
        await page.getByText('Your addresses have changed').waitFor()
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
        expect(await findBarriers(page)).toEqual([])
      })
    })

    it('loads nothing of the discovery while it is off, and a file of its own when it is on', async () => {
      const loaded: string[] = []
      page.on('request', (request) => void loaded.push(new URL(request.url()).pathname))
      const files = () => loaded.filter((path) => path.startsWith('/assets/discovery-')).length
      await arrive()
      await page.waitForLoadState('networkidle')
      expect(files()).toBe(0)
      system = { IPApi: 'http://127.0.0.1', LookupPorts: [] }
      await page.reload()
      await eventually(files).toBe(1)
    })
  },
)

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser, type Visitor } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { entry, heading, isSameDocument, markDocument, reads, signIn } from './acts.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const password = 'a password of users 1'
const knocName = 'Payroll'
const robin = { userName: 'robin', password }

/** What a browser may lack: Web Locks on plain http, BroadcastChannel where it is switched off. */
const browsers = [
  { name: 'with Web Locks and BroadcastChannel', lacks: [], streams: 1 },
  { name: 'without Web Locks', lacks: ['locks'], streams: 2 },
  { name: 'without BroadcastChannel', lacks: ['BroadcastChannel'], streams: 2 },
  { name: 'without either', lacks: ['locks', 'BroadcastChannel'], streams: 2 },
]

/**
 * Each tab counts its streams; hidden and visible are what the test says. No poll runs: what a tab doesn't hear of, it
 * doesn't show.
 */
function watchStreams(): void {
  const { setInterval: begin } = globalThis
  Object.assign(globalThis, {
    setInterval: (act: () => void, everyMs: number) => (everyMs === 30_000 ? 0 : begin(act, everyMs)),
  })
  const page = globalThis as unknown as { streams: EventSource[]; seen: string }
  page.streams = []
  page.seen = 'visible'
  const Original = EventSource
  class Watched extends Original {
    constructor(url: string | URL, init?: EventSourceInit) {
      super(url, init)
      page.streams.push(this)
    }
  }
  globalThis.EventSource = Watched
  Object.defineProperty(document, 'visibilityState', { get: () => page.seen })
}

function takeAway(names: readonly string[]): void {
  if (names.includes('locks')) Reflect.deleteProperty(Navigator.prototype, 'locks')
  if (names.includes('BroadcastChannel')) Reflect.deleteProperty(globalThis, 'BroadcastChannel')
}

describe.skipIf(!hasBrowser())('live events change the screen', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    await site.seed({ name: knocName, user: robin })
    browser = await startBrowser()
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  /** Two tabs of one browser on the dashboard, with the entry closed. */
  async function visitTwice(
    lacks: readonly string[] = [],
  ): Promise<{ visitor: Visitor; page: Page; tab: Page }> {
    const visitor = await browser.visit(site.arena.serverUrl)
    visitor.context.setDefaultTimeout(patience)
    visitor.expectFault(/^console \/api\/(status|events)\b.*\b(401|503)\b/)
    await visitor.context.addInitScript(watchStreams)
    await visitor.context.addInitScript(takeAway, lacks)
    const { page } = visitor
    await signIn(page, robin)
    const tab = await visitor.tab()
    await tab.goto('/home/new')
    for (const one of [page, tab]) await entry(one, knocName).waitFor()
    await Promise.all([page, tab].map(markDocument))
    return { visitor, page, tab }
  }

  const openStreams = (page: Page): Promise<number> =>
    page.evaluate(
      () =>
        (globalThis as unknown as { streams: EventSource[] }).streams.filter(
          ({ readyState }) => readyState === EventSource.OPEN,
        ).length,
    )
  const inBoth = async (one: Page, other: Page) => (await openStreams(one)) + (await openStreams(other))
  const show = (page: Page, visibility: 'hidden' | 'visible') =>
    page.evaluate((seen) => {
      Object.assign(globalThis, { seen })
      document.dispatchEvent(new Event('visibilitychange'))
    }, visibility)
  const click = (page: Page, what: 'Grant' | 'Revoke') =>
    entry(page, knocName)
      .getByRole('button', { name: new RegExp(`^${what} Access`) })
      .click()

  describe.each(browsers)('$name', ({ lacks, streams }) => {
    it('a click in one tab is shown by the others at once, without a reload', async () => {
      const { visitor, page, tab } = await visitTwice(lacks)
      await eventually(() => inBoth(page, tab)).toBe(streams)
      for (const [here, there] of [
        [page, tab],
        [tab, page],
      ] as const) {
        await here.bringToFront()
        await click(here, 'Grant')
        await reads(entry(there, knocName), /Access for/, patience)
        await reads(entry(here, knocName), /Access for/, patience)
        await click(here, 'Revoke')
        await reads(entry(there, knocName), /Revoked/, patience)
      }
      expect(await Promise.all([page, tab].map(isSameDocument))).toEqual([true, true])
      await visitor.leave()
    })
  })

  it('there is one stream per browser, closed while hidden: another tab takes it over', async () => {
    const { visitor, page, tab } = await visitTwice()
    await eventually(() => openStreams(page)).toBe(1)
    expect(await openStreams(tab)).toBe(0)
    await show(page, 'hidden')
    await eventually(() => openStreams(tab)).toBe(1)
    expect(await openStreams(page)).toBe(0)
    await show(tab, 'hidden')
    await eventually(() => inBoth(page, tab)).toBe(0)

    // What happened meanwhile is asked for when a stream opens.
    const session = await visitor.context.request.delete(
      `/api/sessions/current/granted-acls/${await knocId(visitor)}`,
      { headers: { Origin: site.arena.serverUrl } },
    )
    expect(session.ok()).toBe(true)
    await show(page, 'visible')
    await eventually(() => openStreams(page)).toBe(1)
    expect(await openStreams(tab)).toBe(0)
    // A hidden tab hears of it as well.
    await click(page, 'Grant')
    await reads(entry(tab, knocName), /Access for/, patience)
    await click(page, 'Revoke')
    await visitor.leave()
  })

  it('a stream that is refused is opened again after a while, and what was missed is asked for', async () => {
    const { visitor, page, tab } = await visitTwice()
    await tab.close()
    let refusals = 0
    await visitor.context.route('**/api/events', (route) => {
      refusals += 1
      return refusals <= 2 ? route.fulfill({ status: 503, body: '' }) : route.continue()
    })
    await show(page, 'hidden')
    const begunAt = Date.now()
    await show(page, 'visible')
    await eventually(() => openStreams(page)).toBe(1)
    expect(refusals).toBe(3)
    expect(Date.now() - begunAt).toBeGreaterThan(3_500)
    await visitor.leave()
  })

  it('the end of the session leads to the login in all tabs', async () => {
    const { visitor, page, tab } = await visitTwice()
    await eventually(() => openStreams(page)).toBe(1)
    await site.api.request('DELETE', '/admin/sessions')
    // The stream looks after its session every 15 s.
    for (const one of [page, tab]) await heading(one, 'Sign in').waitFor()
    expect(await inBoth(page, tab)).toBe(0)
    await visitor.leave()
  })

  async function knocId({ context }: Visitor): Promise<string> {
    const { data } = (await (await context.request.get('/api/status')).json()) as {
      data: { ACLs: { ACLID: string }[] }
    }
    return data.ACLs[0]?.ACLID ?? ''
  }
})

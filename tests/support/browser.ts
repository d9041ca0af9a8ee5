import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findProgram, requireProgram } from './debian.ts'

/** What Chromium is started with on a machine without a screen. */
export const browserSwitches = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Chromium without its windows needs a fifth less of the processor; the whole one does as well. */
const findBrowser = (): string | undefined =>
  findProgram('chromium-headless-shell') ?? findProgram('chromium')

/** Whether tests in a browser can run: the system's Chromium is there; says loudly when it isn't. */
export const hasBrowser = (): boolean => findBrowser() !== undefined || requireProgram('chromium')

/** The system's Chromium, without a window. Call `close` in `afterAll`. */
export type TestBrowser = Awaited<ReturnType<typeof startBrowser>>

/** Somebody's browser profile with one open page. */
export type Visitor = Awaited<ReturnType<TestBrowser['visit']>>

/**
 * Starts Chromium. Whoever visits is watched: console errors, uncaught errors, failed requests and breaches of the
 * content security policy are faults, and `checkFaults` (after each test) fails on them.
 */
export async function startBrowser() {
  const executablePath = findBrowser()
  if (executablePath === undefined) throw new Error('chromium is not installed')
  const browser: Browser = await chromium.launch({ executablePath, args: browserSwitches, headless: true })
  const faults: string[] = []

  /** Opens a profile of its own: its cookies and storage are nobody else's. */
  async function visit(origin: string, options: BrowserContextOptions = {}) {
    // Without motion nothing is waited for that only moves, and nothing is met on its way.
    const calm = { locale: 'en-AU', reducedMotion: 'reduce' } as const
    const context = await browser.newContext({ baseURL: origin, ...calm, ...options })
    context.setDefaultTimeout(20_000)
    const expected: RegExp[] = [...always]
    const note = (fault: string) => {
      if (!expected.some((pattern) => pattern.test(fault))) faults.push(fault)
    }
    await context.addInitScript(tellViolations)
    context.on('page', (page) => watch(page, origin, note))
    return {
      context,
      page: await context.newPage(),
      /** Another tab of the same profile. */
      tab: () => context.newPage(),
      /** What this visitor is about to provoke: requests that are refused, and the like. */
      expectFault: (pattern: RegExp) => void expected.push(pattern),
      leave: () => context.close(),
    }
  }

  return {
    visit,
    /** Throws with everything that went wrong in any page since the last look. */
    checkFaults: () => {
      const found = faults.splice(0)
      if (found.length > 0) throw new Error(`in the browser:\n${found.join('\n')}`)
    },
    close: () => browser.close(),
  }
}

/** What is no fault: a page asks whether somebody is signed in, and leaves before an answer came. */
const always = [/^console \/api\/(admin\/)?status\b.*\b401\b/, /^request .*net::ERR_ABORTED/]

function watch(page: Page, origin: string, note: (fault: string) => void): void {
  const pathOf = (url: string) => (url.startsWith(origin) ? url.slice(origin.length) : url)
  page.on('console', (message) => {
    if (message.type() === 'error') note(`console ${pathOf(message.location().url)}: ${message.text()}`)
  })
  page.on('pageerror', (error) => note(`page ${pathOf(page.url())}: ${error.stack ?? error.message}`))
  page.on('requestfailed', (request) => {
    note(`request ${request.method()} ${pathOf(request.url())}: ${request.failure()?.errorText ?? ''}`)
  })
}

/** Runs in the page: a breach of the content security policy is told on the console, whatever the browser says. */
function tellViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    // oxlint-disable-next-line no-console -- the watcher outside listens to it
    console.error(`content security policy: ${violatedDirective} ${blockedURI}`)
  })
}

import type { Page } from 'playwright-core'
import type { AclStatus, UserStatus } from '#server/status/status.schema.ts'
import type { TestBrowser } from '#tests/support/browser.ts'
import type { BrowserSite } from '#tests/support/browser-site.ts'
import { anEntry } from '../../web/portal/testing/an-entry.ts'
import { heading, type Login, signIn } from './acts.ts'
import { changeAnswer } from './change-answer.ts'
import { patience } from './patience.ts'

/** What a status is changed to, so that the page shows a state that is hard to reach in truth. */
type Change = Partial<UserStatus> | ((status: UserStatus) => Partial<UserStatus>)

/** A user's pages on which the status says what a test wants. */
export type ShownPortal = Awaited<ReturnType<typeof openShownPortal>>

/** Signs a user in on a real server; `show` then decides what its status says. No live hints come to these pages. */
export async function openShownPortal(
  { site, browser, login }: { site: BrowserSite; browser: TestBrowser; login: Login },
  options?: Parameters<TestBrowser['visit']>[1],
) {
  const visitor = await browser.visit(site.arena.serverUrl, options)
  const { context, page } = visitor
  context.setDefaultTimeout(patience)
  let change: Change = {}
  /** When each look at the status came that was no re-validation. */
  const looks: number[] = []
  await context.route('**/api/events', (route) => route.fulfill({ status: 204 }))
  await context.route(/\/api\/status(\?|$)/, async (route) => {
    if (route.request().headers()['x-knoc-revalidate'] === undefined) looks.push(Date.now())
    await changeAnswer<UserStatus>(route, (status) => ({
      ...status,
      ...(typeof change === 'function' ? change(status) : change),
    }))
  })
  await signIn(page, login)
  // A page that is loaded again first shows what its tab knew, until the server has answered.
  await page.addInitScript(() => sessionStorage.removeItem('userSession'))

  return {
    visitor,
    page,
    looks,
    /** What the next looks at the status answer. */
    set: (next: Change) => {
      change = next
    },
    /** One of the dashboards with this status. */
    show: async (next: Change, path: '/home' | '/home/new' = '/home/new') => {
      change = next
      await page.goto(path)
      // Behind a dialog that can't be left the page has no heading.
      await heading(page, /^Hello, /)
        .or(page.getByRole('alertdialog'))
        .first()
        .waitFor()
    },
  }
}

/** A status with these entries, and nothing else changed. */
export const entries = (...facts: Partial<AclStatus>[]): Partial<UserStatus> => ({
  ACLs: facts.map((fact, index) => {
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
    return anEntry({ ID: id, ACLID: id, Description: `Entry ${index}`, ...fact })
  }),
})

/** So many entries with these facts, called Entry 0, Entry 1 and so on. */
export const manyOf = (count: number, factsOf: (index: number) => Partial<AclStatus> = () => ({})) =>
  entries(...Array.from({ length: count }, (_, index) => factsOf(index)))

export const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString()

/** Names of the entries as the page shows them, in their order, cards or rows. */
export const shownNames = (page: Page): Promise<string[]> =>
  page
    .locator('main article, main tbody tr:has(th[scope="row"])')
    .evaluateAll((drawings) =>
      drawings.map(
        (drawing) =>
          drawing.getAttribute('aria-label') ??
          drawing.querySelector<HTMLElement>('th')?.innerText.split('\n')[0]?.trim() ??
          '',
      ),
    )

/** The sections' headings with the names below each. */
export const shownSections = async (page: Page): Promise<Record<string, string[]>> => {
  const sections = page.getByRole('main').locator('section:has(h3)')
  const found = await sections.evaluateAll((all) =>
    all.map((section) => [
      section.querySelector('h3')?.textContent ?? '',
      [...section.querySelectorAll('h4')].map((name) => name.textContent?.trim() ?? ''),
    ]),
  )
  return Object.fromEntries(found) as Record<string, string[]>
}

import { env } from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { saveDrift, saveTargetReports } from '#server/gateway/report.store.ts'
import { hasBrowser, startBrowser, type TestBrowser } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { aKnoc } from '#tests/support/builders.ts'
import { aDoor, aList, anAgentRow, closing, inSeconds } from '#tests/support/door-builders.ts'
import { findBarriers } from './accessibility.ts'
import { chooseAction, heading, reads, signInAdmin } from './acts.ts'
import { eventually, journeyTime } from './patience.ts'

describe.skipIf(!hasBrowser())('an agent’s page', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let page: Page
  let agentId: string
  let oldList: string

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    const { db } = site
    // What the server orders meanwhile is newer than the rows made here.
    await sql`select setval('generations', 1000)`.execute(db)
    agentId = (await anAgentRow(db, { name: 'edge-berlin', seen: -900, version: '2.0.0' })).id
    const knoc = await aKnoc(db, { agentId, set4: 'allowed_ssh', description: 'Server room' })
    oldList = await aList(db, agentId, { state: 'draining', key: `ipset:${agentId}:old_ssh` })
    await aDoor(db, oldList, {
      ...closing(-300),
      address: '198.51.100.9',
      userName: 'ada',
      heldUntil: inSeconds(-200),
    })
    const script = await aList(db, agentId, {
      key: `script:${agentId}:door:lab`,
      type: 'script',
      expiry: 'agent',
    })
    await aDoor(db, script, {
      ...closing(-600),
      address: '198.51.100.10',
      userName: 'grace',
      attempts: 5,
      failedGeneration: 11,
      outcome: 'failed',
      errorText: 'door: exit code 3, the lock does not answer',
      retryAt: inSeconds(40),
    })
    const counts = { checkedAtMs: Date.now() - 900_000, desired: 3, actual: 5, foreign: 2, error: null }
    await saveTargetReports(db, agentId, [{ targetId: knoc.targetId, ...counts }])
    const drift = { targetId: knoc.targetId, sample: ['203.0.113.77'], count: 1 }
    await saveDrift(db, agentId, [
      { ...drift, kind: 'foreign', repaired: false },
      { ...drift, kind: 'missing', repaired: true },
    ])
    browser = await startBrowser()
    const boss = await browser.visit(site.arena.serverUrl)
    page = boss.page
    page.setDefaultTimeout(30_000)
    await signInAdmin(page, admin)
  }, 120_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  const table = (name: string) => page.getByRole('table', { name })
  const alarms = async () =>
    (await page.getByRole('main').locator('[role="alert"], output:has(strong)').allInnerTexts()).map(
      (text) => text.split(/\n|\. /)[0] ?? '',
    )
  /** For whoever wants to see it: SHOTS names a folder. */
  async function shoot(name: string): Promise<void> {
    if (env['SHOTS'] === undefined) return
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [320, 768, 1440]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 900 })
        await page.screenshot({ path: `${env['SHOTS']}/${name}-${width}-${colorScheme}.png`, fullPage: true })
      }
    await page.setViewportSize({ width: 1280, height: 900 })
  }

  it('is where alarms lead: what can’t be closed, what is overdue, who is away, what others have put there', async () => {
    await heading(page, 'Home').waitFor()
    await eventually(alarms).toEqual([
      '1 door can’t be closed',
      '2 doors past their end, agent away',
      '2 entries that Knoc didn’t make',
    ])
    await eventually(() => page.getByRole('alert').count()).toBe(2)
    await reads(page.getByRole('alert').nth(1), /The kernel has ended 1 of them by itself/)
    await shoot('home')
    await page.getByRole('alert').first().getByRole('link', { name: 'edge-berlin' }).click()
    await heading(page, 'edge-berlin').waitFor()
    expect(page.url()).toMatch(new RegExp(`/admin/agents/${agentId}$`))
  })

  it('shows its lists, its debts with what fails, and what was found there', async () => {
    const lists = table('Lists')
    await lists.getByText('allowed_ssh').waitFor()
    const row = lists.getByRole('row').filter({ hasText: 'allowed_ssh' })
    await reads(row, /Server room[\s\S]*3 wanted, 5 there, 2 of others/)
    const debts = table('Doors not yet seen closed')
    const failing = debts.getByRole('row').filter({ hasText: '198.51.100.10' })
    await reads(failing, /Failed 5 times[\s\S]*the lock does not answer[\s\S]*Never/)
    await reads(
      debts.getByRole('row').filter({ hasText: '198.51.100.9' }),
      /ada[\s\S]*Waits for the agent[\s\S]*Has ended/,
    )
    await reads(table('Found different'), /1 entry missing[\s\S]*1 entry of others/)
    expect(await findBarriers(page)).toEqual([])
    await shoot('agent')
  })

  it('is reached from the list of agents by the name and by the menu', async () => {
    await page.getByRole('main').getByRole('link', { name: 'Agents' }).click()
    await heading(page, 'Agents').waitFor()
    await table('Agents').getByRole('link', { name: 'edge-berlin' }).click()
    await heading(page, 'edge-berlin').waitFor()
    await page.goBack()
    await chooseAction(page, 'edge-berlin', 'Lists')
    await heading(page, 'edge-berlin').waitFor()
  })

  it('forgets a list that drains for a reason, which then owes nothing, and the alarm knows', async () => {
    await page.getByRole('button', { name: 'Forget it: old_ssh' }).click()
    const dialog = page.getByRole('dialog', { name: 'Forget the list “old_ssh”?' })
    await dialog.getByText('1 door on it was never seen closed').waitFor()
    await shoot('forget')
    await dialog.getByRole('button', { name: 'Forget it' }).click()
    await dialog.getByText('Say why').waitFor()
    await dialog.getByLabel('Reason').fill('The host was scrapped')
    await dialog.getByRole('button', { name: 'Forget it' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await eventually(() => table('Lists').innerText()).not.toMatch(/old_ssh/)
    await eventually(() => table('Doors not yet seen closed').innerText()).not.toMatch(/198\.51\.100\.9\b/)
    const target = await site.db
      .selectFrom('targets')
      .select(['state', 'forgottenReason'])
      .where('id', '=', oldList)
      .executeTakeFirstOrThrow()
    expect(target).toEqual({ state: 'forgotten', forgottenReason: 'The host was scrapped' })
    await eventually(alarms).toContain('1 door past its end, agent away')
  })

  it('shows no alarm once nothing is wrong, without anybody putting it away', async () => {
    await sql`update entries set desired = 'closed', until = null, applied_desired = 'closed',
      applied_generation = generation, attempts = 0`.execute(site.db)
    await site.db.updateTable('targetReports').set({ foreign: 0 }).execute()
    // Alarms are at most half a second old.
    await wait(600)
    await page.reload()
    await table('Lists').getByText('allowed_ssh').waitFor()
    await eventually(alarms).toEqual([])
    await page.getByText('Every door was seen closed').waitFor()
  })
})

import { generateKeyPairSync } from 'node:crypto'
import { env } from 'node:process'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, startBrowser, type TestBrowser } from '#tests/support/browser.ts'
import { admin, type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { toSpki } from '#tests/support/console-api.ts'
import { anAgentRow } from '#tests/support/door-builders.ts'
import { findBarriers } from './accessibility.ts'
import { heading, reads, signInAdmin } from './acts.ts'
import { journeyTime } from './patience.ts'

describe.skipIf(!hasBrowser())('a Passive+ knoc in the console', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let page: Page
  let agentId: string

  beforeAll(async () => {
    site = await openBrowserSite({ kind: 'gate' })
    const sealingKey = toSpki(generateKeyPairSync('x25519').publicKey)
    agentId = (await anAgentRow(site.db, { name: 'edge-berlin', version: '2.0.0', sealingKey })).id
    browser = await startBrowser()
    page = (await browser.visit(site.arena.serverUrl)).page
    page.setDefaultTimeout(30_000)
    await signInAdmin(page, admin)
    await heading(page, 'Home').waitFor()
    const data = {
      Backend: { Config: { allowlist: {} } },
      ACL: { Description: 'Data centre', Config: { allowlist: {} } },
      ApiKey: { Option: 'new', Name: 'Data centre' },
      Child: {
        Backend: { AgentID: agentId, Config: { panos: { Hostname: 'fw.example.com', ApiKey: 'secret' } } },
        ACL: { Config: { panos: { EDLName: 'knoc-users' } } },
      },
    }
    const made = await page.request.post(new URL('/api/admin/knocs', site.arena.serverUrl).href, { data })
    expect(made.status()).toBe(201)
  }, 120_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  /** For whoever wants to see it: SHOTS names a folder. */
  async function shoot(name: string): Promise<void> {
    if (env['SHOTS'] !== undefined)
      await page.screenshot({ path: `${env['SHOTS']}/${name}.png`, fullPage: true })
  }

  it('is one row, with the agent that tells its firewall, and its details name both', async () => {
    await page.getByRole('link', { name: 'Knocs' }).first().click()
    const row = page.getByRole('table', { name: 'Knocs' }).getByRole('row').filter({ hasText: 'Data centre' })
    await reads(row, /Data centre[\s\S]*Passive\+[\s\S]*edge-berlin/)
    expect(await row.count()).toBe(1)
    await shoot('passive-plus-list')
    await row.getByRole('button', { name: /^View: / }).click()
    const dialog = page.getByRole('dialog', { name: 'Data centre' })
    await reads(
      dialog,
      /Allowlist \(Passive\+\)[\s\S]*fw\.example\.com[\s\S]*knoc-users[\s\S]*edge-berlin[\s\S]*not yet/,
    )
    expect(await findBarriers(page)).toEqual([])
    await shoot('passive-plus-details')
  })

  it('says what the firewall answered, with the knoc and on the agent’s page', async () => {
    const failingSince = new Date()
    await site.db
      .updateTable('listRefreshes')
      .set({
        errorCode: 'denied',
        errorText: 'Invalid credentials.',
        failingSince,
        refreshedAt: failingSince,
      })
      .execute()
    await page.reload()
    const table = page.getByRole('table', { name: 'Knocs' })
    await table.getByRole('button', { name: 'View: Details of Data centre' }).click()
    await reads(page.getByRole('dialog', { name: 'Data centre' }), /It can’t be told: Invalid credentials\./)
    await page.goto(new URL(`/admin/agents/${agentId}`, site.arena.serverUrl).href)
    const list = page.getByRole('table', { name: 'Lists' }).getByRole('row').filter({ hasText: 'knoc-users' })
    await reads(
      list,
      /fw\.example\.com[\s\S]*Can’t be told[\s\S]*Invalid credentials\.[\s\S]*Data centre[\s\S]*The firewall fetches it/,
    )
    expect(await findBarriers(page)).toEqual([])
    await shoot('passive-plus-agent')
  })
})

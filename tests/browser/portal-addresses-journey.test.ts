import type { Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { GrantRequest } from '#server/grants/grant.schema.ts'
import { hasBrowser, startBrowser, type TestBrowser } from '#tests/support/browser.ts'
import { type BrowserSite, openBrowserSite } from '#tests/support/browser-site.ts'
import { freePort } from '#tests/support/redis.ts'
import { entry, reads, signIn } from './acts.ts'
import { eventually, journeyTime, patience } from './patience.ts'

const password = 'a password of users 1'
const knocName = 'Payroll'
const robin = { userName: 'robin', password }
const here = '127.0.0.1'

/** With the server's own lookup ports, its content security policy, and its judgement. */
describe.skipIf(!hasBrowser())('addresses are discovered', { timeout: journeyTime, retry: 1 }, () => {
  let site: BrowserSite
  let browser: TestBrowser
  let aclId: string

  beforeAll(async () => {
    const [at443, at3389] = [await freePort(), await freePort()]
    site = await openBrowserSite({
      kind: 'gate',
      env: { KNOC_LOOKUP_PORTS: `443=${at443},222=off,3389=${at3389},8000=off` },
    })
    aclId = await site.seed({ name: knocName, user: robin })
    await site.db.updateTable('acls').set({ cgnatOpen: true }).where('id', '=', aclId).execute()
    await site.api.request('POST', '/admin/settings/config', { DiscoverIP: true })
    browser = await startBrowser()
  }, 180_000)
  afterEach(() => browser.checkFaults())
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  }, 60_000)

  async function visit() {
    const visitor = await browser.visit(site.arena.serverUrl)
    visitor.context.setDefaultTimeout(patience)
    await expect
      .poll(async () => {
        const answer = await visitor.context.request.get('/api/system_status')
        return ((await answer.json()) as { data: { LookupPorts: unknown[] } }).data.LookupPorts.length
      })
      .toBe(2)
    const requests: Request[] = []
    visitor.page.on('request', (request) => void requests.push(request))
    const sentTo = (path: string) =>
      requests
        .filter((request) => request.method() === 'POST' && request.url().endsWith(path))
        .map((request) => request.postDataJSON() as GrantRequest)
    return { ...visitor, sentTo }
  }

  it('by a click, whose addresses the lookup ports have proven: the door opens', async () => {
    const { page, leave, sentTo } = await visit()
    await signIn(page, robin)
    await entry(page, knocName)
      .getByRole('button', { name: /^Grant Access/ })
      .click()
    await reads(entry(page, knocName), /Access for/, patience)
    await eventually(site.isReachable).toBe(true)
    const sent = sentTo('/api/grant')
    expect(sent).toHaveLength(1)
    expect(sent[0]?.IPs.toSorted((a, b) => a.Port - b.Port)).toEqual(
      [0, 443, 3389].map((Port) => ({ Port, IP: here })),
    )
    await page.getByRole('button', { name: 'Log out' }).click()
    await eventually(site.isReachable).toBe(false)
    await leave()
  })

  it('after the sign-in for an automatic entry, which the server takes', async () => {
    await site.db.updateTable('acls').set({ clickToGrant: false }).where('id', '=', aclId).execute()
    const { page, leave, sentTo } = await visit()
    const told = page.waitForResponse(
      (response) => response.url().endsWith('/api/log_ips') && response.status() === 200,
    )
    await signIn(page, robin)
    await told
    const addresses = sentTo('/api/log_ips').flatMap(({ IPs }) => IPs)
    expect(addresses.map(({ Port }) => Port).toSorted((a, b) => a - b)).toEqual([443, 3389])
    await leave()
  })
})

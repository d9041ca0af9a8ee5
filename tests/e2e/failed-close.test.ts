import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdminStatus } from '#server/status/status.schema.ts'
import { addresses, aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import { aSite, type Person, type Site } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'
import { waitForAgent } from '../../deploy/demo/seed.ts'

/** A door that a script opens and that can't be closed for a while; everything else is the product as it runs. */
describe.skipIf(!hasKernel())('a door that can’t be closed', { timeout: 90_000 }, () => {
  let host: TestHost
  let site: Site
  let alex: Person
  let knoc: string
  let broken: string
  let doors: string

  beforeAll(async () => {
    host = await aHost()
    site = await aSite(host, { env: { KNOC_METRICS_TOKEN: 'a-token-of-prometheus' } })
    const agent = await site.registerAgent('edge')
    broken = join(agent.data, 'broken')
    doors = join(agent.data, 'doors')
    installDoor(agent.data)
    site.startAgent(agent)
    await waitForAgent(site.console, agent.id)
    alex = await site.aPerson('alex')
    const { ID } = await site.console.request<{ ID: string }>('POST', '/admin/knocs', {
      Backend: { AgentID: agent.id, Config: { script: { Command: 'door.sh' } } },
      ACL: { Description: 'Lab', ClickToGrant: true, Config: { script: { Name: 'lab' } } },
      UserIDs: [alex.userId],
    })
    knoc = ID
  }, 120_000)
  afterAll(async () => {
    await site?.close()
    await host?.close()
  })

  /** Keeps a file for each address; while `broken` is there it can't take any away. */
  function installDoor(data: string): void {
    const folder = join(data, 'scripts')
    mkdirSync(folder, { mode: 0o755 })
    mkdirSync(doors)
    writeFileSync(
      join(folder, 'door.sh'),
      `#!/bin/sh
case "$knoc_action" in
  add) : > "${doors}/$knoc_ipaddr" ;;
  del) [ -e "${broken}" ] && { echo 'the lock does not answer' >&2; exit 3; }
       rm -f "${doors}/$knoc_ipaddr" ;;
esac
`,
    )
    chmodSync(join(folder, 'door.sh'), 0o755)
    writeFileSync(join(data, 'agent.json'), JSON.stringify({ scripts: true, scriptFolder: folder }))
  }

  const isOpen = () => existsSync(join(doors, addresses.client4))
  const alarms = async () => (await site.console.request<AdminStatus>('GET', '/admin/status')).Alarms
  const metric = async (name: string) => {
    const { body } = await host.client
      .fetch(`http://${addresses.host4}:8080/metrics`, {
        headers: { Authorization: 'Bearer a-token-of-prometheus' },
      })
      .then(async (answer) => ({ body: await answer.text() }))
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1])
  }

  it('stays an error, alarmed and counted, until it was closed at last; the log tells both once', async () => {
    await alex.grant(knoc)
    await site.untilStatus(alex, knoc, [0])
    expect(await alex.statusOf(knoc)).toMatchObject({ Verified: 'reported' })
    expect(isOpen()).toBe(true)
    writeFileSync(broken, '')
    await alex.revoke(knoc)
    const revokedAt = performance.now()
    await site.untilStatus(alex, knoc, [10])
    // The server tries again after 1 s, 2 s, 4 s; the agent's own lane beside it.
    const seen = new Set<number | undefined>()
    await until(
      'it was tried three times',
      async () => {
        seen.add((await alex.statusOf(knoc))?.Status)
        const { rows } = await sql<{
          attempts: number
        }>`select max(attempts) as attempts from entries`.execute(site.db)
        return (rows[0]?.attempts ?? 0) >= 3
      },
      { withinMs: 30_000 },
    )
    expect([...seen]).toEqual([10])
    expect(isOpen()).toBe(true)
    expect(await alarms()).toMatchObject([
      { Kind: 'closeFailed', IsUrgent: true, Count: 1, Agents: [{ Name: 'edge' }] },
    ])
    await until('the metric counts it', async () => (await metric('knoc_close_failed')) === 1)
    expect(await metric('knoc_liveness_repairs_total')).toBe(0)

    const stoodFor = (performance.now() - revokedAt) / 1000
    rmSync(broken)
    await site.untilStatus(alex, knoc, [9])
    expect(isOpen()).toBe(false)
    expect(await alex.statusOf(knoc)).toMatchObject({ Verified: 'reported', Error: null })
    await until('the alarm is gone', async () => (await alarms()).length === 0)
    await until('the metric is back', async () => (await metric('knoc_close_failed')) === 0)
    expect(await metric('knoc_revoke_latency_seconds_count')).toBe(1)
    expect(await metric('knoc_revoke_latency_seconds_sum')).toBeGreaterThan(stoodFor)
    const { rows } = await sql<{ kind: string; text: string | null }>`
      select kind, fields->>'ErrorMessage' as text from audit_events
      where kind in ('RevokeFailed', 'RevokeVerified') order by id`.execute(site.db)
    expect(rows).toMatchObject([
      { kind: 'RevokeFailed', text: expect.stringContaining('the lock does not answer') },
      { kind: 'RevokeVerified', text: null },
    ])
  })
})

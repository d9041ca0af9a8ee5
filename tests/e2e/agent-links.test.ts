import { createPrivateKey, sign } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { linkHeaders, linkSignatureText } from '#machines/protocol.ts'
import type { AgentRow } from '#server/agents/agent.schema.ts'
import {
  aDeliveryHost,
  type DeliveryHost,
  faultsOf,
  type LinkedSite,
  linkEpochOf,
} from '#tests/support/delivery-host.ts'
import type { CuttableProxy } from '#tests/support/hands.ts'
import { addresses, hasKernel } from '#tests/support/host.ts'
import type { TestProcess } from '#tests/support/process.ts'
import { type Person, type Site, serverPort } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'

describe.skipIf(!hasKernel())('a server that is asked for a link', { timeout: 90_000 }, () => {
  let host: DeliveryHost
  let site: Site
  let proxy: CuttableProxy
  let agent: LinkedSite['agent']
  let alex: Person
  let aclId: string

  beforeAll(async () => {
    host = await aDeliveryHost()
    ;({ site, proxy, agent, alex, aclId } = await host.aLinkedSite('edge'))
  }, 120_000)
  afterAll(async () => {
    await site.close()
    await host.close()
  })
  afterEach(() => expect(faultsOf(site)).toEqual([]))

  it('refuses a wrong token, and a known one with other keys', async () => {
    const wrong = startStranger('wrong-token', 'a-token-that-nobody-ever-made-000000000')
    await wrong.said(/does not take this token/)
    const thief = startStranger('other-keys', agent.token)
    await thief.said(/does not take this token/)
    const refused = await site.db
      .selectFrom('auditEvents')
      .select('fields')
      .where('kind', '=', 'AgentRefused')
      .execute()
    expect(refused.map((row) => (row.fields as { ErrorMessage: string }).ErrorMessage)).toContain(
      'err.agentKeyMismatch',
    )
    await Promise.all([wrong.kill(), thief.kill()])
    expect((await site.console.request<AgentRow>('GET', `/admin/agents/${agent.id}`)).Online).toBe(true)
  })

  const startStranger = (name: string, token: string): TestProcess => {
    const data = join(host.folder, name)
    mkdirSync(data, { mode: 0o700 })
    return site.startAgent({ token, data }, { quick: true })
  }

  it('refuses a copy of an agent on another machine, and the agent keeps its link', async () => {
    const data = join(host.folder, 'clone')
    cpSync(agent.data, data, { recursive: true })
    const machineIdFile = join(host.folder, 'other-machine-id')
    writeFileSync(machineIdFile, 'another machine\n')
    const before = await linkEpochOf(site, agent.id)
    const clone = site.startAgent(
      { token: '', data },
      { port: proxy.port, quick: true, env: { KNOC_AGENT_MACHINE_ID_FILE: machineIdFile } },
    )
    await clone.said(/err\.agentConflict/)
    const row = await site.console.request<AgentRow>('GET', `/admin/agents/${agent.id}`)
    expect(row).toMatchObject({ Online: true, Conflict: true })
    expect(await linkEpochOf(site, agent.id)).toBe(before)
    await alex.grant(aclId)
    await host.untilOpen(alex.at)
    await alex.revoke(aclId)
    await host.untilShut(alex.at)
    await clone.kill()
  })

  it('raises the alarm when a copy runs on the same machine, and one of the two keeps the link', async () => {
    await sql`update agents set conflict_at = null`.execute(site.db)
    const data = join(host.folder, 'copy')
    cpSync(agent.data, data, { recursive: true })
    const copy = site.startAgent({ token: '', data }, { port: proxy.port, quick: true })
    const row = () => site.console.request<AgentRow>('GET', `/admin/agents/${agent.id}`)
    // Whoever lost the link tries again within fifteen seconds.
    await until('the alarm is raised', async () => (await row()).Conflict, { withinMs: 40_000 })
    expect((await row()).Online).toBe(true)
    await alex.grant(aclId)
    await host.untilOpen(alex.at)
    await copy.kill()
    // It may have been the copy that held the link; then the agent waits for long, or is started anew.
    await agent.process.kill()
    agent = { ...agent, process: site.startAgent(agent, { port: proxy.port, quick: true }) }
    await agent.process.said(/"state":"linked"/)
    await alex.revoke(aclId)
    await host.untilShut(alex.at)
  })

  it('refuses a protocol version that nobody speaks, an unknown agent, and an upgrade elsewhere', async () => {
    const { agentId } = JSON.parse(readFileSync(join(agent.data, 'identity.json'), 'utf8')) as {
      agentId: string
    }
    const key = createPrivateKey(readFileSync(join(agent.data, 'agent-key.pem')))
    const unknownId = '00000000-0000-4000-8000-000000000000'

    async function upgrade(id: string, protocol: string, path = '/api/agent/link'): Promise<string> {
      const { Nonce: nonce, Server: server } = await site.console.request<{
        Nonce: string
        Server: string
      }>('POST', '/agent/challenge', { AgentID: id })
      const text = linkSignatureText({ server, nonce, agentId: id, machineId: 'machine', protocol })
      const signature = sign(null, Buffer.from(text), key).toString('base64')
      const values = { agent: id, nonce, protocol, machine: 'machine', signature }
      const headers = Object.entries(values).map(
        ([name, value]) => `${linkHeaders[name as 'agent']}: ${value}`,
      )
      return host.client.say(
        addresses.host4,
        serverPort,
        [
          `GET ${path} HTTP/1.1`,
          `Host: ${addresses.host4}:${serverPort}`,
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          ...headers,
          '',
          '',
        ].join('\r\n'),
      )
    }

    expect(await upgrade(agentId, '9-9')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"err\.unsupportedProtocol"/)
    expect(await upgrade(unknownId, '1-1')).toMatch(/^HTTP\/1\.1 401 [\s\S]*"err\.agentUnknown"/)
    expect(await upgrade(agentId, '1-1', '/api/agent/links')).toMatch(
      /^HTTP\/1\.1 404 [\s\S]*"err\.notFound"/,
    )
  })
})

import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addresses, aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import { startAgentProcess } from '#tests/support/running-server.ts'
import { aSite, type Person, type Site, urlOf } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'

/** Doors of the host: the port of a service and the sets it is behind. */
const ssh = { port: 2222, set4: 'ssh4', set6: 'ssh6' }
const web = { port: 2223, set4: 'web4' }

describe.skipIf(!hasKernel())('a door on the real kernel', { timeout: 60_000 }, () => {
  let host: TestHost
  let site: Site
  let agent: Awaited<ReturnType<Site['aLinkedAgent']>>
  let alex: Person
  let sshKnoc: string

  beforeAll(async () => {
    host = await aHost()
    await host.door(ssh.port, ssh)
    await host.door(web.port, web)
    site = await aSite(host)
    agent = await site.aLinkedAgent('edge')
    alex = await site.aPerson('alex')
    sshKnoc = (await site.aKnoc(agent.id, { name: 'SSH', ...sets(ssh), people: [alex] })).ID
  }, 120_000)
  afterAll(async () => {
    await site.close()
    await host.close()
  })

  const sets = ({ set4, set6 }: { set4: string; set6?: string }) => ({ set4, ...(set6 && { set6 }) })
  const reach = (port = ssh.port) => host.client.reach(addresses.host4, port)
  const isOpen = async (port = ssh.port) => (await reach(port)) === 'open'
  const isShut = async (port = ssh.port) => (await reach(port)) === 'refused'
  /** Shut, and seen to be: a click on a door that is still closing is not taken. */
  const untilShut = async (aclId: string, port = ssh.port) => {
    await until('the door is shut', () => isShut(port))
    await site.untilStatus(alex, aclId, [9])
  }
  const stands = async (set: string, address: string) => (await host.entries(set)).has(address)
  const auditOf = async (kind: string, description: string) =>
    (await site.db.selectFrom('auditEvents').select('fields').where('kind', '=', kind).execute())
      .map((row) => row.fields as Record<string, string>)
      .filter((fields) => fields['AclDescription'] === description)

  it('is shut, opens with a click, and shuts with the next one', async () => {
    expect(await reach()).toBe('refused')
    const answer = await alex.grant(sshKnoc)
    expect(Date.parse(answer.ExpiredAfter ?? '')).toBeGreaterThan(Date.now())
    await until('the door is open', isOpen)
    await site.untilStatus(alex, sshKnoc, [0])
    const { VerifiedAt, Error } = (await alex.statusOf(sshKnoc)) ?? {}
    expect(Math.abs(Date.parse(VerifiedAt ?? '') - Date.now())).toBeLessThan(30_000)
    expect(Error).toBeNull()
    await alex.revoke(sshKnoc)
    await untilShut(sshKnoc)
    expect(await host.entries(ssh.set4)).toEqual(new Map())
  })

  it('does the same over IPv6, in a set of its own', async () => {
    const six = { ...alex, ...(await site.signIn('alex', urlOf(8080, 6))) }
    const reach6 = () => host.client.reach(addresses.host6, ssh.port)
    expect(await reach6()).toBe('refused')
    await six.grant(sshKnoc)
    await until('the door is open over IPv6', async () => (await reach6()) === 'open')
    expect([...(await host.entries(ssh.set6)).keys()]).toEqual([addresses.client6])
    expect(await reach()).toBe('refused')
    await six.revoke(sshKnoc)
    await until('the door is shut over IPv6', async () => (await reach6()) === 'refused')
    await six.ask('POST', '/logout')
  })

  it('resets a connection that is open when the right goes', async () => {
    await alex.grant(sshKnoc)
    await until('the door is open', isOpen)
    const number = await host.client.hold(addresses.host4, ssh.port)
    await until('the connection talks', async () => (await host.client.held(number)).state === 'open')
    await alex.revoke(sshKnoc)
    await until('the connection ends', async () => (await host.client.held(number)).state !== 'open')
    expect((await host.client.held(number)).state).toBe('reset')
    await untilShut(sshKnoc)
  })

  it('stands again within five seconds when somebody flushed the set', async () => {
    await alex.grant(sshKnoc)
    await until('the door is open', isOpen)
    await site.untilStatus(alex, sshKnoc, [0])
    await host.exec('ipset', 'flush', ssh.set4)
    expect(await reach()).toBe('refused')
    // Five seconds lie between two looks; the look itself comes on top.
    expect(await until('the door is open again', isOpen)).toBeLessThan(6_000)
    await until('the drift is written down', async () => (await drifts()).includes('missing'))
    await alex.revoke(sshKnoc)
    await untilShut(sshKnoc)
  })

  const drifts = async () =>
    (await site.db.selectFrom('auditEvents').select('fields').where('kind', '=', 'Drift').execute()).map(
      (row) => (row.fields as Record<string, string>)['Description'],
    )

  it('stays open behind a shared address until the last one leaves', async () => {
    const sam = await site.aPerson('sam')
    const { ID } = await site.aKnoc(agent.id, { name: 'Shared', ...sets(ssh), people: [alex, sam] })
    await alex.grant(sshKnoc)
    await sam.grant(ID)
    await site.untilStatus(alex, sshKnoc, [0])
    await site.untilStatus(sam, ID, [0])
    await alex.revoke(sshKnoc)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await reach()).toBe('open')
    await sam.revoke(ID)
    await until('the door is shut', isShut)
    expect(await host.entries(ssh.set4)).toEqual(new Map())
  })

  it('shuts within a second when its knoc is deleted', async () => {
    const { ID } = await site.aKnoc(agent.id, { name: 'Short-lived', ...sets(web), people: [alex] })
    await alex.grant(ID)
    await until('the door is open', () => isOpen(web.port))
    await site.console.request('DELETE', `/admin/knocs/${ID}`)
    const startedAt = performance.now()
    await until('the door is shut', () => isShut(web.port))
    expect(performance.now() - startedAt).toBeLessThan(1_000)
    expect(await alex.statusOf(ID)).toBeUndefined()
  })

  it('opens the new list and drains the old one when its knoc moves while it is open', async () => {
    const { ID } = await site.aKnoc(agent.id, { name: 'Moving', set4: ssh.set4, people: [alex] })
    await alex.grant(ID)
    await until('the old door is open', () => isOpen(ssh.port))
    await site.console.request('PUT', `/admin/knocs/${ID}`, {
      ACL: { Config: { ipset: { V4SetName: web.set4 } } },
    })
    await until('the new door is open', () => isOpen(web.port))
    await until('the old door is shut', () => isShut(ssh.port))
    await alex.revoke(ID)
    await until('the new door is shut', () => isShut(web.port))
    await site.console.request('DELETE', `/admin/knocs/${ID}`)
  })

  describe('that cannot be opened', () => {
    const refusals = [
      { name: 'Nowhere', set4: 'missing4', words: /missing4|does not exist/i },
      { name: 'Crowded', set4: 'full4', words: /is full/i },
    ]

    it.each(refusals)(
      'says so to the user in general and to the admin exactly: $name',
      async ({ name, set4, words }) => {
        if (set4 === 'full4') {
          await host.makeSet(set4, 4, 1)
          await host.exec('ipset', 'add', set4, addresses.stranger4, 'timeout', '600')
        }
        const { ID } = await site.aKnoc(agent.id, { name, set4, people: [alex] })
        await alex.grant(ID)
        await site.untilStatus(alex, ID, [1])
        const shown = await alex.statusOf(ID)
        expect(shown).toMatchObject({ Status: 1, Error: 'err.grantFailed' })
        expect(JSON.stringify(shown)).not.toMatch(/ipset|kernel|exist|full/i)
        await until('the failure is in the log', async () => (await auditOf('GrantFailed', name)).length > 0)
        const [failure] = await auditOf('GrantFailed', name)
        expect(failure).toMatchObject({ UserName: 'alex', AgentName: 'edge', IpAddress: addresses.client4 })
        expect(failure?.['ErrorMessage']).toMatch(words)
        if (set4 === 'full4') expect([...(await host.entries(set4)).keys()]).toEqual([addresses.stranger4])
        await alex.revoke(ID)
        await site.console.request('DELETE', `/admin/knocs/${ID}`)
      },
    )
  })

  it('answers what it does not know with a clear error and changes nothing', async () => {
    const unknown = randomUUID()
    const before = await site.db.selectFrom('grants').select('id').execute()
    await expect(alex.grant(unknown)).rejects.toMatchObject({ status: 404, code: 'err.notFound' })
    await expect(alex.revoke(unknown)).rejects.toMatchObject({ status: 404, code: 'err.notFound' })
    await expect(site.aKnoc(unknown, { name: 'Of nobody', set4: 'x4' })).rejects.toMatchObject({
      status: expect.toSatisfy((status: number) => [404, 409, 422].includes(status)),
    })
    await expect(alex.ask('GET', '/admin/knocs')).rejects.toMatchObject({ status: 401 })
    expect(await site.db.selectFrom('grants').select('id').execute()).toEqual(before)
  })

  it('refuses whoever comes through a proxy that nobody named', async () => {
    const forged = await site.aPerson('mallory', { at: '192.0.2.1' })
    await expect(forged.grant(sshKnoc)).rejects.toMatchObject({
      status: 403,
      code: `err.proxyNotTrusted ${addresses.client4}`,
    })
    expect(await host.entries(ssh.set4)).toEqual(new Map())
  })

  it('makes the sets before the firewall loads, so that rules that name them load', async () => {
    const rules = join(host.folder, 'rules.v4')
    writeFileSync(rules, await host.exec('iptables-save'))
    await agent.process.kill()
    await host.exec('iptables', '-F')
    await host.exec('ip6tables', '-F')
    await host.exec('ipset', 'destroy')
    await expect(host.exec('iptables-restore', rules)).rejects.toThrow(/ssh4|set/i)
    expect(await host.exec('iptables', '-S', 'INPUT')).toBe('-P INPUT ACCEPT\n')
    const sets_ = startAgentProcess({
      place: host.place,
      server: '',
      data: agent.data,
      command: ['sets'],
    })
    expect(await sets_.ended).toBe(0)
    await host.exec('iptables-restore', rules)
    expect(await reach()).toBe('refused')
    agent = { ...agent, process: site.startAgent(agent) }
    await agent.process.said(/"state":"linked"/)
    await alex.grant(sshKnoc)
    await until('the door is open', isOpen)
    await alex.revoke(sshKnoc)
    await untilShut(sshKnoc)
  })

  describe('that ends by itself', () => {
    const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

    /** Somebody whose account ends soon, with an open door. */
    async function aShortGuest(userName: string, seconds: number) {
      const endsAt = inSeconds(seconds)
      const guest = await site.aPerson(userName, { ValidUntil: endsAt })
      await site.console.request('PUT', `/admin/users/${guest.userId}`, {
        ID: guest.userId,
        Name: userName,
        ValidUntil: endsAt,
        AclIds: [sshKnoc],
      })
      const answer = await guest.grant(sshKnoc)
      expect(answer.ExpiredAfter).toBe(endsAt)
      await until('the door is open', isOpen)
      return Date.parse(endsAt)
    }

    /** How late the door was shut, in milliseconds after its end; what is shut before the end is too early. */
    async function lateness(endsAt: number): Promise<number> {
      await until('the door is shut', isShut, { withinMs: 20_000 })
      return Date.now() - endsAt
    }

    it('shuts at its end with the agent killed: the kernel ends it', async () => {
      const endsAt = await aShortGuest('guest-1', 9)
      await agent.process.kill()
      const late = await lateness(endsAt)
      expect(late).toBeGreaterThan(-100)
      expect(late).toBeLessThan(2_500)
      agent = { ...agent, process: site.startAgent(agent) }
      await agent.process.said(/"state":"linked"/)
    })

    it('shuts at its end with the server killed: the agent ends it', async () => {
      const endsAt = await aShortGuest('guest-2', 7)
      await site.server.kill()
      const late = await lateness(endsAt)
      expect(late).toBeGreaterThan(-100)
      expect(late).toBeLessThan(1_500)
      expect(await stands(ssh.set4, addresses.client4)).toBe(false)
      await site.startServer()
      await until('the end is written down', async () => (await auditOf('GrantExpired', 'SSH')).length >= 2)
    })
  })

  it('is done with lists that nobody uses any more', { timeout: 90_000 }, async () => {
    const drains = () =>
      site.db
        .selectFrom('targets')
        .select('id')
        .where('state', '=', 'draining')
        .where('drainedAt', 'is', null)
    await until('the drained lists are done with', async () => (await drains().execute()).length === 0, {
      withinMs: 75_000,
      everyMs: 500,
    })
  })

  it('needed no repair by the auditor, and nothing crashed', () => {
    expect(site.crashes()).toEqual([])
    expect(site.logged().filter((line) => line.includes('had to repair'))).toEqual([])
  })
})

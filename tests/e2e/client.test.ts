import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { able } from '#tests/support/console-api.ts'
import { addresses, aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import { startProgram, type TestProcess } from '#tests/support/process.ts'
import { aSite, type Site, urlOf } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'

const launcher = fileURLToPath(new URL('../../agent/knoc-client.mjs', import.meta.url))
const elsewhere = '10.77.0.44'
/** The machine has other work: nothing here is about speed. */
const patience = { withinMs: 40_000, everyMs: 100 }

describe.skipIf(!hasKernel())('knoc-client on a host outside', { timeout: 180_000 }, () => {
  let host: TestHost
  let site: Site
  let agentId: string
  let nextPort = 2300
  let watched: Awaited<ReturnType<typeof aMachine>>
  let watchedDoor: { port: number; set4: string }
  const clients: TestProcess[] = []

  beforeAll(async () => {
    host = await aHost()
    site = await aSite(host)
    agentId = (await site.aLinkedAgent('edge', { quick: true })).id
    // Its check has to stand above the rule for established connections, which comes with the first door.
    watched = await aMachine('renews')
    watchedDoor = await watched.aDoor('Replication')
  }, 120_000)
  afterEach(() => expect(site.crashes()).toEqual([]))
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.kill()))
    await site.close()
    await host.close()
  })

  /** An apikey user with its key in a file, and doors of its own. */
  async function aMachine(userName: string, apiKey: Record<string, unknown> = {}) {
    const { ID, PlaintextKey } = await site.console.request<{ ID: string; PlaintextKey: string }>(
      'POST',
      '/admin/users',
      { Name: userName, UserName: userName, AuthType: 'apikey', ApiKey: { Name: userName, ...apiKey } },
    )
    const keyFile = join(host.folder, `${userName}.key`)
    writeFileSync(keyFile, `${PlaintextKey}\n`)
    chmodSync(keyFile, 0o600)
    return {
      key: PlaintextKey,
      keyFile,
      userId: ID,
      /** A knoc with a real door behind it; its port. */
      aDoor: async (name: string, fields: Record<string, unknown> = {}, agent = agentId) => {
        const port = (nextPort += 1)
        const set4 = `set${port}`
        await host.door(port, { set4 })
        await site.aKnoc(agent, { name, set4, people: [{ userId: ID }], ClickToGrant: false, ...fields })
        return { port, set4 }
      },
    }
  }

  /** Starts the real launcher outside. */
  function start(args: readonly string[], env: Record<string, string> = {}): TestProcess {
    const client = startProgram(host.placeOutside([launcher, ...args]), { KNOC_SERVER: urlOf(), ...env })
    clients.push(client)
    return client
  }

  async function run(args: readonly string[], env: Record<string, string> = {}) {
    const client = start(args, env)
    const code = await client.ended
    const text = client.lines.join('\n')
    expect(text).not.toMatch(/NotCapable|Requires \w+ access/)
    return { code, text }
  }

  const reach = ({ port }: { port: number }) => host.client.reach(addresses.host4, port)
  const untilOpen = (door: { port: number }) =>
    until('the door is open', async () => (await reach(door)) === 'open', patience)
  const untilShut = (door: { port: number }) =>
    until('the door is shut', async () => (await reach(door)) === 'refused', patience)

  it('opens what opens by itself, says so, and leaves it open', async () => {
    const machine = await aMachine('once')
    const [own, click] = [await machine.aDoor('Backups'), await machine.aDoor('Git', { ClickToGrant: true })]
    expect([await reach(own), await reach(click)]).toEqual(['refused', 'refused'])
    const { code, text } = await run(['--key-file', machine.keyFile, '--wait', '60'])
    expect(code, text).toBe(0)
    expect(text).toMatch(/^open +Backups {2}verified \d{4}-/)
    expect(text).not.toContain('Git')
    expect(text).not.toContain(machine.key)
    expect([await reach(own), await reach(click)]).toEqual(['open', 'refused'])
  })

  it('clicks an entry that is named; a later run goes on from it, and --logout closes it', async () => {
    const machine = await aMachine('named')
    const door = await machine.aDoor('Deploy target', { ClickToGrant: true })
    const tokenFile = join(host.folder, 'session')
    const args = [
      '--key-file',
      machine.keyFile,
      '--entry',
      'deploy TARGET',
      '--token-file',
      tokenFile,
      '--json',
    ]
    const first = await run([...args, '--wait', '60'])
    expect(first.code, first.text).toBe(0)
    expect(JSON.parse(first.text)).toMatchObject({
      outcome: 'open',
      entries: [{ name: 'Deploy target', state: 'open', isOpen: true, status: 0 }],
    })
    expect(await reach(door)).toBe('open')
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600)
    const kept = readFileSync(tokenFile, 'utf8')

    expect((await run([...args, '--wait', '60'])).code).toBe(0)
    expect(readFileSync(tokenFile, 'utf8')).not.toBe(kept)
    const ended = await site.db
      .selectFrom('sessions')
      .select('endedReason')
      .where('kind', '=', 'machine')
      .execute()
    expect(ended.map(({ endedReason }) => endedReason)).toContain('sessionExtended')

    const out = await run(['--logout', '--token-file', tokenFile])
    expect(out.code, out.text).toBe(0)
    await untilShut(door)
    expect(existsSync(tokenFile)).toBe(false)
    expect((await run(['--logout', '--token-file', tokenFile])).code).toBe(0)
  })

  it('ends with 4 and the names of what is not open in time', async () => {
    const machine = await aMachine('late')
    await machine.aDoor('Backups')
    const { id: away } = await site.registerAgent('away')
    await site.db
      .updateTable('agents')
      .set({ version: '2.0.0', capabilities: JSON.stringify(able) })
      .where('id', '=', away)
      .execute()
    await machine.aDoor('Warehouse', {}, away)
    const { code, text } = await run(['--key-file', machine.keyFile, '--wait', '6'])
    expect(code, text).toBe(4)
    expect(text).toMatch(/^open +Backups/m)
    expect(text).toMatch(/^agentOffline +Warehouse/m)
    expect(text).toMatch(/not open in time: Warehouse\./)
  })

  it('has a code of its own for a refusal, a server that is away, and an address that may not', async () => {
    const restricted = await aMachine('restricted')
    await restricted.aDoor('Vault', {
      IpExclusions: { RestrictionType: 'allowList', Ranges: [{ Start: '203.0.113.1', End: '203.0.113.9' }] },
    })
    const foreign = await aMachine('foreign', { AllowedFrom: [{ prefix: '203.0.113.0/24', note: '' }] })
    const codes = [
      await run(['--key-file', restricted.keyFile]),
      await run(['--key-file', foreign.keyFile]),
      await run([], { KNOC_CLIENT_KEY: 'x'.repeat(43) }),
      await run(['--key-file', restricted.keyFile, '--entry', 'Nothing']),
      await run(['--key-file', restricted.keyFile, '--server', `http://${addresses.host4}:1`, '--wait', '1']),
    ]
    expect(codes.map(({ code }) => code)).toEqual([6, 3, 3, 3, 5])
    expect(codes[0]?.text).toContain(`not from here (${addresses.client4}): Vault`)
    expect(codes[1]?.text).toContain('Add it to the key’s allowed addresses')
    expect(codes[2]?.text).toContain('Get a new one in the console')
    expect(codes[3]?.text).toContain('it has: Vault')
    expect(codes[4]?.text).toContain('can’t be reached')
  })

  it('stays with --persist: follows this host’s address, and closes everything at SIGTERM', async () => {
    const machine = await aMachine('stays')
    const door = await machine.aDoor('Metrics')
    const config = join(host.folder, 'client.json')
    const template = await run(['config', '--out', config])
    expect(template.code, template.text).toBe(0)
    const client = start(['--persist', '--json', '--config', config, '--key-file', machine.keyFile])
    await client.said(/"event":"entry","name":"Metrics".*"state":"open"/, patience.withinMs)
    expect(await reach(door)).toBe('open')

    await host.addressOfClient('del', addresses.client4)
    await host.addressOfClient('add', elsewhere)
    await client.said(/"event":"networkChanged"/, patience.withinMs)
    await client.said(
      new RegExp(`"event":"address","from":"${addresses.client4}","to":"${elsewhere}"`),
      patience.withinMs,
    )
    await untilOpen(door)
    await until(
      'only the new address stands',
      async () => {
        const stands = [...(await host.entries(door.set4)).keys()]
        return stands.length === 1 && stands[0] === elsewhere
      },
      patience,
    )

    process.kill(client.pid, 'SIGTERM')
    expect(await client.ended, client.lines.join('\n')).toBe(0)
    expect(client.lines.at(-1)).toContain('"event":"signedOut"')
    await untilShut(door)
    expect(client.lines.join('\n')).not.toContain(machine.key)
    expect(client.lines.join('\n')).not.toMatch(/NotCapable|Requires \w+ access/)
    await host.addressOfClient('del', elsewhere)
    await host.addressOfClient('add', addresses.client4)
  })

  it('signs in again before the session’s end, and not one connection is cut', async () => {
    const client = start(['--persist', '--key-file', watched.keyFile])
    await client.said(/ open +Replication/, patience.withinMs)
    const connection = await host.client.hold(addresses.host4, watchedDoor.port)
    // As though the session had been a short one; a change of the network makes the client look at once.
    await site.db
      .updateTable('sessions')
      .set({ endsAt: new Date(Date.now() + 25_000) })
      .where('userId', '=', watched.userId)
      .execute()
    await site.db
      .updateTable('grants')
      .set({ endsAt: new Date(Date.now() + 25_000) })
      .where('userId', '=', watched.userId)
      .execute()
    await host.addressOfClient('add', '10.79.0.1')
    const sessions = () =>
      site.db.selectFrom('sessions').select('endedReason').where('userId', '=', watched.userId).execute()
    await until(
      'the first session was extended',
      async () => (await sessions()).some(({ endedReason }) => endedReason === 'sessionExtended'),
      patience,
    )
    await new Promise((resolve) => setTimeout(resolve, 8_000))
    expect((await host.client.held(connection)).state).toBe('open')
    expect(await sessions()).toHaveLength(2)
    process.kill(client.pid, 'SIGTERM')
    expect(await client.ended).toBe(0)
    await until(
      'the connection is cut',
      async () => (await host.client.held(connection)).state !== 'open',
      patience,
    )
    await host.addressOfClient('del', '10.79.0.1')
  })
})

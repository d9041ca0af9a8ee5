import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { KnocCreated } from '#server/knocs/knoc.schema.ts'
import { addresses, aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import { type FirewallPlan, startListFirewall } from '#tests/support/list-firewall.ts'
import { aSite, type Person, type Site } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'

/** How often the firewalls ask; with our outage it is the whole bound of a text list. */
const everyMs = 500
const plain = { port: 2301, set: 'plain4' }
const ending = { port: 2302, set: 'ending4' }
type Door = typeof plain

describe.skipIf(!hasKernel())('a firewall that fetches its list', { timeout: 90_000 }, () => {
  let host: TestHost
  let site: Site
  let list: KnocCreated
  let alex: Person
  const firewalls: ReturnType<typeof startListFirewall>[] = []

  beforeAll(async () => {
    host = await aHost()
    for (const { port, set } of [plain, ending]) await host.door(port, { set4: set })
    site = await aSite(host)
    alex = await site.aPerson('alex')
    list = await aList('Edge', [alex])
    startFirewall(plain, list)
    startFirewall(ending, list, { usesEnds: true })
  }, 120_000)
  afterEach(() =>
    expect([...site.crashes(), ...site.logged().filter((line) => line.includes('had to repair'))]).toEqual(
      [],
    ),
  )
  afterAll(async () => {
    await Promise.all(firewalls.map((firewall) => firewall.stop()))
    await site.close()
    await host.close()
  })

  /** A knoc without an agent, whose key is good on the host alone. */
  const aList = (name: string, people: { userId: string }[]): Promise<KnocCreated> =>
    site.console.request<KnocCreated>('POST', '/admin/knocs', {
      Backend: { AgentID: null, Config: { allowlist: {} } },
      ACL: { Description: name, ClickToGrant: true, Config: { allowlist: {} } },
      ApiKey: { Option: 'new', Name: name, AllowedFrom: [{ prefix: `${addresses.host4}/32` }] },
      UserIDs: people.map(({ userId }) => userId),
    })

  function startFirewall(
    { set }: Door,
    { URL: url = '', PlaintextKey: key = '' }: KnocCreated,
    more: Partial<FirewallPlan> = {},
  ) {
    const firewall = startListFirewall(host, { url, key, set, everyMs, usesEnds: false, ...more })
    firewalls.push(firewall)
    return firewall
  }

  const reach = ({ port }: Door) => host.client.reach(addresses.host4, port)
  const untilOpen = (door: Door) => until(`${door.port} is open`, async () => (await reach(door)) === 'open')
  const untilShut = (door: Door, withinMs = 10_000) =>
    until(`${door.port} is shut`, async () => (await reach(door)) === 'refused', { withinMs })

  it('opens and shuts with what it reads: 4 → 6 → 5 → 8 → 9', async () => {
    expect((await alex.statusOf(list.ID))?.Status).toBe(4)
    expect(await reach(plain)).toBe('refused')
    await alex.grant(list.ID)
    await site.untilStatus(alex, list.ID, [5])
    for (const door of [plain, ending]) await untilOpen(door)
    expect((await alex.revoke(list.ID)).Status).toBe(8)
    await site.untilStatus(alex, list.ID, [9])
    for (const door of [plain, ending]) await untilShut(door)
  })

  it('with the server killed keeps its last list, past the end too; one that uses the ends shuts by itself', async () => {
    const endsAt = new Date(Date.now() + 7_000).toISOString()
    const guest = await site.aPerson('guest', { ValidUntil: endsAt })
    await site.console.request('PUT', `/admin/users/${guest.userId}`, {
      ID: guest.userId,
      Name: 'guest',
      ValidUntil: endsAt,
      AclIds: [list.ID],
    })
    expect((await guest.grant(list.ID)).ExpiredAfter).toBe(endsAt)
    for (const door of [plain, ending]) await untilOpen(door)
    await site.server.kill()
    const asked = firewalls[0]?.answers.length ?? 0
    await untilShut(ending, 20_000)
    const late = Date.now() - Date.parse(endsAt)
    expect(late).toBeGreaterThan(-100)
    // The kernel's timeouts are whole seconds, rounded up.
    expect(late).toBeLessThan(2_500)
    expect(await reach(plain)).toBe('open')
    expect(firewalls[0]?.answers.slice(asked + 1)).not.toContain(200)
    await site.startServer()
    await untilShut(plain)
    await until('the end is written down', async () => {
      const told = await site.db
        .selectFrom('auditEvents')
        .select('fields')
        .where('kind', '=', 'GrantExpired')
        .execute()
      return told.some(({ fields }) => (fields as { UserName?: string }).UserName === 'guest')
    })
  })

  it('shuts when its knoc is deleted while it is open', async () => {
    // The server is another process now, the administrator's session the same.
    const other = await aList('To be deleted', [alex])
    const door = { port: 2303, set: 'gone4' }
    await host.door(door.port, { set4: door.set })
    const { answers } = startFirewall(door, other)
    await alex.grant(other.ID)
    await untilOpen(door)
    await site.console.request('DELETE', `/admin/knocs/${other.ID}`)
    await untilShut(door)
    expect(answers.filter((status) => status !== 200 && status !== 304)).toEqual([])
  })

  it('isn’t answered from elsewhere, nor with another list’s key', async () => {
    const { URL: url = '', PlaintextKey: key = '' } = list
    const other = await aList('Another', [alex])
    const fetchFrom = async (hands: { fetch: TestHost['client']['fetch'] }, shown: string) =>
      (await hands.fetch(url, { headers: { Authorization: `Bearer ${shown}` } })).status
    expect(await fetchFrom(host.hands, key)).toBe(200)
    expect(await fetchFrom(host.client, key)).toBe(403)
    expect(await fetchFrom(host.hands, other.PlaintextKey ?? '')).toBe(401)
    // Neither the list's token nor its key is in a log.
    const secrets = [key, /([^/]+)\.txt$/.exec(url)?.[1] ?? '']
    expect(site.logged().filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([])
  })
})

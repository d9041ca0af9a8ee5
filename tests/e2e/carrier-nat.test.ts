import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GrantAnswer } from '#server/grants/grant.schema.ts'
import type { SystemStatus, UserStatus } from '#server/status/status.schema.ts'
import { startHands } from '#tests/support/hands.ts'
import { addresses, aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import { aSite, type Person, type Site } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'
import { removeLeftoverNamespaces, removeNamespace } from '../../deploy/demo/namespace.ts'
import { run } from '../../deploy/demo/run.ts'

/** What the carrier shows a user at on each destination port; on all others at the first. */
const egress = { 443: '10.77.0.1', 222: '10.77.0.12', 3389: '10.77.0.13', 8000: '10.77.0.14' } as const
const lookupPorts = Object.keys(egress).map(Number) as (keyof typeof egress)[]

/** Doors, reached through the carrier at the address of port 3389. */
const open = { port: 2222, set4: 'cgnat4' }
const plain = { port: 2223, set4: 'plain4' }
const clicked = { port: 2224, set4: 'click4' }
const doors = [open, plain, clicked]

const prefix = 'knoc-u-'

describe.skipIf(!hasKernel())('a user behind carrier NAT', { timeout: 60_000 }, () => {
  const namespace = `${prefix}${process.pid}`
  let host: TestHost
  let user: ReturnType<typeof startHands>
  let site: Site
  let person: Person
  const knocs = new Map<number, string>()

  beforeAll(async () => {
    host = await aHost()
    for (const door of doors) await host.door(door.port, door)
    await putBehindCarrier(namespace, host)
    user = startHands((command) => ['ip', 'netns', 'exec', namespace, ...command])
    site = await aSite({ ...host, client: user })
    const agent = await site.aLinkedAgent('edge')
    person = await site.aPerson('casey')
    for (const { port, set4 } of doors) {
      const { ID } = await site.aKnoc(agent.id, {
        name: set4,
        set4,
        people: [person],
        CGNATOpen: port !== plain.port,
        ClickToGrant: port === clicked.port,
      })
      knocs.set(port, ID)
    }
    // What isn't click-to-grant is granted at the next sign-in.
    await person.ask('POST', '/logout')
    person = { ...person, ...(await site.signIn('casey')) }
    await site.console.request('POST', '/admin/settings/config', { DiscoverIP: true })
    await until('the lookup ports are told', async () => (await system()).LookupPorts.length === 4)
  }, 120_000)
  afterAll(async () => {
    await site?.close()
    user?.stop()
    await removeNamespace(namespace)
    await host?.close()
  })

  const system = () => person.ask<SystemStatus>('GET', '/system_status')
  const isOpen = async ({ port }: { port: number }) => (await user.reach(addresses.host4, port)) === 'open'
  const standing = async ({ set4 }: { set4: string }) => [...(await host.entries(set4)).keys()].toSorted()

  /** What the portal does: asks every lookup port for its address, and gives up on one after a second. */
  async function lookUp(ports: readonly number[]): Promise<{ Port: number; IP: string }[]> {
    const { IPApi, LookupPorts } = await system()
    const { Nonce } = await person.ask<UserStatus>('GET', '/status')
    const found = await Promise.all(
      LookupPorts.filter(({ Port }) => ports.includes(Port)).map(async ({ Port, At }) => {
        const late = new Promise<null>((resolve) => {
          setTimeout(() => resolve(null), 1_000).unref()
        })
        const asked = user
          .fetch(`${IPApi}:${At}/ip?n=${Nonce}`, {})
          .then(async (answer) => ({ Port, IP: await answer.text() }))
          .catch(() => null)
        return Promise.race([asked, late])
      }),
    )
    return found.filter((one) => one !== null)
  }

  it('is seen at another address on each lookup port', async () => {
    const found = await lookUp(lookupPorts)
    expect(Object.fromEntries(found.map(({ Port, IP }) => [Port, IP]))).toEqual(egress)
  })

  it('goes through no door at first, for the doors see neither of the addresses that the portal sees', async () => {
    await until('the own address stands', async () => (await standing(open)).length === 1)
    expect(await standing(open)).toEqual([egress[443]])
    for (const door of doors) expect(await isOpen(door)).toBe(false)
  })

  it('goes through a clicked door with what its click names, and no other opens for it', async () => {
    // Port 222 swallows everything, as some networks do: the click waits a second for it, and no longer.
    await carrier(host, '-I FORWARD -p tcp --dport 222 -j DROP')
    const startedAt = performance.now()
    const found = await lookUp(lookupPorts)
    expect(found.map(({ Port }) => Port)).toEqual([443, 3389, 8000])
    const answer = await person.ask<GrantAnswer>('POST', '/grant', {
      ACLID: knocs.get(clicked.port),
      IPs: found,
    })
    expect([0, 2]).toContain(answer.Status)
    await until('the clicked door is open', () => isOpen(clicked))
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(await standing(clicked)).toEqual([egress[443], egress[3389], egress[8000]])
    expect(await standing(open)).toEqual([egress[443]])
    expect(await isOpen(plain)).toBe(false)
    await carrier(host, '-D FORWARD -p tcp --dport 222 -j DROP')
  })

  it('goes through every door that is open to CGNAT once the addresses are tied to the session', async () => {
    const found = await lookUp([222, 3389])
    expect(found).toHaveLength(2)
    await person.ask('POST', '/log_ips', { IPs: found })
    await until('the door is open', () => isOpen(open))
    await until('all four stand', async () => (await standing(open)).length >= 3)
    expect(await standing(open)).toEqual([egress[443], egress[222], egress[3389]])
    expect(await standing(clicked)).toEqual(Object.values(egress).toSorted())
    expect(await isOpen(plain)).toBe(false)
    expect(await standing(plain)).toEqual([egress[443]])
  })

  it('can’t bring an address along that no port has seen', async () => {
    const forged = { IPs: [{ Port: 222, IP: addresses.stranger4 }] }
    await expect(person.ask('POST', '/log_ips', forged)).rejects.toThrow(
      `409 err.addressNotSeen ${addresses.stranger4}`,
    )
    expect(await standing(open)).not.toContain(addresses.stranger4)
  })

  it('loses what lookup found when the door isn’t open to CGNAT any more, and all of it at logout', async () => {
    await site.console.request('PUT', `/admin/knocs/${knocs.get(open.port)}`, { ACL: { CGNATOpen: false } })
    await until('only the own address stands', async () => (await standing(open)).length === 1)
    await until('the door is shut', async () => !(await isOpen(open)))
    await person.ask('POST', '/logout')
    for (const door of doors) await until('nothing stands', async () => (await standing(door)).length === 0)
  })

  it('needs no lookup port any more when discovery is off', async () => {
    await site.console.request('POST', '/admin/settings/config', { DiscoverIP: false })
    await until('nothing listens', async () => {
      const answers = await Promise.all(
        lookupPorts.map((port) => user.fetch(`http://${addresses.host4}:${port}/`, {}).catch(() => null)),
      )
      return answers.every((answer) => answer === null)
    })
    expect(site.crashes()).toEqual([])
  })
})

/**
 * A user in a namespace of its own, behind the one outside: that one is the carrier's router, which shows it at another
 * address on each destination port.
 */
async function putBehindCarrier(namespace: string, host: TestHost): Promise<void> {
  await removeLeftoverNamespaces(prefix)
  await run('ip', ['netns', 'add', namespace])
  const outside = host.placeOutside(['x'])[3] ?? ''
  const ip = (where: string, what: string) => run('ip', ['-n', where, ...what.split(' ')])
  await ip(outside, `link add lan0 type veth peer name lan0 netns ${namespace}`)
  await ip(outside, 'address add 192.168.77.1/24 dev lan0')
  await ip(outside, 'link set lan0 up')
  await ip(namespace, 'address add 192.168.77.2/24 dev lan0')
  await ip(namespace, 'link set lan0 up')
  await ip(namespace, 'link set lo up')
  await ip(namespace, 'route add default via 192.168.77.1')
  for (const address of new Set<string>(Object.values(egress)))
    if (address !== addresses.client4) await ip(outside, `address add ${address}/24 dev wire0`)
  const [file = '', ...args] = host.placeOutside(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=1'])
  await run(file, args)
  const snat = (match: string, to: string) =>
    carrier(host, `-t nat -A POSTROUTING -o wire0 ${match}-j SNAT --to-source ${to}`)
  for (const port of [222, 3389, 8000] as const) await snat(`-p tcp --dport ${port} `, egress[port])
  for (const { port } of doors) await snat(`-p tcp --dport ${port} `, egress[3389])
  await snat('', egress[443])
}

/** A rule of the carrier's router. */
async function carrier(host: TestHost, rule: string): Promise<void> {
  const [file = '', ...args] = host.placeOutside(['iptables', ...rule.split(' ')])
  await run(file, args)
}

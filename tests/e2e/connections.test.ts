import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anOrder, ipsetTarget } from '#agent/testing/builders.ts'
import { composeAgent } from '#agent/testing/compose.ts'
import { startWireServer, type WireServer } from '#agent/testing/wire-server.ts'
import type { Order } from '#machines/protocol.ts'
import { run } from '../../deploy/demo/run.ts'
import { findProgram, requireProgram } from '../support/debian.ts'
import { addresses, aHost, hasKernel, type TestHost } from '../support/host.ts'
import { aSite, type Person, type Site } from '../support/site.ts'
import { type Streams, startStreams } from '../support/streams.ts'
import { until } from '../support/until.ts'

/** A stream has to end so soon after its next packet. */
const withinMs = 100
/** On a busy machine it may take as long as so many programs take to start and end, measured at that moment. */
const busyPrograms = 8
const token = 'a-token-of-more-than-twenty-characters'
/** Somebody else at the client's end, and the service behind the router. */
const neighbour4 = '10.77.0.7'
const behind4 = '10.78.0.2'

/** Doors of the host and of the router: which way cuts, the service's port, its set. */
const doors = {
  first: { port: 3001, set: 'first4', host: addresses.host4 },
  second: { port: 3002, set: 'second4', host: addresses.host4 },
  other: { port: 3003, set: 'other4', host: addresses.host4 },
  first6: { port: 3001, set: 'first6', host: addresses.host6 },
  second6: { port: 3002, set: 'second6', host: addresses.host6 },
  routed: { port: 4001, set: 'routed4', host: behind4 },
  routedSecond: { port: 4002, set: 'routedsecond4', host: behind4 },
} as const
type DoorName = keyof typeof doors

const hasAll = () => hasKernel() && requireProgram('ss') && requireProgram('conntrack')

describe.skipIf(!hasAll())('connections through a door that closes', { timeout: 30_000, retry: 3 }, () => {
  let host: TestHost
  let server: WireServer
  let stopAgent: () => Promise<unknown>
  let client: Streams
  let services: Streams[] = []
  let generation = 0
  let ownPort = 20_000
  const behind = () => `${host.namespace}s`
  const targets = Object.fromEntries(
    Object.entries(doors).map(([name, { set, host: at }]) => [
      name,
      ipsetTarget(set, at.includes(':') ? 6 : 4),
    ]),
  ) as Record<DoorName, ReturnType<typeof ipsetTarget>>

  beforeAll(async () => {
    host = await aHost()
    await host.addressOfClient('add', neighbour4)
    await buildRouter()
    await loadRules()
    client = startStreams(host.placeOutside)
    const inside = startStreams(host.place)
    const far = startStreams((command) => ['ip', 'netns', 'exec', behind(), ...command])
    services = [inside, far]
    await Promise.all([
      ...[3001, 3002, 3003].map((port) => inside.serve(port)),
      ...[4001, 4002].map((port) => far.serve(port)),
    ])
    server = await startWireServer({ token })
    server.targets.push(...Object.values(targets))
    server.state.truthAtMs = Date.now() - 25_000
    stopAgent = await startAgent()
  }, 60_000)
  afterAll(async () => {
    await stopAgent()
    await server.goAway().catch(() => {})
    for (const streams of [client, ...services]) streams.stop()
    await run('ip', ['netns', 'del', behind()]).catch(() => {})
    await host.close()
  })
  /** A service behind the host, which is a router for it. */
  async function buildRouter() {
    const cable = `link add to-service type veth peer name to-router netns ${behind()}`
    await run('ip', ['netns', 'add', behind()])
    await run('ip', ['-n', host.namespace, ...cable.split(' ')])
    for (const [name, device, address] of [
      [host.namespace, 'to-service', '10.78.0.1'],
      [behind(), 'to-router', behind4],
    ] as const) {
      await run('ip', ['-n', name, 'address', 'add', `${address}/24`, 'dev', device])
      await run('ip', ['-n', name, 'link', 'set', device, 'up'])
    }
    await run('ip', ['-n', behind(), 'route', 'add', 'default', 'via', '10.78.0.1'])
    const [file = '', ...args] = host.placeOutside([
      'ip',
      'route',
      'add',
      '10.78.0.0/24',
      'via',
      addresses.host4,
    ])
    await run(file, args)
    await host.exec('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.netfilter.nf_conntrack_tcp_loose=0')
  }

  /** The first door's rule stands above the one for established connections, all others below. */
  async function loadRules() {
    for (const { set } of Object.values(doors)) await host.makeSet(set, set.endsWith('6') ? 6 : 4)
    const refuse = (program: string, chain: string, { port, set }: { port: number; set: string }) =>
      host.exec(
        ...`${program} -A ${chain} -p tcp --dport ${port} -m set ! --match-set ${set} src -j REJECT --reject-with tcp-reset`.split(
          ' ',
        ),
      )
    const established = (program: string, chain: string) =>
      host.exec(...`${program} -A ${chain} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT`.split(' '))
    await refuse('iptables', 'INPUT', doors.first)
    await established('iptables', 'INPUT')
    await refuse('iptables', 'INPUT', doors.second)
    await refuse('iptables', 'INPUT', doors.other)
    await refuse('ip6tables', 'INPUT', doors.first6)
    await established('ip6tables', 'INPUT')
    await refuse('ip6tables', 'INPUT', doors.second6)
    await refuse('iptables', 'FORWARD', doors.routed)
    await established('iptables', 'FORWARD')
    await refuse('iptables', 'FORWARD', doors.routedSecond)
  }

  /** The agent in this process, with programs that act in the host's namespace. */
  async function startAgent() {
    const folder = join(host.folder, 'programs')
    mkdirSync(folder)
    const wrap = (
      name: Parameters<typeof findProgram>[0] | 'iptables-nft-save' | 'ip6tables-nft-save' | 'sysctl',
    ) => {
      const path = join(folder, name)
      writeFileSync(path, `#!/bin/sh\nexec ${host.place([name]).join(' ')} "$@"\n`)
      chmodSync(path, 0o755)
      return path
    }
    const names = [
      'ss',
      'conntrack',
      'nft',
      'sysctl',
      'iptables-nft-save',
      'ip6tables-nft-save',
      'ipset',
    ] as const
    const programs = new Map<string, string>(names.map((name) => [name, wrap(name)]))
    const { agent, stop } = composeAgent({
      dataFolder: join(host.folder, 'agent'),
      ipset: programs.get('ipset') ?? '',
      server: server.url.href,
      token,
      find: (name) => programs.get(name),
    })
    await agent.start()
    await until('a link', () => agent.isLinked() && server.ofType('hello').length > 0)
    return stop
  }

  const order = async (name: DoorName, address: string, over: Partial<Order> = {}) => {
    const untilMs = over.untilMs ?? Date.now() + 600_000
    const one = anOrder(targets[name], address, (generation += 1), untilMs, { cut: true, ...over })
    server.order(one)
    await until(`an answer for ${name}`, () => server.resultOf(one) !== undefined)
    expect(server.resultOf(one)?.error).toBeNull()
    return Date.now()
  }
  const open = (name: DoorName, address: string = clientOf(name), over: Partial<Order> = {}) =>
    order(name, address, over)
  /** Closes, and answers when that was seen. */
  const close = (name: DoorName, address: string = clientOf(name), cut = true) =>
    order(name, address, { untilMs: 0, cut })
  const clientOf = (name: DoorName) => (name.endsWith('6') ? addresses.client6 : addresses.client4)
  const connect = (name: DoorName, options: Parameters<Streams['open']>[2] = {}) =>
    client.open(doors[name].host, doors[name].port, options)
  const isOpen = async (stream: Awaited<ReturnType<typeof connect>>) => (await stream.look()).state === 'open'
  const untilEnded = async (stream: Awaited<ReturnType<typeof connect>>, limitMs = 5_000) => {
    await until('the stream ends', async () => (await stream.look()).endedAt !== null, {
      withinMs: limitMs,
      everyMs: 2,
    })
    return stream.look()
  }
  /** How long a stream may last: 100 ms, unless starting a program takes ages here and now. */
  const allowedMs = async () => {
    const startedAt = performance.now()
    await host.exec('ss', '-tnH', 'sport', '=', ':1')
    return Math.max(withinMs, (performance.now() - startedAt) * busyPrograms)
  }
  /** Goes on talking, 10 ms after each word; answers when the first was said. */
  const talkUntilEnded = async (stream: Awaited<ReturnType<typeof connect>>) => {
    const sentAt = await stream.talk()
    await until('the stream ends', async () => {
      await stream.talk()
      return (await stream.look()).endedAt !== null
    })
    return { ...(await stream.look()), sentAt }
  }
  /** Talks and hears the echo of it: the stream lives. */
  const lives = async (stream: Awaited<ReturnType<typeof connect>>) => {
    const sentAt = await stream.talk()
    await until('an echo', async () => (await stream.look()).heardAt >= sentAt, { withinMs: 3_000 })
    return isOpen(stream)
  }

  // The first one, as the agent's truth never goes back.
  it('end when the server has been silent for too long', { retry: 0 }, async () => {
    await open('second', addresses.client4, { silence: { afterSeconds: 30, untilMs: 0 } })
    const stream = await connect('second')
    expect(await lives(stream)).toBe(true)
    expect((await untilEnded(stream, 10_000)).state).toBe('reset')
    server.state.truthAtMs = null
    await close('second')
  })

  it('tells for each set what ends its connections', async () => {
    const { ipsets } = server.ofType('hello')[0]?.capabilities.ipset ?? { ipsets: [] }
    expect(Object.fromEntries(ipsets.map(({ name, cut }) => [name, cut]))).toEqual({
      first4: 'rules',
      second4: 'sockets',
      other4: 'sockets',
      first6: 'rules',
      second6: 'sockets',
      routed4: 'rules',
      routedsecond4: 'conntrack',
    })
  })

  it.each(['first', 'second', 'first6', 'second6', 'routed', 'routedSecond'] as const)(
    'end within 100 ms of the client’s next packet (%s)',
    async (name) => {
      await open(name)
      const stream = await connect(name)
      expect(await lives(stream)).toBe(true)
      await close(name)
      const { state, endedAt, sentAt } = await talkUntilEnded(stream)
      expect(state).toBe('reset')
      expect((endedAt ?? 0) - sentAt).toBeLessThan(await allowedMs())
    },
  )

  it.each(['first', 'second', 'first6', 'second6', 'routed', 'routedSecond'] as const)(
    'end within 100 ms while the service pushes (%s)',
    async (name) => {
      await open(name)
      const stream = await connect(name, { isPushed: true })
      await until('it is pushed', async () => (await stream.look()).heardAt > 0 && isOpen(stream))
      const closedAt = await close(name)
      const { state, endedAt } = await untilEnded(stream)
      expect(state).toBe('reset')
      // The service pushes every 10 ms: the packet after the close is that much later at most.
      expect((endedAt ?? 0) - closedAt).toBeLessThan((await allowedMs()) + 10)
    },
  )

  it.each(['first', 'second', 'second6'] as const)(
    'end when nobody says anything, by ss -K (%s)',
    async (name) => {
      await open(name)
      const stream = await connect(name)
      const closedAt = await close(name)
      const { state, endedAt } = await untilEnded(stream)
      expect(state).toBe('reset')
      expect((endedAt ?? 0) - closedAt).toBeLessThan(1_000)
    },
  )

  it.each(['first', 'second', 'first6', 'second6', 'routed', 'routedSecond'] as const)(
    'are not begun again from the port of one that was ended (%s)',
    async (name) => {
      const origin = { from: clientOf(name), fromPort: (ownPort += 1) }
      await open(name)
      const stream = await connect(name, origin)
      expect(await lives(stream)).toBe(true)
      await close(name)
      await talkUntilEnded(stream)
      // The kernel remembers the flow for some seconds; what belongs to it would pass the rule for established ones.
      expect((await (await connect(name, origin)).look()).state).toBe('refused')
    },
  )

  it('of others, and through other doors, go on', async () => {
    for (const name of ['second', 'other', 'routed', 'routedSecond'] as const) {
      await open(name)
      await open(name, neighbour4)
    }
    const mine = await connect('second')
    const routed = await connect('routedSecond')
    const others = [
      await connect('other'),
      await connect('routed'),
      await connect('second', { from: neighbour4 }),
      await connect('routedSecond', { from: neighbour4 }),
    ]
    await close('second')
    await close('routedSecond')
    await untilEnded(mine)
    await talkUntilEnded(routed)
    for (const stream of others) expect(await lives(stream)).toBe(true)
    for (const name of ['other', 'routed'] as const) await close(name)
    for (const name of ['second', 'other', 'routed', 'routedSecond'] as const) await close(name, neighbour4)
    await untilEnded(others[0] as Awaited<ReturnType<typeof connect>>)
  })

  it.each(['second', 'routedSecond'] as const)('drain when the switch is off (%s)', async (name) => {
    await open(name, addresses.client4, { cut: false })
    const stream = await connect(name)
    await close(name, addresses.client4, false)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await lives(stream)).toBe(true)
    expect((await (await connect(name)).look()).state).toBe('refused')
    // Nothing was left undone: the next one who is cut is.
    await open(name)
    await close(name)
    await talkUntilEnded(stream)
  })

  it('end at the end of the time, to the agent’s clock', async () => {
    const untilMs = Date.now() + 3_000
    await open('second', addresses.client4, { untilMs })
    const stream = await connect('second')
    const { endedAt } = await untilEnded(stream)
    expect((endedAt ?? 0) - untilMs).toBeGreaterThan(-50)
    expect((endedAt ?? 0) - untilMs).toBeLessThan(1_000)
  })

  it('stay behind a shared address until the last holder leaves', async () => {
    const shared = ipsetTarget(doors.second.set, 4)
    server.targets.push(shared)
    server.send({ type: 'targets', targets: [shared] })
    await open('second')
    const second = anOrder(shared, addresses.client4, (generation += 1), Date.now() + 60_000, { cut: true })
    server.order(second)
    await until('both hold it', () => server.resultOf(second)?.outcome === 'verified')
    const stream = await connect('second')
    await close('second')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await lives(stream)).toBe(true)
    server.order(anOrder(shared, addresses.client4, (generation += 1), 0, { cut: true }))
    expect((await untilEnded(stream)).state).toBe('reset')
  })
})

/** Everything real: the server, the launcher's narrow rights, somebody who clicks. */
describe.skipIf(!hasAll())('CutConnections, from the console to the stream', { timeout: 60_000 }, () => {
  const [port, set] = [3001, 'shell4']
  let host: TestHost
  let site: Site
  let streams: Streams[]
  let alex: Person
  let knoc: string

  beforeAll(async () => {
    host = await aHost()
    await host.makeSet(set, 4)
    await host.exec(...'iptables -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT'.split(' '))
    const rule = `iptables -A INPUT -p tcp --dport ${port} -m set ! --match-set ${set} src -j REJECT --reject-with tcp-reset`
    await host.exec(...rule.split(' '))
    streams = [startStreams(host.place), startStreams(host.placeOutside)]
    await streams[0]?.serve(port)
    site = await aSite(host)
    const agent = await site.aLinkedAgent('edge')
    alex = await site.aPerson('alex')
    knoc = (await site.aKnoc(agent.id, { name: 'Shell', set4: set, people: [alex], CutConnections: true })).ID
  }, 120_000)
  afterAll(async () => {
    for (const one of streams) one.stop()
    await site.close()
    await host.close()
  })

  const anOpenStream = async () => {
    await alex.grant(knoc)
    await site.untilStatus(alex, knoc, [0])
    return (streams[1] as Streams).open(addresses.host4, port)
  }
  const revoke = async () => {
    await alex.revoke(knoc)
    await site.untilStatus(alex, knoc, [9])
  }

  it('ends a silent stream at the click that closes, and leaves one to drain when it is off', async () => {
    const cut = await anOpenStream()
    await revoke()
    await until('the stream is reset', async () => (await cut.look()).state === 'reset')
    await site.console.request('PUT', `/admin/knocs/${knoc}`, { ACL: { CutConnections: false } })
    const draining = await anOpenStream()
    await revoke()
    await new Promise((resolve) => setTimeout(resolve, 500))
    const sentAt = await draining.talk()
    await until('an echo', async () => (await draining.look()).heardAt >= sentAt)
    expect((await draining.look()).state).toBe('open')
    expect(site.logged().join('\n')).not.toMatch(/NotCapable|could not be ended/)
    expect(site.crashes()).toEqual([])
  })
})

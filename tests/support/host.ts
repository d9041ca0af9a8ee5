import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getuid } from 'node:process'
import { removeLeftoverNamespaces, removeNamespace } from '../../deploy/demo/namespace.ts'
import { run } from '../../deploy/demo/run.ts'
import { requireProgram } from './debian.ts'
import { startHands } from './hands.ts'

const prefix = 'knoc-t-'
const device = 'wire0'
let made = 0

/** Addresses of the host and of the client outside, and of another one that nobody has. */
export const addresses = {
  host4: '10.77.0.2',
  client4: '10.77.0.1',
  stranger4: '10.77.0.99',
  host6: 'fd77::2',
  client6: 'fd77::1',
} as const

/** Whether tests on the real kernel can run: root on Linux with its programs; says loudly what is missing. */
export function hasKernel(): boolean {
  const programs = (['ip', 'ipset', 'iptables', 'ip6tables', 'iptables-restore'] as const).map(requireProgram)
  if (!programs.every(Boolean)) return false
  if (getuid?.() === 0) return true
  console.warn('SKIPPED: network namespaces need root')
  return false
}

/** A host with a firewall, and a client outside. */
export type TestHost = Awaited<ReturnType<typeof aHost>>

/**
 * Two network namespaces joined by a veth pair, IPv4 and IPv6: a host, on which server and agent run and services
 * are protected by ipset and iptables, and a client outside. This machine's own network is not touched.
 * Call `close` in `afterAll`; what killed runs left is removed first.
 */
export async function aHost() {
  await removeLeftovers()
  const base = `${prefix}${process.pid}-${(made += 1)}`
  const [inside, outside] = [`${base}h`, `${base}c`]
  const folder = join(tmpdir(), base)
  mkdirSync(folder, { mode: 0o755 })
  const place = (command: readonly string[]) => ['ip', 'netns', 'exec', inside, ...command]
  const exec = (...command: string[]) => {
    const [file = '', ...args] = place(command)
    return run(file, args)
  }
  await run('ip', ['netns', 'add', inside])
  await run('ip', ['netns', 'add', outside])
  await connect(inside, outside)
  const placeOutside = (command: readonly string[]) => ['ip', 'netns', 'exec', outside, ...command]
  const client = startHands(placeOutside)
  const hands = startHands(place)

  /** An empty set with timeouts. */
  const makeSet = (name: string, family: 4 | 6, maxelem = 65_536) =>
    exec(...`ipset create ${name} hash:ip family ${familyOf(family)} timeout 0 maxelem ${maxelem}`.split(' '))

  async function close(): Promise<void> {
    client.stop()
    hands.stop()
    await removeNamespace(inside)
    await removeNamespace(outside)
    rmSync(folder, { recursive: true, force: true })
  }

  /** Joins this host to another one by a cable of their own; the addresses are this one's and the other's. */
  const joinTo = async (other: { namespace: string }, mine: string, theirs: string) => {
    await run('ip', ['-n', inside, ...cable(other.namespace)])
    for (const [name, address] of [
      [inside, mine],
      [other.namespace, theirs],
    ] as const) {
      await run('ip', ['-n', name, 'address', 'add', `${address}/24`, 'dev', cableName])
      await run('ip', ['-n', name, 'link', 'set', cableName, 'up'])
    }
  }

  return {
    folder,
    namespace: inside,
    joinTo,
    /** Puts a command into the host's namespace. */
    place,
    /** Runs a program on the host; its stdout. */
    exec,
    /** Puts a command where somebody outside is. */
    placeOutside,
    /** Gives the client outside an address or takes it away. */
    addressOfClient: (act: 'add' | 'del', address: string) =>
      run('ip', ['-n', outside, 'address', act, `${address}/24`, 'dev', device]),
    /** Somebody outside; and the test's own hands on the host. */
    client,
    hands,
    makeSet,
    /**
     * A TCP service behind sets that it makes: whoever isn't in them is refused. The check stands before
     * everything else, so it also meets connections that are open (design §3).
     */
    door: async (port: number, { set4, set6 }: { set4: string; set6?: string }) => {
      await hands.serve(port)
      await makeSet(set4, 4)
      if (set6 !== undefined) await makeSet(set6, 6)
      for (const rule of rulesOf(port, set4)) await exec('iptables', ...rule)
      for (const rule of set6 === undefined ? [] : rulesOf(port, set6)) await exec('ip6tables', ...rule)
    },
    /** What stands in a set: address → seconds left. */
    entries: async (set: string): Promise<Map<string, number>> => {
      const saved = await exec('ipset', 'save', set)
      return new Map(Array.from(saved.matchAll(/^add \S+ (\S+)(?: timeout (\d+))?/gm), toEntry))
    },
    close,
  }
}

const cableName = 'cable0'
const cable = (other: string): string[] =>
  `link add ${cableName} type veth peer name ${cableName} netns ${other}`.split(' ')

const familyOf = (family: 4 | 6): string => (family === 4 ? 'inet' : 'inet6')

const toEntry = ([, address = '', seconds]: RegExpMatchArray): [string, number] => [
  address,
  Number(seconds ?? 0),
]

/** The rules of one door, each as arguments. */
function rulesOf(port: number, set: string): string[][] {
  return [
    `-A INPUT -p tcp --dport ${port} -m set ! --match-set ${set} src -j REJECT --reject-with tcp-reset`,
    '-A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT',
    `-A INPUT -p tcp --dport ${port} -j ACCEPT`,
  ].map((rule) => rule.split(' '))
}

async function connect(inside: string, outside: string): Promise<void> {
  await run('ip', [
    '-n',
    inside,
    ...`link add ${device} type veth peer name ${device} netns ${outside}`.split(' '),
  ])
  for (const [name, four, six] of [
    [inside, addresses.host4, addresses.host6],
    [outside, addresses.client4, addresses.client6],
  ] as const) {
    await run('ip', ['-n', name, 'address', 'add', `${four}/24`, 'dev', device])
    await run('ip', ['-n', name, '-6', 'address', 'add', `${six}/64`, 'dev', device, 'nodad'])
    await run('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
    await run('ip', ['-n', name, 'link', 'set', device, 'up'])
  }
}

async function removeLeftovers(): Promise<void> {
  await removeLeftoverNamespaces(prefix)
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : process.pid
    if (pid === process.pid || isAlive(pid)) continue
    rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

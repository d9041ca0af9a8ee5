import { fileURLToPath } from 'node:url'
import { findDeno } from '../deno.mjs'
import { type Arena, ports } from './arena.ts'
import { removeLeftoverNamespaces, removeNamespace } from './namespace.ts'
import { canRun, run, start } from './run.ts'

const prefix = 'knoc-demo-'
const sets = { v4: 'knoc_demo4', v6: 'knoc_demo6' } as const

/** Whether the real kernel can be used: root on Linux, with the programs for it. */
export async function canUseKernel(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const programs: [string, string[]][] = [
    ['ip', ['-V']],
    ['ipset', ['version']],
    ['iptables', ['-V']],
    ['ip6tables', ['-V']],
  ]
  const found = await Promise.all(programs.map(([file, args]) => canRun(file, args)))
  return found.every(Boolean)
}

/**
 * A network namespace of its own with server, agent and a protected service in it, behind ipset and iptables; this
 * host is the stranger outside, at the other end of a veth pair. The host's own firewall is not touched.
 */
export async function openKernelArena(): Promise<Arena> {
  await removeLeftoverNamespaces(prefix)
  const name = `${prefix}${process.pid}`
  const net = await findFreeNet()
  const inside = ['ip', 'netns', 'exec', name]
  await run('ip', ['netns', 'add', name])
  let door: ReturnType<typeof start> | undefined

  async function close(): Promise<void> {
    await door?.stop()
    await removeNamespace(name)
  }

  try {
    await connect(name, net)
    await protect((command) => run('ip', ['netns', 'exec', name, ...command]))
    door = start(
      [...inside, findDeno(), 'run', '--quiet', '--allow-net', '--allow-env', service, String(ports.door)],
      { env: {}, onLine: () => undefined },
    )
  } catch (error) {
    await close()
    throw error
  }
  const serverUrl = `http://${net.inside}:${ports.server}`
  return {
    kind: 'kernel',
    description: `the real kernel: ipset and iptables in the network namespace ${name}`,
    host: '::',
    serverUrl,
    doorUrl: `http://${net.inside}:${ports.door}/`,
    place: (command) => [...inside, ...command],
    serverEnv: { KNOC_ALLOW_HTTP: 'true' },
    agentEnv: {},
    knoc: { backend: { ipset: {} }, acl: { ipset: { V4SetName: sets.v4, V6SetName: sets.v6 } } },
    close,
  }
}

const service = fileURLToPath(new URL('./service.ts', import.meta.url))

type Net = { outside: string; inside: string; outside6: string; inside6: string; device: string }

/** A small net that nothing on this host uses. */
async function findFreeNet(): Promise<Net> {
  const used = await run('ip', ['-o', 'address'])
  for (let third = 0; third < 250; third += 1) {
    const base = `10.203.${third}`
    if (!used.includes(` ${base}.`))
      return {
        outside: `${base}.1`,
        inside: `${base}.2`,
        outside6: `fd6b:6e6f:63:${third}::1`,
        inside6: `fd6b:6e6f:63:${third}::2`,
        device: `knocdemo${third}`,
      }
  }
  throw new Error('No free network for the demo: every 10.203.N.0/24 is in use on this host.')
}

async function connect(name: string, net: Net): Promise<void> {
  const peer = `${net.device}n`.slice(-15)
  await run('ip', ['link', 'add', net.device, 'type', 'veth', 'peer', 'name', peer, 'netns', name])
  await run('ip', ['address', 'add', `${net.outside}/30`, 'dev', net.device])
  await run('ip', ['-6', 'address', 'add', `${net.outside6}/64`, 'dev', net.device, 'nodad']).catch(
    () => undefined,
  )
  await run('ip', ['link', 'set', net.device, 'up'])
  await run('ip', ['-n', name, 'address', 'add', `${net.inside}/30`, 'dev', peer])
  await run('ip', ['-n', name, '-6', 'address', 'add', `${net.inside6}/64`, 'dev', peer, 'nodad']).catch(
    () => undefined,
  )
  await run('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
  await run('ip', ['-n', name, 'link', 'set', peer, 'up'])
}

/** The set check stands first, so that a revoke also resets connections that are open (design §3). */
async function protect(inside: (command: readonly string[]) => Promise<string>): Promise<void> {
  for (const [tool, set, family] of [
    ['iptables', sets.v4, 'inet'],
    ['ip6tables', sets.v6, 'inet6'],
  ] as const) {
    await inside(['ipset', 'create', set, 'hash:ip', 'family', family, 'timeout', '0', 'maxelem', '65536'])
    await inside([
      ...[tool, '-A', 'INPUT', '-p', 'tcp', '--dport', String(ports.door)],
      ...['-m', 'set', '!', '--match-set', set, 'src', '-j', 'REJECT', '--reject-with', 'tcp-reset'],
    ])
  }
}

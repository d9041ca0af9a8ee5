import { readFileSync, statSync } from 'node:fs'
import type { Capabilities } from '#machines/protocol.ts'
import type { Connections } from './cut/connections.ts'
import { readSets } from './drivers/ipset-set.ts'
import { listScripts } from './drivers/script.ts'

/** What this host can enforce, as the console shows it. Takes a few milliseconds; never throws. */
export async function readCapabilities(host: {
  ipset: string | undefined
  scriptFolder: string | undefined
  haproxySocket: string | undefined
  isRoot: boolean
  connections: Pick<Connections, 'ways'>
}): Promise<Capabilities> {
  return {
    'os-release': readOsRelease('/etc/os-release'),
    ipset: await readIpset(host),
    haproxy: readHaproxy(host.haproxySocket),
    script: {
      enabled: host.scriptFolder !== undefined,
      commands: listScripts(host.scriptFolder)
        .filter((name) => name.length <= 256)
        .slice(0, 256),
    },
  }
}

/** Changing sets needs CAP_NET_ADMIN, and so does looking at them: looking tells. */
async function readIpset(host: {
  ipset: string | undefined
  isRoot: boolean
  connections: Pick<Connections, 'ways'>
}): Promise<Capabilities['ipset']> {
  const sets = host.ipset === undefined ? undefined : await readSets(host.ipset)
  if (!Array.isArray(sets)) {
    return { command_available: host.ipset !== undefined, sudo_enabled: false, privilege: 'none', ipsets: [] }
  }
  const usable = sets.filter(({ type }) => type === 'hash:ip' || type === 'hash:net').slice(0, 256)
  const ways = await host.connections.ways(usable)
  return {
    command_available: true,
    sudo_enabled: true,
    privilege: host.isRoot ? 'root' : 'capability',
    ipsets: usable.map(({ name, family, timeouts, references }) => ({
      name,
      address_family: family,
      timeouts,
      references,
      cut: ways.get(name) ?? 'none',
    })),
  }
}

function readHaproxy(socket: string | undefined): Capabilities['haproxy'] {
  try {
    return socket !== undefined && statSync(socket).isSocket() ? { socket_location: socket } : null
  } catch {
    return null
  }
}

/** NAME and VERSION of os-release(5); null where there is none. */
export function readOsRelease(path: string): Capabilities['os-release'] {
  try {
    const text = readFileSync(path, 'utf8')
    const read = (key: string) =>
      (new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1] ?? '').replace(/^(["'])(.*)\1$/, '$2').slice(0, 128)
    return { NAME: read('NAME'), VERSION: read('VERSION') || read('VERSION_ID') }
  } catch {
    return null
  }
}

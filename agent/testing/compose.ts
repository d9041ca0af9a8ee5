import { join } from 'node:path'
import { type Agent, createAgent } from '../agent.ts'
import { readCapabilities } from '../capabilities.ts'
import type { HostClock } from '../clock.ts'
import { createHostConnections } from '../cut/host-connections.ts'
import type { FindProgram } from '../cut/read-rules.ts'
import { createHaproxySockets } from '../drivers/haproxy-socket.ts'
import { createDrivers } from '../drivers/index.ts'
import { emptySet } from '../drivers/ipset.ts'
import { createIpsetPipe, type IpsetPipe } from '../drivers/ipset-pipe.ts'
import { createPanosApi } from '../drivers/panos-api.ts'
import { openIdentity } from '../identity.ts'
import type { AgentLog } from '../log.ts'
import { openManagedSets } from '../managed-sets.ts'
import { recoverJournal } from '../recover.ts'
import { quietLog } from './builders.ts'

/** What a composed agent is told. */
export type ComposeOptions = {
  dataFolder: string
  ipset: string
  server: string
  token?: string
  scriptFolder?: string
  runFolder?: string
  /** Runtime sockets of HAProxy that may be used. */
  haproxy?: string[]
  /** Programs of the host that end connections; none without it. */
  find?: FindProgram
  host?: HostClock
  /** Vouches for devices, PEM. */
  ca?: string
  log?: AgentLog
}

/** The agent as `run` puts it together, but on a test's namespace, folder and clock. */
export function composeAgent(options: ComposeOptions): {
  agent: Agent
  pipe: IpsetPipe
  stop: () => Promise<void>
} {
  const { dataFolder, ipset, log = quietLog } = options
  const pipe = createIpsetPipe({ ipset })
  const sockets = createHaproxySockets()
  const panosApi = createPanosApi({ ca: options.ca })
  const sets = openManagedSets(join(dataFolder, 'sets.json'), [])
  const connections = createHostConnections({
    find: options.find ?? (() => undefined),
    canEndSockets: null,
    pipe,
    sets,
  })
  const server = new URL(options.server)
  const identity = openIdentity({
    dataFolder,
    machineIdFile: '/etc/machine-id',
    serverOrigin: server.origin,
    serverName: undefined,
  })
  const agent = createAgent({
    server,
    ca: undefined,
    token: options.token,
    identity,
    recovered: recoverJournal({ dataFolder, runFolder: options.runFolder, log }),
    drivers: createDrivers({
      ipset: { ipset, pipe, sets, connections },
      haproxy: { sockets, allowed: options.haproxy ?? [] },
      script: { folder: options.scriptFolder, timeoutMs: 2_000, unseal: identity.unseal },
      panos: { api: panosApi, unseal: identity.unseal, checkReach: () => null },
    }),
    emptyManaged: async () => {
      for (const { name } of sets.all()) await emptySet(ipset, name)
    },
    readCapabilities: () =>
      readCapabilities({
        ipset,
        scriptFolder: options.scriptFolder,
        haproxySocket: undefined,
        isRoot: true,
        connections,
      }),
    host: options.host ?? hostClock('boot-1'),
    random: () => 0.05,
    onAlive: () => {},
    log,
  })
  const stop = async () => {
    await agent.stop()
    pipe.stop()
    sockets.stop()
    panosApi.stop()
  }
  return { agent, pipe, stop }
}

/** A host's clocks that can be set: booted an hour ago under this id. */
export function hostClock(bootId: string, over: Partial<HostClock> = {}): HostClock {
  const bootedAt = Date.now() - performance.now() - 3_600_000
  return {
    wallNow: () => Date.now(),
    monotonicNow: () => performance.now(),
    uptimeNow: () => Date.now() - bootedAt,
    bootAtStart: Date.now() - bootedAt,
    bootId,
    ...over,
  }
}

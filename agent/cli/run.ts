import { randomInt } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createAgent } from '../agent.ts'
import { readCapabilities } from '../capabilities.ts'
import { type HostClock, systemHostClock } from '../clock.ts'
import type { AgentConfig } from '../config.ts'
import { createHostConnections } from '../cut/host-connections.ts'
import { openDeviceRights, startAgain } from '../devices.ts'
import { createHaproxySockets } from '../drivers/haproxy-socket.ts'
import { createDrivers } from '../drivers/index.ts'
import { emptySet } from '../drivers/ipset.ts'
import { createIpsetPipe } from '../drivers/ipset-pipe.ts'
import { createPanosApi } from '../drivers/panos-api.ts'
import { openIdentity } from '../identity.ts'
import { lockDataFolder } from '../lock.ts'
import { createLog } from '../log.ts'
import { openManagedSets } from '../managed-sets.ts'
import { findProgram } from '../programs.ts'
import { recoverJournal } from '../recover.ts'
import type { ExitCode } from './command-line.ts'

/**
 * `knoc-agent run`: the composition root of the agent. Ends with SIGTERM or SIGINT.
 *
 * @param host the host's clocks in the place of the real ones, for tests that set them.
 */
export async function runAgent(
  config: AgentConfig,
  { host = systemHostClock(config.boot ?? readBoot()) }: { host?: HostClock } = {},
): Promise<ExitCode> {
  const log = createLog({ level: config.logLevel, pretty: process.stderr.isTTY })
  if (config.server === undefined) {
    console.error(
      'knoc-agent: no server given; say --server https://host, or set KNOC_SERVER\nTry: knoc-agent run --help',
    )
    return 2
  }
  prepareFolder(config.dataFolder)
  const unlock = lockDataFolder(config.dataFolder)
  if (unlock === undefined) {
    console.error(
      `knoc-agent: another agent uses ${config.dataFolder}; stop it, or give this one a folder of its own`,
    )
    return 1
  }
  if (config.isTokenVisible) {
    log.warn('a token on the command line can be read by every user of this host; use KNOC_AGENT_TOKEN_FILE')
  }
  const ipset = findProgram('ipset')
  const pipe = createIpsetPipe({ ipset: ipset ?? 'ipset' })
  const sockets = createHaproxySockets()
  const panosApi = createPanosApi({ ca: config.ca })
  const devices = openDeviceRights({
    path: join(config.dataFolder, 'devices.json'),
    granted: config.devicesGranted,
    isFixed: config.devicesFixed,
    log,
  })
  const sets = openManagedSets(join(config.dataFolder, 'sets.json'), config.managedSets)
  const { canEndSockets } = config
  const connections = createHostConnections({ find: findProgram, canEndSockets, pipe, sets })
  const identity = openIdentity({
    dataFolder: config.dataFolder,
    machineIdFile: config.machineIdFile,
    serverOrigin: config.server.origin,
    serverName: config.serverName,
  })
  const { dataFolder, runFolder, scriptFolder, haproxySocket } = config
  const isRoot = process.getuid?.() === 0
  const agent = createAgent({
    server: config.server,
    ca: config.ca,
    token: config.token,
    identity,
    recovered: recoverJournal({ dataFolder, runFolder, log }),
    drivers: createDrivers({
      ipset: { ipset, pipe, sets, connections },
      haproxy: { sockets, allowed: config.haproxyAllowed },
      script: { folder: scriptFolder, timeoutMs: config.scriptTimeoutMs, unseal: identity.unseal },
      panos: { api: panosApi, unseal: identity.unseal, checkReach: devices.check },
    }),
    emptyManaged: async () => {
      for (const { name } of sets.all()) {
        const error = ipset === undefined ? null : await emptySet(ipset, name)
        if (error !== null) log.error({ set: name, error: error.text }, 'a managed set cannot be emptied')
      }
    },
    readCapabilities: () => readCapabilities({ ipset, scriptFolder, haproxySocket, isRoot, connections }),
    host,
    random: () => randomInt(1_000_000) / 1_000_000,
    onAlive: () => {
      if (config.isWatched) process.stdout.write('\n')
    },
    log,
  })
  const asked = untilAsked()
  await agent.start()
  const reason = await Promise.race([asked, devices.restart])
  log.info({ reason }, 'stopping: doors stay by the kernel’s timeouts')
  await agent.stop()
  pipe.stop()
  sockets.stop()
  panosApi.stop()
  unlock()
  return reason === 'restart' ? startAgain : 0
}

/** Only for a start without the launcher, which needs the right to look into /proc. */
function readBoot(): { id: string; bootedAtMs: number } {
  const id = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
  return { id, bootedAtMs: Date.now() - uptimeSeconds * 1000 }
}

/** The folder holds private keys: nobody else looks in. */
function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
}

function untilAsked(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}

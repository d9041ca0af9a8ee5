import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { readPlace } from '#server/backends/definitions/haproxy.ts'
import { isSetName } from './drivers/ipset-set.ts'
import { type LogLevel, logLevels } from './log.ts'
import type { ManagedSet } from './managed-sets.ts'

const absolutePath = z.string().regex(/^\/[^\0]*$/, 'is not an absolute path')

/** `agent.json` of the data folder: what this host allows. Everything in it may be left out. */
export const agentFileSchema = z.strictObject({
  server: z.string().optional(),
  /** A name the server may call itself by, beside its own origin and the name it had before. */
  serverName: z.string().max(300).optional(),
  /** PEM file of the authorities that signed the server's certificate and devices', if the system doesn't know them. */
  ca: absolutePath.optional(),
  scripts: z.boolean().default(false),
  scriptFolder: absolutePath.default('/etc/knoc-agent/scripts'),
  scriptSeconds: z.number().int().min(1).max(300).default(30),
  haproxySocket: absolutePath.default('/var/run/haproxy.sock'),
  /** Other runtime sockets of HAProxy that the agent may use: paths, or host:port. */
  haproxyAddresses: z
    .array(z.string().refine((address) => readPlace(address) !== undefined, 'is no path and no host:port'))
    .max(16)
    .default(['127.0.0.1:9999']),
  /** Devices elsewhere (host or host:port) that the agent may reach; absent: those that the server names. */
  devices: z
    .array(z.string().refine((host) => URL.canParse(`https://${host}`), 'is no host'))
    .max(256)
    .optional(),
  machineIdFile: absolutePath.default('/etc/machine-id'),
  logLevel: z.enum(logLevels).default('info'),
  managedSets: z
    .array(
      z.strictObject({
        name: z.string().refine(isSetName, 'is no name of a set'),
        family: z.enum(['inet', 'inet6']),
        type: z.enum(['hash:ip', 'hash:net']).default('hash:ip'),
        maxelem: z.number().int().min(1).max(4_294_967_295).default(65_536),
      }),
    )
    .max(256)
    .default([]),
})

/** What the command line may say. */
export type AgentFlags = {
  server?: string | undefined
  token?: string | undefined
  data?: string | undefined
  ca?: string | undefined
}

/** The agent's settings of one start. */
export type AgentConfig = {
  server: URL | undefined
  serverName: string | undefined
  token: string | undefined
  /** The token stood on the command line, where every user of the host can read it. */
  isTokenVisible: boolean
  /** PEM text. */
  ca: string | undefined
  dataFolder: string
  runFolder: string | undefined
  /** Undefined: scripts are not allowed. */
  scriptFolder: string | undefined
  scriptTimeoutMs: number
  haproxySocket: string
  /** Whether `ss -K` was seen to work, which the launcher tries; null where nobody has. */
  canEndSockets: boolean | null
  /** Every runtime socket the agent may use. */
  haproxyAllowed: string[]
  /** What the launcher lets the agent reach, `host:port`; undefined when started without it. */
  devicesGranted: string[] | undefined
  /** This host's configuration names the devices: the server can't add any. */
  devicesFixed: boolean
  machineIdFile: string
  logLevel: LogLevel
  managedSets: ManagedSet[]
  /** As the launcher read them, which may look into /proc; undefined when started without it. */
  boot: { id: string; bootedAtMs: number } | undefined
  /** The launcher watches standard output and ends an agent that has gone quiet. */
  isWatched: boolean
}

/** A setting that can't be used, in words for whoever set it. */
export class ConfigFault extends Error {}

/** Where an agent keeps its things unless told otherwise. */
export const defaultDataFolder = '/var/lib/knoc-agent'

/**
 * Reads flags, environment and `agent.json`, in this order of precedence.
 * @throws ConfigFault that lists every fault, one line each, without values.
 */
export function readConfig(
  flags: AgentFlags,
  env: Record<string, string | undefined> = process.env,
): AgentConfig {
  const read = (name: string) => env[name]?.trim() || undefined
  const dataFolder = resolve(flags.data ?? read('KNOC_AGENT_DATA') ?? defaultDataFolder)
  const file = readAgentFile(join(dataFolder, 'agent.json'))
  const faults: string[] = []
  const server = toServer(flags.server ?? read('KNOC_SERVER') ?? file.server, faults)
  const token = flags.token ?? readToken(read('KNOC_AGENT_TOKEN'), read('KNOC_AGENT_TOKEN_FILE'), faults)
  const caFile = flags.ca ?? read('KNOC_AGENT_CA') ?? file.ca
  const ca = caFile === undefined ? undefined : readText(caFile, 'the CA file', faults)
  const level = logLevels.find((known) => known === read('KNOC_AGENT_LOG_LEVEL'))
  const bootedAtMs = Number(read('KNOC_AGENT_BOOTED_AT'))
  const bootId = read('KNOC_AGENT_BOOT_ID')
  if (faults.length > 0) throw new ConfigFault(faults.join('\n'))
  return {
    server,
    serverName: file.serverName,
    token,
    isTokenVisible: flags.token !== undefined,
    ca,
    dataFolder,
    runFolder: read('KNOC_AGENT_RUN_DIR') ?? read('RUNTIME_DIRECTORY'),
    scriptFolder: file.scripts ? file.scriptFolder : undefined,
    scriptTimeoutMs: file.scriptSeconds * 1000,
    haproxySocket: file.haproxySocket,
    canEndSockets: endsSockets[read('KNOC_AGENT_ENDS_SOCKETS') ?? ''] ?? null,
    haproxyAllowed: [file.haproxySocket, ...file.haproxyAddresses],
    devicesGranted: env['KNOC_AGENT_DEVICES']?.split(',').filter((place) => place !== ''),
    devicesFixed: file.devices !== undefined,
    machineIdFile: read('KNOC_AGENT_MACHINE_ID_FILE') ?? file.machineIdFile,
    logLevel: level ?? file.logLevel,
    managedSets: file.managedSets.map(toManagedSet),
    boot: bootId !== undefined && bootedAtMs > 0 ? { id: bootId, bootedAtMs } : undefined,
    isWatched: read('KNOC_AGENT_WATCHED') === '1',
  }
}

function readAgentFile(path: string): z.output<typeof agentFileSchema> {
  let text = '{}'
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new ConfigFault(`${path} cannot be read`)
  }
  try {
    return agentFileSchema.parse(JSON.parse(text))
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : 'it is not JSON'
    throw new ConfigFault(`${path} is not usable: ${why}`)
  }
}

function toServer(text: string | undefined, faults: string[]): URL | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    faults.push('the server (--server, KNOC_SERVER) must be http(s)://host[:port]')
    return undefined
  }
  return new URL(url.origin)
}

function readToken(
  token: string | undefined,
  path: string | undefined,
  faults: string[],
): string | undefined {
  if (token !== undefined || path === undefined) return token
  return readText(path, 'KNOC_AGENT_TOKEN_FILE', faults)?.trim()
}

function readText(path: string, what: string, faults: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    faults.push(`${what} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`)
    return undefined
  }
}

const endsSockets: Readonly<Record<string, boolean>> = { yes: true, no: false }

const toManagedSet = (set: z.output<typeof agentFileSchema>['managedSets'][number]): ManagedSet => ({
  name: set.name,
  type: set.type,
  options: ['family', set.family, 'maxelem', String(set.maxelem), 'timeout', '0'],
})

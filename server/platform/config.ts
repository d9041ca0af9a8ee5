import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { z } from 'zod'
import { environmentSchema, getVariableHint, type VariableName, variableNames } from './config.schema.ts'
import { type LookupPortChoice, readVariableFile } from './config-values.ts'
import type { Secret } from './secret.ts'

/** The server's settings of one start, read once from the environment and frozen. */
export interface Config {
  /** Absolute path. */
  readonly dataDir: string
  readonly host: string
  readonly port: number
  /** Origin under which browsers and agents reach the server, without a closing slash. */
  readonly publicUrl: string
  readonly allowHttp: boolean
  readonly adminUsername: string | undefined
  readonly adminPassword: Secret | undefined
  /** Undefined: the embedded PostgreSQL. */
  readonly databaseUrl: Secret | undefined
  /** Undefined: the queue lives in PostgreSQL. */
  readonly redisUrl: Secret | undefined
  /** 32 bytes in base64. Undefined only with the embedded database, see `readOrCreateMasterKey`. */
  readonly masterKey: Secret | undefined
  /** Addresses and CIDRs. */
  readonly trustedProxies: readonly string[]
  /** Hosts of this server that have an address of one family only. */
  readonly ipv4Host: string | undefined
  readonly ipv6Host: string | undefined
  /** Ports on which address discovery looks at browsers. */
  readonly lookupPorts: readonly LookupPortChoice[]
  /** PEM files; absolute paths. */
  readonly tls: TlsFiles | undefined
  /** The portal's own port speaks https with it, not only the lookup ports. */
  readonly isTlsForAll: boolean
  readonly listener: 'node' | 'deno'
  /** Ed25519, SPKI, PEM. */
  readonly licencePublicKey: string | undefined
  readonly licenceSite: string | undefined
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Asked for by GET /metrics. Undefined: only this host may read them. */
  readonly metricsToken: Secret | undefined
  readonly replica: string
  readonly cloud: boolean
  /** Whether browsers keep the portal's hashed files by a service worker. */
  readonly serviceWorker: boolean
  readonly grantLoopback: boolean
}

/** Where the server's certificate and its private key are. */
export type TlsFiles = { certificateFile: string; keyFile: string }

/**
 * Reads the settings from the environment. An empty variable counts as unset.
 *
 * @throws Error that lists every fault, one line each: variable, what is wrong, what is accepted. Values are
 * never part of it, they may be secrets.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const { values, faults } = readValues(env)
  const parsed = environmentSchema.safeParse(values)
  const told = new Set(faults.map((fault) => fault.name))
  for (const issue of parsed.error?.issues ?? []) {
    const name = issue.path[0] as VariableName
    if (!told.has(name)) faults.push({ name, wrong: issue.message })
  }
  if (!parsed.success || faults.length > 0) throw new Error(toMessage(faults))
  return Object.freeze(toConfig(parsed.data))
}

/** One environment variable as help text and README show it. */
export interface ConfigVariable {
  name: string
  description: string
  accepted: string
  /** How the default reads; `none` where there is none. */
  default: string
}

/** Every variable, `…_FILE` variants included, from the same schema that checks them. */
export const configVariables: readonly ConfigVariable[] = variableNames.flatMap((name) => {
  const { description, accepted, defaultText, fileVariant } = getVariableHint(name)
  const variable = { name, description, accepted, default: defaultText ?? defaultOf(name) }
  const file = {
    name: `${name}_FILE`,
    description: `File that holds ${name}.`,
    accepted: 'a path',
    default: 'none',
  }
  return fileVariant ? [variable, file] : [variable]
})

interface Fault {
  name: string
  wrong: string
}

/** The variables' texts, those in files included. */
function readValues(env: Record<string, string | undefined>): {
  values: Record<string, string>
  faults: Fault[]
} {
  const values: Record<string, string> = {}
  const faults: Fault[] = []
  for (const name of variableNames) {
    const plain = env[name]?.trim() || undefined
    const path = getVariableHint(name).fileVariant ? env[`${name}_FILE`]?.trim() || undefined : undefined
    if (plain !== undefined) values[name] = plain
    if (path === undefined) continue
    if (plain !== undefined) faults.push({ name, wrong: `is set, and so is ${name}_FILE` })
    const read = readVariableFile(path)
    if ('fault' in read) faults.push({ name: `${name}_FILE`, wrong: read.fault })
    else values[name] = read.value
  }
  return { values, faults }
}

function toMessage(faults: Fault[]): string {
  const lines = faults.map(({ name, wrong }) => `  ${name} ${wrong}; accepted: ${acceptedFor(name)}`)
  return ['The configuration is not usable:', ...lines].join('\n')
}

function acceptedFor(name: string): string {
  return configVariables.find((variable) => variable.name === name)?.accepted ?? 'nothing'
}

function defaultOf(name: VariableName): string {
  const { data } = environmentSchema.shape[name].safeParse(undefined)
  return ['string', 'number', 'boolean'].includes(typeof data) ? `${data as string | number}` : 'none'
}

function toConfig(env: z.output<typeof environmentSchema>): Config {
  const dataDir = resolve(env.KNOC_DATA_DIR)
  const tls = findTlsFiles(env)
  const isTlsForAll = tls !== undefined && env.KNOC_TLS_FOR === 'all'
  return {
    dataDir,
    host: env.KNOC_HOST,
    port: env.KNOC_PORT,
    publicUrl: env.KNOC_PUBLIC_URL ?? `${isTlsForAll ? 'https' : 'http'}://localhost:${env.KNOC_PORT}`,
    allowHttp: env.KNOC_ALLOW_HTTP,
    adminUsername: env.KNOC_ADMIN_USERNAME,
    adminPassword: env.KNOC_ADMIN_PASSWORD,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    masterKey: env.KNOC_MASTER_KEY,
    trustedProxies: Object.freeze(env.KNOC_TRUSTED_PROXIES),
    ipv4Host: env.KNOC_IPV4_HOST,
    ipv6Host: env.KNOC_IPV6_HOST,
    lookupPorts: Object.freeze(env.KNOC_LOOKUP_PORTS),
    tls,
    isTlsForAll,
    listener: env.KNOC_LISTENER,
    licencePublicKey: env.KNOC_LICENCE_PUBLIC_KEY,
    licenceSite: env.KNOC_LICENCE_SITE,
    logLevel: env.KNOC_LOG_LEVEL,
    metricsToken: env.KNOC_METRICS_TOKEN,
    replica: env.KNOC_REPLICA ?? (env.DATABASE_URL === undefined ? lastingName(dataDir) : randomName()),
    cloud: env.KNOC_CLOUD,
    serviceWorker: env.KNOC_SERVICE_WORKER,
    grantLoopback: env.KNOC_GRANT_LOOPBACK,
  }
}

function findTlsFiles(env: z.output<typeof environmentSchema>): TlsFiles | undefined {
  const { KNOC_TLS_CERT_FILE: certificate, KNOC_TLS_KEY_FILE: key } = env
  if (certificate === undefined || key === undefined) return undefined
  return { certificateFile: resolve(certificate), keyFile: resolve(key) }
}

/** An embedded database has one server only: with the same name at each start it finds its own queue again. */
function lastingName(dataDir: string): string {
  return `embedded-${createHash('sha256').update(`${hostname()}\n${dataDir}`).digest('hex').slice(0, 12)}`
}

function randomName(): string {
  return `replica-${randomBytes(6).toString('hex')}`
}

import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'

/** The config file: JSON, with lines of comment that begin with `//`. Everything in it may be left out. */
const configFileSchema = z.strictObject({
  server: z.string().optional(),
  keyFile: z.string().min(1).optional(),
  ca: z.string().min(1).optional(),
  entries: z.array(z.string().trim().min(1).max(256)).max(1000).default([]),
  waitSeconds: z.number().int().min(0).max(86_400).default(30),
  tokenFile: z.string().min(1).optional(),
})

/** What the command line may say; texts as they were typed. */
export type ClientFlags = {
  server?: string | undefined
  config?: string | undefined
  'key-file'?: string | undefined
  ca?: string | undefined
  entry?: string[] | undefined
  wait?: string | undefined
  'token-file'?: string | undefined
}

/** The settings of one run. */
export type ClientConfig = {
  server: URL
  /** Undefined only where none is needed. */
  key: string | undefined
  /** PEM text. */
  ca: string | undefined
  entries: readonly string[]
  waitMs: number
  tokenFile: string | undefined
}

/** A setting that can't be used, in words for whoever set it. */
export class ConfigFault extends Error {}

/**
 * Reads flags, environment and config file, in this order of precedence.
 * @throws ConfigFault that lists every fault, one line each, never a key.
 */
export function readConfig(
  flags: ClientFlags,
  { needsKey }: { needsKey: boolean },
  env: Record<string, string | undefined> = process.env,
): ClientConfig {
  const read = (name: string) => env[name]?.trim() || undefined
  const path = flags.config ?? read('KNOC_CLIENT_CONFIG')
  const file = path === undefined ? configFileSchema.parse({}) : readConfigFile(path)
  const faults: string[] = []
  const server = toServer(flags.server ?? read('KNOC_SERVER') ?? file.server, faults)
  const keyFile = flags['key-file'] ?? read('KNOC_CLIENT_KEY_FILE') ?? file.keyFile
  const plainKey = flags['key-file'] === undefined ? read('KNOC_CLIENT_KEY') : undefined
  const key = needsKey ? toKey(plainKey ?? readKeyFile(keyFile, faults), faults) : undefined
  const caFile = flags.ca ?? read('KNOC_CLIENT_CA') ?? file.ca
  const ca = caFile === undefined ? undefined : readText(caFile, 'the CA file', faults)
  const waitSeconds = flags.wait === undefined ? file.waitSeconds : toSeconds(flags.wait)
  if (!(waitSeconds <= 86_400)) faults.push('--wait takes whole seconds, 0 to 86400')
  const tokenFile = flags['token-file'] ?? file.tokenFile
  if (faults.length > 0 || server === undefined) throw new ConfigFault(faults.join('\n'))
  return {
    server,
    key,
    ca,
    entries: flags.entry ?? file.entries,
    waitMs: waitSeconds * 1000,
    tokenFile: tokenFile === undefined ? undefined : resolve(tokenFile),
  }
}

function readConfigFile(path: string): z.output<typeof configFileSchema> {
  const faults: string[] = []
  const text = readText(path, `the config file ${path}`, faults)
  if (text === undefined) throw new ConfigFault(faults.join('\n'))
  try {
    return configFileSchema.parse(JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, '')))
  } catch (error) {
    const why =
      error instanceof z.ZodError ? z.prettifyError(error) : 'it is not JSON (see: knoc-client config)'
    throw new ConfigFault(`${path} is not usable: ${why}`)
  }
}

function toServer(text: string | undefined, faults: string[]): URL | undefined {
  if (text === undefined) {
    faults.push('no server given; say --server https://host, or set KNOC_SERVER')
    return undefined
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    faults.push('the server (--server, KNOC_SERVER) must be http(s)://host[:port]')
    return undefined
  }
  return new URL(url.origin)
}

const toSeconds = (text: string): number => (/^\d{1,5}$/.test(text) ? Number(text) : Number.NaN)

/** A key that every user of the host can read is everybody's. A group may: that is how services share files. */
function readKeyFile(path: string | undefined, faults: string[]): string | undefined {
  if (path === undefined) {
    faults.push('no key given; say --key-file FILE, or set KNOC_CLIENT_KEY_FILE or KNOC_CLIENT_KEY')
    return undefined
  }
  const text = readText(path, `the key file ${path}`, faults)
  if (text === undefined) return undefined
  if ((statSync(path).mode & 0o007) !== 0) {
    faults.push(`the key file ${path} is open to every user of this host; run: chmod 600 ${path}`)
    return undefined
  }
  return text
}

function toKey(text: string | undefined, faults: string[]): string | undefined {
  const key = text?.trim()
  if (key === undefined) return undefined
  if (/^[\w-]{20,200}$/.test(key)) return key
  faults.push('the key doesn’t look like an API key of Knoc: it is one line of letters, digits, - and _')
  return undefined
}

function readText(path: string, what: string, faults: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    faults.push(`${what} can’t be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`)
    return undefined
  }
}

/** What `knoc-client config` prints. */
export const configTemplate = `// Settings of knoc-client; lines that begin with // are comments.
// Command line and environment go before this file. The key itself does not belong here.
{
  // Where the server is: https://host[:port]
  "server": "https://knoc.example.com",

  // File with the API key, readable by its owner only (chmod 600).
  // As a systemd service, KNOC_CLIENT_KEY_FILE and LoadCredential take its place.
  "keyFile": "/etc/knoc-client/key",

  // Entries to open, by their names in the portal. None: those that open by themselves.
  "entries": [],

  // How many seconds one run waits for access to be open.
  "waitSeconds": 30

  // PEM file of the authority that signed the server's certificate, if it is your own:
  // , "ca": "/etc/knoc-client/ca.pem"

  // File that keeps the session's token for a later run, or for --logout:
  // , "tokenFile": "/run/user/1000/knoc-client-session"
}
`

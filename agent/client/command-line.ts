import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { agentVersion } from '../version.ts'
import { type ClientConfig, type ClientFlags, ConfigFault, configTemplate, readConfig } from './config.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { helpTexts } from './help.ts'
import { readHostAddresses } from './network-interfaces.ts'
import { openOnce } from './open-once.ts'
import { persist } from './persist.ts'
import { createReport } from './report.ts'
import { createSessionApi } from './session-api.ts'
import { signOutEarlier } from './sign-out.ts'
import { readTokenFile, writeTokenFile } from './token-file.ts'

const options = {
  server: { type: 'string' },
  'key-file': { type: 'string' },
  config: { type: 'string' },
  ca: { type: 'string' },
  entry: { type: 'string', multiple: true },
  wait: { type: 'string' },
  'token-file': { type: 'string' },
  out: { type: 'string' },
  persist: { type: 'boolean' },
  logout: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

type Mode = 'once' | 'persist' | 'logout' | 'config'

/** Flags that each way of running takes, beside --help. */
const flagsOf: Readonly<Record<Mode, readonly string[]>> = {
  once: ['server', 'key-file', 'config', 'ca', 'entry', 'wait', 'token-file', 'json'],
  persist: ['server', 'key-file', 'config', 'ca', 'entry', 'json', 'persist'],
  logout: ['server', 'config', 'ca', 'token-file', 'json', 'logout'],
  config: ['out'],
}

/** `knoc-client …`: does what the command line asks and answers the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<ExitCode> {
  const parsed = parse(args)
  if ('fault' in parsed) return refuse(parsed.fault)
  const { values, positionals } = parsed
  const [word, ...surplus] = positionals
  if (values.version === true) return say(agentVersion)
  if (values.help === true) return say(helpTexts[word === 'config' ? 'config' : ''])
  if (word !== undefined && word !== 'config') return refuse(`there is no command ${JSON.stringify(word)}`)
  if (surplus.length > 0) return refuse(`${JSON.stringify(surplus[0])} is one word too many`)
  const mode = modeOf(word, values)
  const foreign = Object.keys(values).find((flag) => !flagsOf[mode].includes(flag))
  if (foreign !== undefined) return refuse(`--${foreign} doesn’t go with ${nameOf[mode]}`)
  try {
    return await run(mode, values)
  } catch (error) {
    if (error instanceof ConfigFault) return refuse(error.message)
    return fail(error instanceof Error ? error.message : String(error))
  }
}

const nameOf: Readonly<Record<Mode, string>> = {
  once: 'a single run',
  persist: '--persist',
  logout: '--logout',
  config: 'config',
}

function modeOf(word: string | undefined, values: { persist?: boolean; logout?: boolean }): Mode {
  if (word === 'config') return 'config'
  if (values.logout === true) return 'logout'
  return values.persist === true ? 'persist' : 'once'
}

async function run(
  mode: Mode,
  flags: ClientFlags & { json?: boolean | undefined; out?: string | undefined },
): Promise<ExitCode> {
  if (mode === 'config') return writeTemplate(flags.out)
  const config = readConfig(flags, { needsKey: mode !== 'logout' })
  const { server, ca, tokenFile } = config
  const api = createSessionApi({ server, ca, key: config.key ?? '' })
  const report = createReport({
    json: flags.json === true,
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    now: Date.now,
  })
  if (mode === 'logout') {
    if (tokenFile === undefined)
      throw new ConfigFault('--logout needs --token-file FILE of the run to be ended')
    return signOutEarlier({ api, report, server, tokenFile })
  }
  const deps = { api, report, clock, random: Math.random, stop: untilAsked() }
  return mode === 'persist'
    ? persist({ ...deps, readAddresses: readHostAddresses }, config.entries)
    : openOnce(deps, { names: config.entries, waitMs: config.waitMs, ...keepingOf(config) })
}

/** With a token file a run goes on from the one before, and leaves its own token for the next. */
function keepingOf({ tokenFile, server }: ClientConfig) {
  if (tokenFile === undefined) return {}
  return {
    replaces: readTokenFile(tokenFile, server),
    keep: (token: string) => writeTokenFile(tokenFile, server, token),
  }
}

const clock = {
  // Monotonic: a clock that is set must not make anybody wait.
  now: () => performance.now(),
  wait: (ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }).catch(() => undefined),
}

function untilAsked(): AbortSignal {
  const asked = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => asked.abort())
  return asked.signal
}

function writeTemplate(out: string | undefined): ExitCode {
  if (out === undefined) return say(configTemplate.trimEnd())
  try {
    writeFileSync(out, configTemplate, { mode: 0o600, flag: 'wx' })
    return exitCodes.done
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'it is there already' : String(code)
    return fail(`${out} can’t be written: ${why}`)
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function say(text: string): ExitCode {
  process.stdout.write(`${text}\n`)
  return exitCodes.done
}

function refuse(fault: string): ExitCode {
  process.stderr.write(`knoc-client: ${fault}\nTry: knoc-client --help\n`)
  return exitCodes.usage
}

function fail(fault: string): ExitCode {
  process.stderr.write(`knoc-client: ${fault}\n`)
  return exitCodes.failed
}

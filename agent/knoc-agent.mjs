#!/usr/bin/env node
// The bin of `npx knoc-agent`: starts the agent in Deno with the rights it needs, and no others.
// Plain Node (18 or later), no dependency but the npm package `deno`, which brings the runtime.

import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(here)
const args = process.argv.slice(2)
/** An agent that was quiet for so long hangs; it says something each second. */
const quietForMs = 30_000

const programFolders = ['/usr/sbin', '/sbin', '/usr/bin', '/bin', '/usr/local/sbin']
const runPrograms = ['ipset']
const doctorPrograms = [
  'iptables-save',
  'ip6tables-save',
  'iptables-legacy-save',
  'ip6tables-legacy-save',
  'nft',
  'systemctl',
]
/** All the agent sees of the environment. Nobody else's variables reach it, so it may read what it has. */
const visible =
  /^(KNOC_SERVER|KNOC_AGENT_.*|RUNTIME_DIRECTORY|HOME|DENO_DIR|XDG_CACHE_HOME|TERM|NO_COLOR|LANG)$/

const command = args.find((arg) => !arg.startsWith('-'))
const isRun = command === 'run' && !args.includes('--help') && !args.includes('-h')
const data = resolve(option('--data') ?? env('KNOC_AGENT_DATA') ?? '/var/lib/knoc-agent')
const file = readAgentFile()
const boot = readBoot()

const child = spawn(denoBinary(), ['run', ...permissions(), join(here, 'main.ts'), ...args], {
  stdio: ['ignore', isRun ? 'pipe' : 'inherit', 'inherit'],
  env: environment(),
})

let quiet
if (isRun) {
  const watch = () => {
    clearTimeout(quiet)
    quiet = setTimeout(() => {
      say('knoc-agent: the agent has gone quiet and is ended; its service starts it again')
      child.kill('SIGKILL')
    }, quietForMs)
  }
  // The first word may take long: a slow disk, a device that hangs.
  quiet = setTimeout(watch, quietForMs)
  child.stdout.on('data', watch)
}
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  say(`knoc-agent: Deno cannot be started (${error.message}); run: npm install`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  clearTimeout(quiet)
  process.exit(signal === null ? (code ?? 1) : 1)
})

/** Deno's flags. Reading and writing: the agent's own code, its folders, and what it looks at by name. */
function permissions() {
  const run = [...(command === 'doctor' ? doctorPrograms : []), ...runPrograms].flatMap(findProgram)
  const scriptFolder = file.scripts === true ? (file.scriptFolder ?? '/etc/knoc-agent/scripts') : undefined
  const runFolder = env('KNOC_AGENT_RUN_DIR') ?? env('RUNTIME_DIRECTORY')
  const looked = programFolders.flatMap((folder) =>
    [...runPrograms, ...doctorPrograms].map((name) => join(folder, name)),
  )
  const code = ['agent', 'machines', 'server/backends/definitions', 'node_modules', 'package.json'].map(
    (part) => join(root, part),
  )
  const read = [
    ...code,
    ...nodeModulesAbove(),
    data,
    runFolder,
    scriptFolder,
    option('--ca') ?? env('KNOC_AGENT_CA') ?? file.ca,
    env('KNOC_AGENT_TOKEN_FILE'),
    env('KNOC_AGENT_MACHINE_ID_FILE') ?? file.machineIdFile ?? '/etc/machine-id',
    '/etc/os-release',
    file.haproxySocket ?? '/var/run/haproxy.sock',
    ...looked,
  ]
  const net = isRun ? serverHost() : undefined
  return [
    '--quiet',
    '--no-prompt',
    '--cached-only',
    '--no-remote',
    '--allow-env',
    flag('--allow-sys', ['hostname', 'osUptime', 'uid']),
    flag(
      '--allow-read',
      read.filter((path) => typeof path === 'string').map((path) => resolve(path)),
    ),
    flag(
      '--allow-write',
      [data, runFolder].filter((path) => path !== undefined),
    ),
    ...(net === undefined ? [] : [flag('--allow-net', [net])]),
    flag('--allow-run', [...run, ...scripts(scriptFolder)]),
  ].filter((text) => text !== undefined)
}

/** A flag with its list; without one the right is not given at all. A comma in a path would be two paths. */
function flag(name, list) {
  const unfit = list.find((item) => item.includes(','))
  if (unfit !== undefined) fail(`${unfit} holds a comma; choose another path`)
  return list.length === 0 ? undefined : `${name}=${list.join(',')}`
}

function environment() {
  const own = Object.entries(process.env).filter(([name]) => visible.test(name))
  const watched = isRun ? { KNOC_AGENT_WATCHED: '1' } : {}
  return {
    ...Object.fromEntries(own),
    ...boot,
    ...watched,
    PATH: programFolders.join(':'),
    DENO_NO_UPDATE_CHECK: '1',
  }
}

/** Scripts that are there now; one that is added later is allowed at the next start. */
function scripts(folder) {
  if (folder === undefined || !existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    try {
      return [realpathSync(join(folder, name))]
    } catch {
      return []
    }
  })
}

function serverHost() {
  const text = option('--server') ?? env('KNOC_SERVER') ?? file.server
  if (text === undefined || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return url.hostname === '' ? undefined : `${url.hostname}:${port}`
}

/** What the agent may not look at itself: Deno gives no part of /proc away. */
function readBoot() {
  try {
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
    return { KNOC_AGENT_BOOT_ID: id, KNOC_AGENT_BOOTED_AT: String(Date.now() - uptime * 1000) }
  } catch {
    return {}
  }
}

function readAgentFile() {
  try {
    return JSON.parse(readFileSync(join(data, 'agent.json'), 'utf8'))
  } catch {
    // Missing is well, damaged is told by the agent.
    return {}
  }
}

function denoBinary() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('deno/package.json'))
    const binary = join(folder, 'deno')
    if (existsSync(binary)) return binary
  } catch {
    // Not installed; said below.
  }
  return fail('Deno is not there; run: npm install (its package needs its install script)')
}

function nodeModulesAbove() {
  const folder = dirname(root)
  return folder.endsWith('node_modules') ? [folder] : []
}

function findProgram(name) {
  const found = programFolders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  return found === undefined ? [] : [found]
}

function option(name) {
  const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`))
  if (at < 0) return undefined
  return args[at] === name ? args[at + 1] : args[at].slice(name.length + 1)
}

function env(name) {
  return process.env[name]?.trim() || undefined
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text) {
  say(`knoc-agent: ${text}`)
  process.exit(1)
}

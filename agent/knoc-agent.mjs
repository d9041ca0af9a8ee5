#!/usr/bin/env node
// The bin of `npx knoc-agent`: starts the agent in Deno with the rights it needs, and no others.
// Plain Node (18 or later), no dependency but the npm package `deno`, which brings the runtime.

import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { triesToEndSocket } from './launch/ends-sockets.mjs'
import { codeFolders, createLauncher, env, toHost, variables } from './launch/launcher.mjs'

/** An agent that was quiet for so long hangs; it says something each second. */
const quietForMs = 30_000
/** The agent's exit code when it has noted a device that it may not reach yet: `startAgain` in its exit codes. */
const startAgain = 3

const programFolders = ['/usr/sbin', '/sbin', '/usr/bin', '/bin', '/usr/local/sbin']
/** Ending connections takes `ss` and `conntrack`, and knowing which ones takes the rules; doors close without them. */
const runPrograms = [
  'ipset',
  'ss',
  'conntrack',
  'sysctl',
  'iptables-save',
  'ip6tables-save',
  'iptables-nft-save',
  'ip6tables-nft-save',
  'iptables-legacy-save',
  'ip6tables-legacy-save',
  'nft',
]
const doctorPrograms = ['systemctl']
/** All the agent sees of the environment. Nobody else's variables reach it, so it may read what it has. */
const visible =
  /^(KNOC_SERVER|KNOC_AGENT_.*|RUNTIME_DIRECTORY|HOME|DENO_DIR|XDG_CACHE_HOME|TERM|NO_COLOR|LANG)$/

const { args, option, flag, start, say } = createLauncher('knoc-agent')
const command = args.find((arg) => !arg.startsWith('-'))
const isRun = command === 'run' && !args.includes('--help') && !args.includes('-h')
const data = resolve(option('--data') ?? env('KNOC_AGENT_DATA') ?? '/var/lib/knoc-agent')
const file = readJson('agent.json') ?? {}
const boot = readBoot()
const endsSockets = isRun || command === 'doctor' ? await triesToEndSocket(findProgram('ss')[0]) : undefined

launch()

function launch() {
  const child = start('main.ts', {
    permissions: permissions(),
    environment: {
      ...variables(visible),
      ...boot,
      ...(isRun && { KNOC_AGENT_WATCHED: '1', KNOC_AGENT_DEVICES: devices().join(',') }),
      ...(endsSockets !== undefined && { KNOC_AGENT_ENDS_SOCKETS: endsSockets }),
      PATH: programFolders.join(':'),
    },
    stdio: ['ignore', isRun ? 'pipe' : 'inherit', 'inherit'],
    again: (code) => isRun && code === startAgain && launch,
  })
  if (isRun) endWhenQuiet(child)
}

function endWhenQuiet(child) {
  let quiet
  const watch = () => {
    clearTimeout(quiet)
    quiet = setTimeout(() => {
      say('the agent has gone quiet and is ended; its service starts it again')
      child.kill('SIGKILL')
    }, quietForMs)
  }
  // The first word may take long: a slow disk, a device that hangs.
  quiet = setTimeout(watch, quietForMs)
  child.stdout.on('data', watch)
  child.on('exit', () => clearTimeout(quiet))
}

/** Deno's flags. Reading and writing: the agent's own code, its folders, and what it looks at by name. */
function permissions() {
  const run = [...(command === 'doctor' ? doctorPrograms : []), ...runPrograms].flatMap(findProgram)
  const scriptFolder = file.scripts === true ? (file.scriptFolder ?? '/etc/knoc-agent/scripts') : undefined
  const runFolder = env('KNOC_AGENT_RUN_DIR') ?? env('RUNTIME_DIRECTORY')
  const looked = programFolders.flatMap((folder) =>
    [...runPrograms, ...doctorPrograms].map((name) => join(folder, name)),
  )
  const sockets = isRun ? haproxySockets() : { paths: [], hosts: [] }
  const server = isRun ? toHost(option('--server') ?? env('KNOC_SERVER') ?? file.server) : undefined
  const read = [
    data,
    runFolder,
    scriptFolder,
    option('--ca') ?? env('KNOC_AGENT_CA') ?? file.ca,
    env('KNOC_AGENT_TOKEN_FILE'),
    env('KNOC_AGENT_MACHINE_ID_FILE') ?? file.machineIdFile ?? '/etc/machine-id',
    '/etc/os-release',
    file.haproxySocket ?? '/var/run/haproxy.sock',
    ...sockets.paths,
    ...looked,
  ]
  return [
    flag('--allow-sys', ['hostname', 'osUptime', 'uid']),
    flag('--allow-read', [
      ...codeFolders(['agent', 'machines', 'server/backends/definitions']),
      ...read.filter((path) => typeof path === 'string').map((path) => resolve(path)),
    ]),
    flag('--allow-write', [data, runFolder, ...sockets.paths]),
    flag('--allow-net', [
      server,
      ...sockets.paths.map((path) => `unix:${path}`),
      ...sockets.hosts,
      ...(isRun ? devices() : []),
    ]),
    flag('--allow-run', [...run, ...scripts(scriptFolder)]),
  ]
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

/** Runtime sockets of HAProxy that this host lets the agent use; a Unix socket counts as file and as network. */
function haproxySockets() {
  const named = [
    file.haproxySocket ?? '/var/run/haproxy.sock',
    ...(Array.isArray(file.haproxyAddresses) ? file.haproxyAddresses : ['127.0.0.1:9999']),
  ]
  const fit = named.filter((address) => typeof address === 'string')
  return {
    paths: fit.filter((address) => address.startsWith('/')),
    hosts: fit.filter((address) => !address.startsWith('/')),
  }
}

/** Devices elsewhere that it may reach: this host's own list of them, or those that the server has named so far. */
function devices() {
  const named = Array.isArray(file.devices) ? file.devices : readJson('devices.json')
  if (!Array.isArray(named)) return []
  return named.flatMap((host) => (typeof host === 'string' ? (toHost(`https://${host}`) ?? []) : []))
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

/** A file of the data folder; undefined when it is missing, which is well, or damaged, which the agent tells. */
function readJson(name) {
  try {
    return JSON.parse(readFileSync(join(data, name), 'utf8'))
  } catch {
    return undefined
  }
}

function findProgram(name) {
  const found = programFolders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  return found === undefined ? [] : [found]
}

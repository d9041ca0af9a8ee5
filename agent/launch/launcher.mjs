// What the launchers of agent and client share: plain Node (18 or later), no dependency but the npm package `deno`.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(dirname(fileURLToPath(import.meta.url)))
const root = dirname(here)
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP']

/** The launcher of one program; `program` is its name in messages. */
export function createLauncher(program) {
  const args = process.argv.slice(2)

  /** The value of `--name VALUE` or `--name=VALUE`. */
  function option(name) {
    const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`))
    if (at < 0) return undefined
    return args[at] === name ? args[at + 1] : args[at].slice(name.length + 1)
  }

  /** A flag with its list; without one the right is not given at all. A comma in a path would be two paths. */
  function flag(name, list) {
    const items = list.filter((item) => typeof item === 'string' && item !== '')
    const unfit = items.find((item) => item.includes(','))
    if (unfit !== undefined) fail(`${unfit} holds a comma; choose another path`)
    return items.length === 0 ? undefined : `${name}=${items.join(',')}`
  }

  /**
   * Runs a file of this folder in Deno with these rights and no others, in this environment and no other. Signals are
   * passed on, and this process ends as that one does, unless `again` answers its exit code with what to do instead; whoever
   * was asked to stop is not started again.
   */
  function start(file, { permissions, environment, stdio, again }) {
    const base = ['--quiet', '--no-prompt', '--cached-only', '--no-remote', '--allow-env']
    const rights = permissions.filter((text) => text !== undefined)
    const child = spawn(denoBinary(), ['run', ...base, ...rights, join(here, file), ...args], {
      stdio,
      env: { ...environment, DENO_NO_UPDATE_CHECK: '1' },
    })
    let isAskedToStop = false
    const passOn = (signal) => {
      isAskedToStop = true
      child.kill(signal)
    }
    for (const signal of signals) process.on(signal, passOn)
    child.on('error', (error) => fail(`Deno cannot be started (${error.message}); run: npm install`))
    child.on('exit', (code, signal) => {
      for (const known of signals) process.off(known, passOn)
      const next = isAskedToStop ? undefined : again?.(code)
      if (next) next()
      else process.exit(signal === null ? (code ?? 1) : 1)
    })
    return child
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

  function say(text) {
    process.stderr.write(`${program}: ${text}\n`)
  }

  function fail(text) {
    say(text)
    process.exit(1)
  }

  return { args, option, flag, start, say, fail }
}

/** A variable of the environment, without blanks around it; undefined when it is empty. */
export const env = (name) => process.env[name]?.trim() || undefined

/** The variables whose names fit, to hand on. */
export const variables = (visible) =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => visible.test(name)))

/** Where code lies that may be read: parts of the product, and the packages wherever npm has put them. */
export function codeFolders(parts) {
  const above = dirname(root)
  const own = [...parts, 'node_modules', 'package.json'].map((part) => join(root, part))
  return above.endsWith('node_modules') ? [...own, above] : own
}

/** `host:port` of a server's address, for Deno's right to reach it; undefined when there is none. */
export function toHost(text) {
  if (typeof text !== 'string' || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return url.hostname === '' ? undefined : `${url.hostname}:${port}`
}

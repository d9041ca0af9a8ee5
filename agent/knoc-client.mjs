#!/usr/bin/env node
// The bin of `npx knoc-client`: starts the client in Deno with the rights it needs: the network as far as the server,
// and the files it was given by name. Plain Node (18 or later), no dependency but the npm package `deno`.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(here)
const args = process.argv.slice(2)

/** All the client sees of the environment. Nobody else's variables reach it, so it may read what it has. */
const visible = /^(KNOC_SERVER|KNOC_CLIENT_.*|HOME|DENO_DIR|XDG_CACHE_HOME|TERM|NO_COLOR|LANG)$/

const configFile = option('--config') ?? env('KNOC_CLIENT_CONFIG')
const file = readConfigFile()

const child = spawn(denoBinary(), ['run', ...permissions(), join(here, 'client/main.ts'), ...args], {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: environment(),
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => fail(`Deno cannot be started (${error.message}); run: npm install`))
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1))

/** Deno's flags. No other program, no other file, no other host. */
function permissions() {
  const kept = option('--token-file') ?? file.tokenFile
  const read = [
    ...['agent', 'machines', 'node_modules', 'package.json'].map((part) => join(root, part)),
    ...nodeModulesAbove(),
    configFile,
    option('--key-file') ?? env('KNOC_CLIENT_KEY_FILE') ?? file.keyFile,
    option('--ca') ?? env('KNOC_CLIENT_CA') ?? file.ca,
    kept,
  ]
  return [
    '--quiet',
    '--no-prompt',
    '--cached-only',
    '--no-remote',
    '--allow-env',
    '--allow-sys=networkInterfaces',
    flag('--allow-read', read),
    flag('--allow-write', [kept, option('--out')]),
    flag('--allow-net', [serverHost()], (text) => text),
  ].filter((text) => text !== undefined)
}

/** A flag with its list; without one the right is not given at all. A comma in a path would be two paths. */
function flag(name, list, toItem = (path) => resolve(path)) {
  const items = list.filter((item) => typeof item === 'string' && item !== '').map(toItem)
  const unfit = items.find((item) => item.includes(','))
  if (unfit !== undefined) fail(`${unfit} holds a comma; choose another path`)
  return items.length === 0 ? undefined : `${name}=${items.join(',')}`
}

function environment() {
  const own = Object.entries(process.env).filter(([name]) => visible.test(name))
  return { ...Object.fromEntries(own), DENO_NO_UPDATE_CHECK: '1' }
}

function serverHost() {
  const text = option('--server') ?? env('KNOC_SERVER') ?? file.server
  if (typeof text !== 'string' || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return url.hostname === '' ? undefined : `${url.hostname}:${port}`
}

function readConfigFile() {
  if (configFile === undefined) return {}
  try {
    return Object(JSON.parse(readFileSync(configFile, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')))
  } catch {
    // Missing or damaged is told by the client.
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

function option(name) {
  const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`))
  if (at < 0) return undefined
  return args[at] === name ? args[at + 1] : args[at].slice(name.length + 1)
}

function env(name) {
  return process.env[name]?.trim() || undefined
}

function fail(text) {
  process.stderr.write(`knoc-client: ${text}\n`)
  process.exit(1)
}

#!/usr/bin/env node
// The bin of `npx knoc-client`: starts the client in Deno with the rights it needs: the network as far as the server,
// and the files it was given by name. Plain Node (18 or later), no dependency but the npm package `deno`.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { codeFolders, createLauncher, env, toHost, variables } from './launch/launcher.mjs'

/** All the client sees of the environment. Nobody else's variables reach it, so it may read what it has. */
const visible = /^(KNOC_SERVER|KNOC_CLIENT_.*|HOME|DENO_DIR|XDG_CACHE_HOME|TERM|NO_COLOR|LANG)$/

const { option, flag, start } = createLauncher('knoc-client')
const configFile = option('--config') ?? env('KNOC_CLIENT_CONFIG')
const file = readConfigFile()
const kept = option('--token-file') ?? file.tokenFile
const keyFile = option('--key-file') ?? env('KNOC_CLIENT_KEY_FILE') ?? file.keyFile
const ca = option('--ca') ?? env('KNOC_CLIENT_CA') ?? file.ca
const server = option('--server') ?? env('KNOC_SERVER') ?? file.server

start('client/main.ts', {
  // No other program, no other file, no other host.
  permissions: [
    '--allow-sys=networkInterfaces',
    flag('--allow-read', [...codeFolders(['agent', 'machines']), ...paths(configFile, keyFile, ca, kept)]),
    flag('--allow-write', paths(kept, option('--out'))),
    flag('--allow-net', [toHost(server)]),
  ],
  environment: variables(visible),
  stdio: ['ignore', 'inherit', 'inherit'],
})

function paths(...named) {
  return named.filter((path) => typeof path === 'string' && path !== '').map((path) => resolve(path))
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

#!/usr/bin/env node
// `npx knoc`: the server's command line.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { runDeno } from '../deploy/deno.mjs'

const require = createRequire(import.meta.url)

runDeno({
  // Foreign code may be loaded from one file only: the password hash's native half (decision 33).
  flags: [
    '--allow-env',
    '--allow-sys',
    '--allow-net',
    '--allow-read',
    '--allow-write',
    '--allow-run',
    `--allow-ffi=${nativeHash()}`,
  ],
  script: fileURLToPath(new URL('./main.ts', import.meta.url)),
  args: process.argv.slice(2),
})

/** @node-rs/argon2's library for this platform, the one file that is there. */
function nativeHash() {
  const suffix = process.platform === 'linux' ? '-gnu' : ''
  const name = `${process.platform}-${process.arch}${suffix}`
  return createRequire(require.resolve('@node-rs/argon2')).resolve(`@node-rs/argon2-${name}`)
}

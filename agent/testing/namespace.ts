import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getuid } from 'node:process'
import { requireProgram } from '#tests/support/debian.ts'

/** A network namespace of its own with the real kernel's sets; the host's firewall is never touched. */
export type TestNamespace = {
  name: string
  /** A folder that goes with it. */
  folder: string
  /** A program that is `ipset` inside the namespace: drivers take it for the real path. */
  ipset: string
  run: (...args: string[]) => string
  /** The entries of a set, address → seconds left. */
  entries: (set: string) => Map<string, number>
  remove: () => void
}

/** Whether tests with the real kernel can run here. */
export const hasKernelSets = (): boolean => {
  if (!requireProgram('ip') || !requireProgram('ipset')) return false
  if (getuid?.() === 0) return true
  process.stderr.write('SKIPPED: the kernel’s sets need root\n')
  return false
}

/** Makes a namespace; `remove` it when done. */
export function createNamespace(): TestNamespace {
  const name = `knoc-a-${randomBytes(4).toString('hex')}`
  const folder = mkdtempSync(join(tmpdir(), 'knoc-agent-'))
  execFileSync('ip', ['netns', 'add', name])
  const ipset = join(folder, 'ipset')
  writeFileSync(ipset, `#!/bin/sh\nexec ip netns exec ${name} ipset "$@"\n`)
  chmodSync(ipset, 0o755)
  const run = (...args: string[]): string => {
    const result = spawnSync(ipset, args, { encoding: 'utf8' })
    if (result.status !== 0) throw new Error(`ipset ${args.join(' ')}: ${result.stderr}`)
    return result.stdout
  }
  return {
    name,
    folder,
    ipset,
    run,
    entries: (set) =>
      new Map(Array.from(run('save', set).matchAll(/^add \S+ (\S+)(?: timeout (\d+))?/gm), toEntry)),
    remove: () => {
      spawnSync('ip', ['netns', 'del', name])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const toEntry = ([, address = '', seconds]: RegExpMatchArray): [string, number] => [
  address,
  Number(seconds ?? 0),
]

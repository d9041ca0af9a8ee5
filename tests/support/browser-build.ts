import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from './until.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const built = join(root, 'web/dist/bundle-hash.txt')
/** What the pages are made of. */
const sources = ['web', 'machines', 'server', 'package.json', 'package-lock.json']

/**
 * Builds portal and console unless what is there is newer than what they are made of, or in any case with `anew`; one
 * build at a time. As users get them: Vitest's NODE_ENV would put React's development build into them.
 */
export async function buildWeb({ anew = false } = {}): Promise<void> {
  const giveBack = await takeTurn()
  try {
    if (!anew && newest(sources) <= changedAt(built)) return
    const build = ['run', '-A', 'npm:vite', 'build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']
    const env = { ...process.env, NODE_ENV: 'production' }
    execFileSync(process.execPath, build, { cwd: root, stdio: 'inherit', env })
  } finally {
    giveBack()
  }
}

/** A folder is a lock: only one process can make it. That of a process that was killed is taken over. */
async function takeTurn(): Promise<() => void> {
  const lock = join(tmpdir(), `knoc-web-build-${Buffer.from(root).toString('base64url')}`)
  const owner = join(lock, 'pid')
  const tryIt = () => {
    try {
      mkdirSync(lock)
      writeFileSync(owner, String(process.pid))
      return true
    } catch {
      if (changedAt(lock) < Date.now() - 1_000 && !isAlive(owner))
        rmSync(lock, { recursive: true, force: true })
      return false
    }
  }
  await until('the web is built by another test', tryIt, { withinMs: 90_000, everyMs: 100 })
  return () => rmSync(lock, { recursive: true, force: true })
}

function isAlive(owner: string): boolean {
  try {
    return process.kill(Number(readFileSync(owner, 'utf8')), 0)
  } catch {
    return false
  }
}

function newest(paths: readonly string[]): number {
  return Math.max(...paths.map((path) => newestBelow(join(root, path))))
}

function newestBelow(path: string): number {
  if (!statSync(path).isDirectory()) return changedAt(path)
  const inside = readdirSync(path).filter((name) => name !== 'dist' && name !== 'node_modules')
  return Math.max(0, ...inside.map((name) => newestBelow(join(path, name))))
}

function changedAt(path: string): number {
  try {
    return statSync(path).mtimeMs
  } catch {
    return 0
  }
}

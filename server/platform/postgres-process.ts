import { execFile, spawn } from 'node:child_process'
import { open, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kill, platform } from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { PostgresUser } from './postgres-user.ts'

const execute = promisify(execFile)

/** A program to run as the user who may run PostgreSQL. */
export interface PostgresCommand {
  program: string
  args: string[]
  env: Record<string, string>
  user: PostgresUser
}

/**
 * Runs a short program to its end, without a shell.
 *
 * @throws Error with its last words when it fails.
 */
export function runToEnd({ program, args, env, user }: PostgresCommand): Promise<void> {
  const child = spawn(...toSpawn({ program, args, user }), {
    env,
    ...user.ids,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let words = ''
  child.stderr.on('data', (chunk) => {
    words = `${words}${chunk}`.slice(-2000)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} failed (${code}): ${words.trim()}`)),
    )
  })
}

/**
 * Starts a server in a process group of its own, so that Ctrl-C in the terminal does not reach it, and lets it
 * outlive us: its words go to a file, not to a pipe that dies with us.
 */
export async function startDetached(
  { program, args, env, user }: PostgresCommand,
  logFile: string,
): Promise<{ hasExited: () => boolean }> {
  const log = await open(logFile, 'a', 0o600)
  try {
    const child = spawn(...toSpawn({ program, args, user }), {
      env,
      ...user.ids,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    })
    let exited = false
    child.once('exit', () => {
      exited = true
    })
    child.once('error', () => {
      exited = true
    })
    child.unref()
    return { hasExited: () => exited }
  } finally {
    await log.close()
  }
}

/** What a postmaster says of itself in `postmaster.pid`. */
export interface Postmaster {
  pid: number
  socket: string
  isReady: boolean
}

/** The postmaster of a data folder if one really lives; a file left by a crash or a reboot counts for nothing. */
export async function findPostmaster(data: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0 || !(await isPostmasterOf(pid, data))) return undefined
  return { pid, socket: lines[4] ?? '', isReady: (lines[7] ?? '').startsWith('ready') }
}

/** Larger than any process id of Linux or macOS. */
const impossiblePid = 4_194_305

/**
 * Makes a folder startable whose postmaster is gone: PostgreSQL refuses as long as any process has the number
 * in its file, which after a reboot is somebody else. The number is replaced rather than the file removed, so
 * that PostgreSQL's own check for surviving backends (the shared memory key in that file) still holds.
 */
export async function clearStalePostmaster(data: string, socket: string): Promise<void> {
  const path = join(data, 'postmaster.pid')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text !== undefined) {
    const rest = text.split('\n').slice(1).join('\n')
    if (rest.trim() === '') await rm(path)
    else await writeFile(path, `${impossiblePid}\n${rest}`)
  }
  await rm(join(socket, '.s.PGSQL.5432.lock'), { force: true })
  await rm(join(socket, '.s.PGSQL.5432'), { force: true })
}

/** Ends a postmaster: at once but cleanly (SIGINT), and if that hangs without the clean part (SIGQUIT). */
export async function stopPostmaster(pid: number, data: string): Promise<void> {
  for (const [signal, seconds] of [
    ['SIGINT', 20],
    ['SIGQUIT', 10],
  ] as const) {
    if (!(await isPostmasterOf(pid, data))) return
    kill(pid, signal)
    for (let waited = 0; waited < seconds * 1000; waited += 20) {
      if (!(await isPostmasterOf(pid, data))) return
      await wait(20)
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop.`)
}

function toSpawn({ program, args, user }: Omit<PostgresCommand, 'env'>): [string, string[]] {
  const [first = program, ...rest] = [...user.prefix, program, ...args]
  return [first, rest]
}

/**
 * A postmaster's working folder is its data folder: that tells it from a stranger who got the same number.
 *
 * Asked of the system's own small programs: Deno lets a process with named rights read nothing below /proc.
 */
async function isPostmasterOf(pid: number, data: string): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (platform !== 'linux') return true
  const folder = await ask('readlink', `/proc/${pid}/cwd`)
  if (folder !== undefined) return folder === (await realpath(data))
  // Gone, or dead and not yet collected by its parent; only a forbidden look leaves the name to go by.
  return isAlive(pid) && (await ask('cat', `/proc/${pid}/comm`)) === 'postgres' && !(await isZombie(pid))
}

/** Dead already, and only waiting for its parent to notice. */
const isZombie = async (pid: number): Promise<boolean> =>
  /^State:\s+Z/m.test((await ask('cat', `/proc/${pid}/status`)) ?? '')

/** What a program says of one path; undefined when it fails. */
async function ask(program: string, path: string): Promise<string | undefined> {
  try {
    const { stdout } = await execute(program, [path], { timeout: 5000 })
    return stdout.trim()
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

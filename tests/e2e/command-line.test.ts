import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '#tests/support/redis.ts'

/** As a newcomer starts it: npm's Node, the launcher, Deno with the rights that the launcher names. */
const launcher = new URL('../../server/knoc.mjs', import.meta.url).pathname

let folder: string
let port: number

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'knoc-cli-'))
  port = await freePort()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Started = { child: ChildProcess; output: () => string; ended: Promise<number | null> }

function knoc(args: string[]): Started {
  const child = spawn('node', [launcher, ...args], {
    env: {
      ...process.env,
      KNOC_DATA_DIR: folder,
      KNOC_PORT: String(port),
      KNOC_HOST: '127.0.0.1',
      DATABASE_URL: '',
      REDIS_URL: '',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  return { child, output: () => text, ended: new Promise((resolve) => child.once('exit', resolve)) }
}

async function untilReady({ output }: Started): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/ready`, {
      signal: AbortSignal.timeout(2_000),
    }).catch(() => undefined)
    if (answer?.status === 200) return
    await wait(100)
  }
  throw new Error(`not ready:\n${output()}`)
}

const postmasterPid = (): number =>
  Number(readFileSync(join(folder, 'pg18/data/postmaster.pid'), 'utf8').split('\n')[0])

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('starts with nothing but its own rights, comes back after a SIGKILL, and stops cleanly', {
  timeout: 120_000,
}, async () => {
  const first = knoc(['serve'])
  await untilReady(first)
  expect(first.output()).toMatch(/First administrator: admin\nPassword: \S{15,}/)
  const database = postmasterPid()
  process.kill(-(first.child.pid ?? 0), 'SIGKILL')
  await first.ended
  expect(isAlive(database)).toBe(true)

  const second = knoc(['serve'])
  await untilReady(second)
  expect(postmasterPid()).toBe(database)
  expect(second.output()).not.toContain('First administrator')
  // Not child.kill: Deno would report an exit that has not happened yet.
  process.kill(second.child.pid ?? 0, 'SIGTERM')
  expect(await second.ended, second.output()).toBe(0)
  expect(second.output()).not.toContain('did not stop in time')
  // PostgreSQL takes its file away when it ends cleanly; its number may wait for a parent that collects it.
  expect(existsSync(join(folder, 'pg18/data/postmaster.pid'))).toBe(false)
})

it('explains itself, and says what it did not understand', { timeout: 60_000 }, async () => {
  for (const [args, code, text] of [
    [['--help'], 0, 'npx knoc <command>'],
    [['serve', '--help'], 0, 'KNOC_PUBLIC_URL'],
    [['licence', '--help'], 0, 'keygen'],
    [['frobnicate'], 2, 'There is no command "frobnicate"'],
    [['admin', 'reset'], 2, 'knoc admin reset USERNAME'],
    [['admin', 'reset', 'root', '--secondfactor'], 2, 'What is "--secondfactor"?'],
    [['migrate'], 2, 'DATABASE_URL is not set'],
  ] as const) {
    const run = knoc([...args])
    expect(await run.ended, args.join(' ')).toBe(code)
    expect(run.output()).toContain(text)
  }
})

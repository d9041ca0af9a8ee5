import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ApiFailure, createApiClient } from './api-client.ts'
import type { Arena } from './arena.ts'
import { checkJourney } from './check.ts'
import { openGateArena } from './gate-arena.ts'
import { canUseKernel, openKernelArena } from './kernel-arena.ts'
import { makeLicence } from './licence.ts'
import { type Running, start } from './run.ts'
import { type Account, people, seedAgent, seedKnoc, seedUsers, waitForAgent } from './seed.ts'

const help = `npm run demo [-- --check] [-- --gate] [-- --verbose]

Runs Knoc on this machine with everything it needs: database, server, portal and console, an agent, and a
protected service. Ctrl-C takes all of it away again.

  --check    do the journey by itself (blocked, granted, reachable, revoked, blocked), print one line of JSON
             last, and end: 0 when every step held, else 1
  --gate     use the script backend and the user-space gate even where the kernel could be used
  --verbose  show what server and agent log
  --help     this text
`

const launcher = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      gate: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (options.help) return say(help, 0)
  const undo: (() => Promise<unknown>)[] = []
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (!stopped.signal.aborted) console.log('\nTaking the demo down …')
      stopped.abort()
    })
  try {
    return await demo(options, undo, stopped.signal)
  } catch (error) {
    if (stopped.signal.aborted) return 130
    console.error(`The demo failed: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  } finally {
    for (const step of undo.toReversed()) await step().catch((error: unknown) => console.error(error))
  }
}

async function demo(
  options: { check: boolean; gate: boolean; verbose: boolean },
  undo: (() => Promise<unknown>)[],
  stopped: AbortSignal,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'knoc-demo-'))
  undo.push(() => rm(folder, { recursive: true, force: true }))
  const arena =
    !options.gate && (await canUseKernel()) ? await openKernelArena() : await openGateArena(folder)
  undo.push(arena.close)
  console.log(`Enforced by ${arena.description}.`)

  const { publicKey, licence } = await makeLicence(join(folder, 'licence'))
  const admin: Account = { userName: 'admin', name: 'Administrator', password: newPassword() }
  const users = people.map((person) => ({ ...person, password: newPassword() }))
  const server = startServer(arena, { folder, admin, publicKey, verbose: options.verbose })
  undo.push(server.stop)
  const console_ = await signInAdmin(arena, admin, server, stopped)
  const userIds = await seedUsers(console_, { licence, users })
  const { ID: agentId, Token } = await seedAgent(console_)
  const agent = startAgent(arena, { folder, token: Token, verbose: options.verbose })
  undo.push(agent.stop)
  await waitForAgent(console_, agentId)
  const knoc = await seedKnoc(console_, { arena, agentId, userIds })

  const [user] = users
  if (options.check && user !== undefined) {
    const journey = await checkJourney(arena, user, knoc.ID)
    console.log(JSON.stringify(journey))
    return journey.ok ? 0 : 1
  }
  say(invitation(arena, admin, users), 0)
  await Promise.race([aborted(stopped), server.ended, agent.ended])
  if (!stopped.aborted) throw new Error('server or agent ended; run again with --verbose to see why')
  return 0
}

function startServer(
  arena: Arena,
  options: { folder: string; admin: Account; publicKey: string; verbose: boolean },
): Running {
  return start(arena.place([process.execPath, ...denoRun, launcher('server/main.ts'), 'serve']), {
    env: {
      ...arena.serverEnv,
      KNOC_DATA_DIR: join(options.folder, 'server'),
      KNOC_HOST: arena.host,
      KNOC_PORT: new URL(arena.serverUrl).port,
      KNOC_PUBLIC_URL: arena.serverUrl,
      KNOC_ADMIN_USERNAME: options.admin.userName,
      KNOC_ADMIN_PASSWORD: options.admin.password,
      KNOC_LICENCE_PUBLIC_KEY: options.publicKey,
      KNOC_LOG_LEVEL: 'info',
      DATABASE_URL: '',
      REDIS_URL: '',
    },
    onLine: (line) => options.verbose && console.log(`server  ${line}`),
  })
}

function startAgent(arena: Arena, options: { folder: string; token: string; verbose: boolean }): Running {
  return start(arena.place(['node', launcher('agent/knoc-agent.mjs'), 'run']), {
    env: {
      ...arena.agentEnv,
      KNOC_SERVER: arena.serverUrl,
      KNOC_AGENT_TOKEN: options.token,
      KNOC_AGENT_DATA: join(options.folder, 'agent'),
    },
    onLine: (line) => options.verbose && console.log(`agent   ${line}`),
  })
}

const denoRun = ['run', '--quiet', '--no-prompt', '--allow-all']

/** Waits for the server and signs its administrator in. */
async function signInAdmin(arena: Arena, admin: Account, server: Running, stopped: AbortSignal) {
  const client = createApiClient(arena.serverUrl)
  for (let tries = 0; tries < 600 && !stopped.aborted; tries += 1) {
    if (server.child.exitCode !== null)
      throw new Error('the server did not start; run again with --verbose to see why')
    try {
      await client.request('POST', '/admin/login', { UserName: admin.userName, Password: admin.password })
      return client
    } catch (error) {
      if (error instanceof ApiFailure && error.status < 500) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  throw new Error('the server did not answer within a minute')
}

const newPassword = (): string => randomBytes(9).toString('base64url')

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

function invitation(arena: Arena, admin: Account, users: readonly Account[]): string {
  return `
Knoc runs. The door is closed: ${arena.doorUrl}

  Portal    ${arena.serverUrl}
${users.map((user) => `            ${user.userName} / ${user.password}`).join('\n')}
  Console   ${arena.serverUrl}/admin
            ${admin.userName} / ${admin.password}

Sign in to the portal, click Grant, and open the door's address again. Ctrl-C ends the demo.
`
}

function say(text: string, code: number): number {
  console.log(text)
  return code
}

process.exit(await main())

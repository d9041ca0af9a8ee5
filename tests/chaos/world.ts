import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { createDatabase } from '#server/platform/database.ts'
import { toClientConfig } from '#server/platform/database-connection.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { createLog } from '#server/platform/log.ts'
import { migrateToLatest } from '#server/platform/migrate.ts'
import { openPostgresFolder } from '#server/platform/postgres-folder.ts'
import { findPostmaster } from '#server/platform/postgres-process.ts'
import { migrateQueue } from '#server/platform/queue-postgres.ts'
import type { CuttableProxy, ProxyTarget } from '#tests/support/hands.ts'
import { addresses, aHost, type TestHost } from '#tests/support/host.ts'
import { startProgram, type TestProcess } from '#tests/support/process.ts'
import { aSite } from '#tests/support/site.ts'
import { waitForAgent } from '../../deploy/demo/seed.ts'
import { agentNames } from './agent-names.ts'
import { writeClockFile } from './clock-file.ts'
import { type BuiltDoor, familyOf, type PlannedDoor } from './doors/door-kind.ts'
import { doorKinds } from './doors/door-kinds.ts'
import type { PathEvent } from './path.ts'
import { openRelay, type Relay } from './relay.ts'

/** Where the two replicas listen. */
export const replicaPorts: readonly [number, number] = [8080, 8081]

const cables = { first: '10.78.0.1', second: '10.78.0.2' } as const
const proxyPorts = { relay: 9099, agent: 9100, databases: [9105, 9107], redis: 9106 } as const
const redisPort = 6379
const startWithinMs = 60_000

/** A door of the storm on its host. */
export type StormDoor = PlannedDoor & BuiltDoor & { host: TestHost }

/** An agent of the storm, with its host, its proxy, and the clock its process believes. */
export type StormAgent = {
  name: string
  id: string
  token: string
  data: string
  host: TestHost
  proxy: CuttableProxy
  /** Between the agent and its proxy. */
  relay: Relay
  /** Where its proxy leads while nobody interferes. */
  targets: ProxyTarget[]
  clockPath: string
  clock: { wallOffsetMs: number; bootId: string; bootedAtMs: number }
  process: TestProcess
  isUp: boolean
}

export type World = Awaited<ReturnType<typeof buildWorld>>

/**
 * Two hosts with an agent and doors each; on the first one two replicas and Redis as well. PostgreSQL is the storm's
 * own and reached through a proxy, as is Redis; so is the server by each agent.
 */
export async function buildWorld(options: {
  queue: 'postgres' | 'redis'
  doors: readonly PlannedDoor[]
  tell: (event: PathEvent) => void
}) {
  const folder = mkdtempSync(join(tmpdir(), 'knoc-chaos-'))
  const undo: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })]
  const close = async () => {
    for (const act of undo.toReversed()) await act().catch(() => undefined)
  }
  try {
    return { ...(await build({ ...options, folder, undo })), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What is built notes how it is taken down again in `undo`. */
async function build(
  options: Parameters<typeof buildWorld>[0] & { folder: string; undo: (() => Promise<unknown>)[] },
) {
  const { folder, undo } = options
  const log = createLog({ logLevel: 'fatal', replica: 'chaos' })
  const dataDir = join(folder, 'postgres')
  const postgres = await startEmbeddedPostgres({ dataDir, log, maxConnections: 200 })
  undo.push(postgres.stop)
  await migrateToLatest(postgres.connection)
  await migrateQueue(postgres.connection)
  const database = createDatabase(postgres.connection, { max: 4, applicationName: 'chaos' })

  const first = await aHost()
  undo.push(first.close)
  const second = await aHost()
  undo.push(second.close)
  const hosts = [first, second] as const
  await first.joinTo(second, cables.first, cables.second)
  const doors: StormDoor[] = []
  for (const plan of options.doors) {
    const host = hosts[plan.hostIndex]
    const built = await doorKinds[plan.kind].build(host, plan)
    undo.push(built.close)
    doors.push({ ...plan, ...built, host })
  }
  const redis = options.queue === 'redis' ? await startRedis(first) : undefined
  undo.push(async () => redis?.process.kill())
  const socketPath = join(postgres.connection.host, '.s.PGSQL.5432')
  const databaseProxies = await Promise.all(
    proxyPorts.databases.map((port) => first.hands.proxy(port, [socketPath])),
  )
  const redisProxy = redis === undefined ? undefined : await first.hands.proxy(proxyPorts.redis, [redisPort])

  const { user, password, database: name } = postgres.connection
  const databaseUrl = (port: number): string =>
    `postgres://${user}:${encodeURIComponent(password.expose())}@127.0.0.1:${proxyPorts.databases[replicaPorts.indexOf(port)]}/${name}`
  const site = await aSite(first, {
    everywhere: true,
    database: { ...database, connection: postgres.connection, drop: () => database.close() },
    env: {
      DATABASE_URL: databaseUrl(replicaPorts[0]),
      ...(redis !== undefined && { REDIS_URL: `redis://127.0.0.1:${proxyPorts.redis}` }),
    },
  })
  undo.push(site.close)
  const replicas = new Map<number, TestProcess>([[replicaPorts[0], site.server]])
  replicas.set(replicaPorts[1], await startServer(replicaPorts[1]))
  const agents: StormAgent[] = []
  for (const [index, host] of hosts.entries()) agents.push(await anAgent(index, host))

  /** Each replica has a way of its own to the database. */
  function startServer(port: number) {
    return site.startServer(port, `r${port}`, { DATABASE_URL: databaseUrl(port) })
  }

  async function anAgent(index: number, host: TestHost): Promise<StormAgent> {
    const agentName = agentNames[index] ?? ''
    const targets: ProxyTarget[] = replicaPorts.map((port) =>
      index === 0 ? port : `${cables.first}:${port}`,
    )
    const proxy = await host.hands.proxy(proxyPorts.agent, targets)
    const relay = await openRelay(host.place, { port: proxyPorts.relay, to: proxyPorts.agent })
    undo.push(async () => relay.stop())
    const registered = await site.registerAgent(agentName)
    const allowed = doors.filter((door) => door.agent === agentName).map(({ agentFile }) => agentFile)
    writeFileSync(join(registered.data, 'agent.json'), JSON.stringify(Object.assign({}, ...allowed)))
    const clock = { wallOffsetMs: 0, bootId: `boot-${index}-0`, bootedAtMs: Date.now() - 3_600_000 }
    const clockPath = join(folder, `${agentName}.clock`)
    const ways = { proxy, relay, targets }
    const part = { name: agentName, ...registered, host, ...ways, clockPath, clock, isUp: false }
    const agent = Object.assign(part, { process: site.server })
    startAgent(agent)
    await waitForAgent(site.console, agent.id)
    return agent
  }

  function startAgent(agent: StormAgent): void {
    writeClockFile(agent.clockPath, agent.clock)
    mkdirSync(runFolderOf(agent), { recursive: true })
    agent.process = site.startAgent(agent, {
      port: proxyPorts.relay,
      on: agent.host,
      quick: true,
      program: 'tests/chaos/agent.ts',
      env: { CHAOS_CLOCK: agent.clockPath, KNOC_AGENT_RUN_DIR: runFolderOf(agent) },
    })
    const started = agent.process
    let isUp = false
    started.hear((line) => {
      const state = /"state":"([^"]+|.*?\\"[^"]*)"/.exec(line)?.[1]
      if (state === undefined || agent.process !== started) return
      // Its first word about the link is said after it has put its lists in order.
      if (!isUp) options.tell({ type: 'agent.up', agent: agent.name })
      isUp = true
      const isLinked = state === 'linked' || state.includes('moving')
      options.tell({ type: isLinked ? 'agent.linked' : 'agent.unlinked', agent: agent.name })
    })
    agent.isUp = true
  }

  function setClock(agent: StormAgent, clock: StormAgent['clock']): void {
    agent.clock = clock
    writeClockFile(agent.clockPath, clock)
  }

  async function killAgent(agent: StormAgent): Promise<void> {
    agent.isUp = false
    options.tell({ type: 'agent.down', agent: agent.name })
    await agent.process.kill()
  }

  async function killReplica(port: number): Promise<void> {
    const running = replicas.get(port)
    replicas.delete(port)
    await running?.kill()
  }

  /** As whatever supervises it would: it ends with words when the database is away as it starts, and is tried again. */
  async function startReplica(port: number): Promise<void> {
    for (const deadline = Date.now() + startWithinMs; !replicas.has(port); await wait(300)) {
      const started = await startServer(port).catch((error: unknown) => {
        if (Date.now() > deadline) throw error
      })
      if (started !== undefined) replicas.set(port, started)
    }
  }

  /** SIGKILL for the postmaster; it is started again half a second after its death. */
  async function killPostgres(): Promise<void> {
    const postmaster = await findPostmaster((await openPostgresFolder(dataDir)).data)
    if (postmaster !== undefined) process.kill(postmaster.pid, 'SIGKILL')
  }

  async function asSuperuser(...statements: string[]): Promise<void> {
    const client = new Client(
      toClientConfig({ ...postgres.connection, user: 'postgres', database: 'postgres' }),
    )
    client.on('error', () => undefined)
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** Resolves when the database takes writes again. */
  async function untilWritable(): Promise<void> {
    for (;;) {
      const isIn = await asSuperuser(
        'create table if not exists chaos_was_here ()',
        'drop table chaos_was_here',
      ).then(
        () => true,
        () => false,
      )
      if (isIn) return
      await wait(50)
    }
  }

  return {
    site,
    hosts,
    agents,
    replicas,
    redis,
    redisProxy,
    databaseProxies,
    /** Replicas that balancers leave out. */
    lame: new Set<number>(),
    databaseTargets: [socketPath] as ProxyTarget[],
    redisTargets: [redisPort] as ProxyTarget[],
    doors,
    startAgent,
    killAgent,
    setClock,
    killReplica,
    startReplica,
    killPostgres,
    asSuperuser,
    untilWritable,
    runFolderOf,
    /** To be called before everything is taken down. */
    atEnd: (act: () => void) => void undo.push(async () => act()),
  }
}

/** A folder as /run is: gone with each boot. */
const runFolderOf = (agent: Pick<StormAgent, 'data'>): string => `${agent.data}.run`

async function startRedis(host: TestHost) {
  const start = async () => {
    const redis = startProgram(
      host.place([
        'redis-server',
        ...['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
        ...['--maxmemory-policy', 'noeviction'],
      ]),
      {},
    )
    await redis.said(/Ready to accept connections/)
    return redis
  }
  const redis = {
    process: await start(),
    restart: async () => {
      await redis.process.kill()
      redis.process = await start()
    },
    flush: () => host.hands.say('127.0.0.1', redisPort, 'FLUSHALL\r\nQUIT\r\n'),
  }
  return redis
}

/** Where doors are, as seen from an address outside. */
export const doorHostFor = (from: string): string =>
  familyOf(from) === 4 ? addresses.host4 : addresses.host6

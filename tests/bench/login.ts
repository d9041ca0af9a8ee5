import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateEverything } from '#server/open-database.ts'
import { createDatabase, type Database } from '#server/platform/database.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { createLog } from '#server/platform/log.ts'
import { createPasswordHasher } from '#server/platform/password.ts'
import { freePort } from '#tests/support/redis.ts'
import { startServerProcess, toDatabaseUrl } from '#tests/support/running-server.ts'
import { cpuMsOf } from './cpu-time.ts'
import { percentiles } from './percentiles.ts'

const password = 'a password of benches 1'

/** A sign-in may cost this much more than its password check: at least so many of a bare check's per second. */
const leastRatio = 0.8

const rounds = 10
/** Not counted: each of the server's connections plans a statement afresh five times, and the code gets compiled. */
const warmUp = 1000
const cores = availableParallelism()
/** Requests under way at once: enough that every core has a password to check while others wait for a commit. */
const atOnce = cores * 4

/**
 * Complete sign-ins a second through the real server (HTTP, counters, argon2id, session, cookie, audit), beside
 * nothing but argon2id at the same cost, in turns on the same cores. Database, server and browsers share those cores.
 * Exit code 1 when the sign-ins reach less than 80 % of the bare checks.
 *
 * @param n sign-ins, over all rounds; as many bare checks.
 */
export async function runLoginBench({ n }: { n: number }): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'knoc-bench-'))
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    log: createLog({ logLevel: 'error', replica: 'bench' }),
  })
  const database = createDatabase(postgres.connection, { max: 1, applicationName: 'bench' })
  try {
    await migrateEverything(postgres.connection)
    const perRound = Math.max(1, Math.round(n / rounds))
    const hash = await createPasswordHasher().hashPassword(password)
    const names = await seedUsers(database, { count: warmUp + perRound * rounds, hash })
    const port = await freePort()
    const server = await startServerProcess({
      place: (command) => command,
      env: {
        KNOC_DATA_DIR: join(folder, 'server'),
        KNOC_HOST: '127.0.0.1',
        KNOC_PORT: String(port),
        KNOC_PUBLIC_URL: `http://127.0.0.1:${port}`,
        KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        KNOC_LOG_LEVEL: 'error',
        DATABASE_URL: toDatabaseUrl(postgres.connection),
      },
    })
    try {
      const ratio = await compare({
        signIn: createBrowsers(port),
        names,
        hash,
        perRound,
        serverPid: server.pid,
      })
      await checkSignedIn(database, names.length)
      return ratio >= leastRatio ? 0 : 1
    } finally {
      await server.stop()
    }
  } finally {
    await database.close()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Rounds of both in turns, so that what else the machine does meets both. */
async function compare({
  signIn,
  names,
  hash,
  perRound,
  serverPid,
}: {
  signIn: (userName: string) => Promise<void>
  names: readonly string[]
  hash: string
  perRound: number
  serverPid: number
}): Promise<number> {
  const { verifyPassword } = createPasswordHasher(cores)
  const checkBare = async () => {
    if (!(await verifyPassword(hash, password))) throw new Error('the password is not right')
  }
  const signIns: number[] = []
  const bares: number[] = []
  const ratios: number[] = []
  const cpu = { signIns: noCpu, bares: noCpu }
  await ratePerCore(names.slice(0, warmUp), signIn)
  for (let round = 0; round < rounds; round += 1) {
    const people = names.slice(warmUp + round * perRound, warmUp + (round + 1) * perRound)
    const measure = {
      signIns: () => measured(serverPid, () => ratePerCore(people, signIn)),
      bares: () => measured(serverPid, () => ratePerCore(people, checkBare)),
    }
    const order = round % 2 === 0 ? (['signIns', 'bares'] as const) : (['bares', 'signIns'] as const)
    const rates = { signIns: 0, bares: 0 }
    for (const kind of order) {
      const { rate, used } = await measure[kind]()
      rates[kind] = rate
      cpu[kind] = cpu[kind].map((ms, index) => ms + (used[index] ?? 0))
    }
    signIns.push(rates.signIns)
    bares.push(rates.bares)
    ratios.push(rates.signIns / rates.bares)
  }
  const median = (samples: readonly number[]) => percentiles(samples).p50
  const ratio = median(ratios)
  const line = {
    bench: 'login',
    what: 'sign-ins per second per core',
    cores,
    n: perRound * rounds,
    perCore: median(signIns),
    bareArgon2idPerCore: median(bares),
    ratio,
    ...toCpuFigures(cpu, perRound * rounds),
    ratios: ratios.map((of) => Math.round(of * 100) / 100),
    least: leastRatio,
  }
  console.log(JSON.stringify(line))
  return ratio
}

/** Processor milliseconds of the server, of the database, and of this process. */
type Cpu = readonly number[]
const noCpu: Cpu = [0, 0, 0]

async function measured(serverPid: number, run: () => Promise<number>): Promise<{ rate: number; used: Cpu }> {
  const look = (): Cpu => {
    const { user, system } = process.cpuUsage()
    const [server, all, own] = [cpuMsOf(serverPid), cpuMsOf(process.pid), (user + system) / 1000]
    return [server, all - server - own, own]
  }
  const before = look()
  const rate = await run()
  return { rate, used: look().map((ms, index) => ms - (before[index] ?? 0)) }
}

/** What one of each costs the processor, and the ratio that leaves out what else the machine does. */
function toCpuFigures({ signIns, bares }: Record<'signIns' | 'bares', Cpu>, n: number) {
  const each = (ms = Number.NaN) => Math.round((ms / n) * 100) / 100
  const [server, database, browsers] = signIns
  const sum = (cpu: Cpu) => cpu.reduce((total, ms) => total + ms, 0)
  const cpuMs = {
    server: each(server),
    database: each(database),
    browsers: each(browsers),
    bare: each(bares[2]),
  }
  return { cpuMs, cpuRatio: Math.round((sum(bares) / sum(signIns)) * 100) / 100 }
}

/** All of them done, so many at once; how many a second and core. */
async function ratePerCore<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<number> {
  const startedAt = performance.now()
  const left = items.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await work(item)
    }),
  )
  return items.length / ((performance.now() - startedAt) / 1000) / cores
}

/** Local users with the same password, one for each sign-in: nobody's second one ends a first. */
async function seedUsers(
  { db }: Database,
  { count, hash }: { count: number; hash: string },
): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `bench.${index}`)
  const rows = names.map((userName) => ({ name: userName, userName, authType: 'local', passwordHash: hash }))
  for (let start = 0; start < rows.length; start += 1000)
    await db
      .insertInto('users')
      .values(rows.slice(start, start + 1000))
      .execute()
  return names
}

/** Signs somebody in as a browser without cookies does, over connections that stay open. */
function createBrowsers(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }

  return function signIn(userName: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: '/api/login', method: 'POST', headers, agent }
      const asking = request(options, (response) => {
        const cookies = response.headers['set-cookie'] ?? []
        const isIn = response.statusCode === 200 && cookies.some((cookie) => cookie.startsWith('knoc_user='))
        const end = () =>
          isIn ? resolve() : reject(new Error(`a sign-in was answered ${response.statusCode}`))
        response.resume().once('end', end)
      })
      asking.once('error', reject)
      asking.end(JSON.stringify({ UserName: userName, Password: password, KioskMode: false }))
    })
  }
}

/** Nothing was counted that left no session and no audit event. */
async function checkSignedIn({ pool }: Database, wanted: number): Promise<void> {
  const { rows } = await pool.query<{ sessions: number; events: number }>(`
    select (select count(*)::int from sessions where stage = 'complete' and ended_at is null) as sessions,
      (select count(*)::int from audit_events where kind = 'LoginUser') as events`)
  const [{ sessions, events } = { sessions: 0, events: 0 }] = rows
  if (sessions !== wanted || events !== wanted)
    throw new Error(`${wanted} sign-ins left ${sessions} sessions and ${events} events`)
}

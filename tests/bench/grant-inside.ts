import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createIpsetPipe, type IpsetPipe } from '#agent/drivers/ipset-pipe.ts'
import { migrateEverything } from '#server/open-database.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { createLog } from '#server/platform/log.ts'
import type { UserStatus } from '#server/status/status.schema.ts'
import { findProgram } from '#tests/support/debian.ts'
import { redisPort, startRedis } from '#tests/support/redis-on-host.ts'
import { startAgentProcess, startServerProcess, toDatabaseUrl } from '#tests/support/running-server.ts'
import { type ApiClient, createApiClient } from '../../deploy/demo/api-client.ts'
import { makeLicence } from '../../deploy/demo/licence.ts'
import { run } from '../../deploy/demo/run.ts'
import { people, seedAgent, seedKnoc, seedUsers, waitForAgent } from '../../deploy/demo/seed.ts'
import { openFloor } from './floor.ts'
import { percentiles } from './percentiles.ts'

/**
 * The grant bench, run inside of a namespace: server, agent and clicks are processes of their own here, everything
 * goes over loopback, and what counts is when the kernel's set changes. Arguments: samples, a folder.
 */
const [samples = '200', folder = ''] = process.argv.slice(2)
const n = Number(samples)
const set = 'bench4'
/** Where the user is. */
const address = '10.9.0.1'
const place = (command: readonly string[]) => command
const password = 'a password of benches 1'
const serverUrl = 'http://127.0.0.1:8080'

const log = createLog({ logLevel: 'error', replica: 'bench' })
const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log })
let code = 0
try {
  await migrateEverything(postgres.connection)
  await run('ipset', ['create', set, 'hash:ip', 'family', 'inet', 'timeout', '0'])
  const licence = await makeLicence(join(folder, 'licence'))
  await benchOn('postgres', licence)
  if (findProgram('redis-server') === undefined) console.error('SKIPPED: Redis is not installed')
  else await benchOn('redis', licence)
} catch (error) {
  console.error(error)
  code = 1
} finally {
  await postgres.stop()
}
process.exit(code)

async function benchOn(
  queue: 'postgres' | 'redis',
  { publicKey, licence }: Awaited<ReturnType<typeof makeLicence>>,
) {
  const redisUrl = `redis://127.0.0.1:${redisPort}`
  const redis = queue === 'redis' ? await startRedis({ place }) : undefined
  const server = await startServerProcess({
    place,
    env: {
      KNOC_DATA_DIR: join(folder, 'server'),
      KNOC_HOST: '127.0.0.1',
      KNOC_PORT: '8080',
      KNOC_PUBLIC_URL: serverUrl,
      KNOC_ADMIN_USERNAME: 'root',
      KNOC_ADMIN_PASSWORD: password,
      KNOC_LICENCE_PUBLIC_KEY: publicKey,
      KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      KNOC_TRUSTED_PROXIES: '127.0.0.1',
      KNOC_LOG_LEVEL: 'warn',
      DATABASE_URL: toDatabaseUrl(postgres.connection),
      REDIS_URL: redis === undefined ? '' : redisUrl,
    },
  })
  void server.ended.then((ended) => console.error('server ended', ended, server.lines.slice(-30).join('\n')))
  const pipe = createIpsetPipe({ ipset: findProgram('ipset') ?? 'ipset' })
  const { agent, user, aclId } = await seed(queue, licence)
  const floor = openFloor({
    connection: postgres.connection,
    redisUrl: redis && redisUrl,
    pipe,
    set,
    serverUrl,
  })
  try {
    await measure(queue, { user, aclId, pipe, floor })
  } finally {
    await floor.close()
    pipe.stop()
    await agent.stop()
    await server.stop()
    await redis?.kill()
  }
}

/** An agent with a knoc, and a user who may have it; the second queue finds the first one's people there already. */
async function seed(queue: string, licence: string) {
  const admin = createApiClient(serverUrl)
  await admin.request('POST', '/admin/login', { UserName: 'root', Password: password })
  const [person] = people
  const userName = `${person.userName}-${queue}`
  const userIds = await seedUsers(admin, { licence, users: [{ ...person, userName, password }] })
  const { ID: agentId, Token } = await seedAgent(admin, `bench-${queue}`)
  const data = join(folder, `agent-${queue}`)
  mkdirSync(data, { mode: 0o700 })
  const agent = startAgentProcess({ place, server: serverUrl, data, token: Token })
  await waitForAgent(admin, agentId)
  const arena = { doorUrl: '', knoc: { backend: { ipset: {} }, acl: { ipset: { V4SetName: set } } } }
  const { ID: aclId } = await seedKnoc(admin, { arena, agentId, userIds })
  const user = createApiClient(serverUrl, (url, init) => {
    const headers = new Headers(init.headers)
    headers.set('X-Forwarded-For', address)
    return fetch(url, { ...init, headers })
  })
  await user.request('POST', '/login', { UserName: userName, Password: password })
  return { agent, user, aclId }
}

async function measure(
  queue: string,
  {
    user,
    aclId,
    pipe,
    floor,
  }: { user: ApiClient; aclId: string; pipe: IpsetPipe; floor: ReturnType<typeof openFloor> },
): Promise<void> {
  const opened: number[] = []
  const closed: number[] = []
  const answered: number[] = []
  const floors: Awaited<ReturnType<typeof floor.sample>>[] = []
  const warmUp = Math.min(30, n)
  for (let round = -warmUp; round < n; round += 1) {
    const open = await click(() => user.request('POST', '/grant', { ACLID: aclId, IPs: [] }), true)
    await untilStatus(0)
    const close = await click(() => user.request('DELETE', `/sessions/current/granted-acls/${aclId}`), false)
    await untilStatus(9)
    const sample = await floor.sample()
    if (round < 0) continue
    opened.push(open.seenMs)
    closed.push(close.seenMs)
    answered.push(open.answeredMs)
    floors.push(sample)
  }
  const floorOf = (part: keyof (typeof floors)[number]) => percentiles(floors.map((sample) => sample[part]))
  const line = (what: string, figures: Record<string, unknown>) =>
    console.log(JSON.stringify({ bench: 'grant', queue, what, ...figures }))
  const base = floorOf('totalMs')
  const against = (samplesMs: number[]) => {
    const figures = percentiles(samplesMs)
    return { ...figures, floorP50: base.p50, ratio: Math.round((figures.p50 / base.p50) * 100) / 100 }
  }
  line('click to visible in the kernel', against(opened))
  line('click to closed', against(closed))
  line('click to answer', percentiles(answered))
  line('floor', base)
  for (const part of ['httpMs', 'commitMs', 'pickMs', 'addMs'] as const) line(`floor: ${part}`, floorOf(part))

  /** From the request's start until the kernel shows it, looked at every millisecond on an open ipset process. */
  async function click(request: () => Promise<unknown>, wanted: boolean) {
    const startedAt = performance.now()
    const answering = request().then(() => performance.now() - startedAt)
    while ((await isMember()) !== wanted) {
      if (performance.now() - startedAt > 10_000) throw new Error('the click did not reach the kernel')
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const seenMs = performance.now() - startedAt
    return { seenMs, answeredMs: await answering }
  }

  async function isMember(): Promise<boolean> {
    const [lines = []] = await pipe.run([[`test ${set} ${address}`]])
    return lines.some((said) => said.includes('is in set'))
  }

  async function untilStatus(wanted: number): Promise<void> {
    for (let tries = 0; tries < 2_000; tries += 1) {
      const { ACLs } = await user.request<UserStatus>('GET', '/status')
      if (ACLs.some((acl) => acl.ACLID === aclId && acl.Status === wanted)) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error(`the status did not become ${wanted}`)
  }
}

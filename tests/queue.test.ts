import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue as BullQueue, createPostgresBackend, type PostgresConnectionOptions } from 'bullmq'
import { Redis } from 'ioredis'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type DatabaseConnection, toClientConfig } from '#server/platform/database-connection.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { createLog } from '#server/platform/log.ts'
import { createQueue, defineJob, queueName } from '#server/platform/queue.ts'
import { migrateQueue } from '#server/platform/queue-postgres.ts'
import type { Secret } from '#server/platform/secret.ts'
import { canRunRedis, type TestRedis, testRedis } from '#tests/support/redis.ts'

const log = createLog({ logLevel: 'silent', replica: 'test' })
const nudge = defineJob('grant', z.object({ agent: z.string(), count: z.number().default(1) }))
const other = defineJob('revoke', z.object({ agent: z.string() }))
const jobs = [nudge, other] as const

/** A click is answered within this time though the queue is away. */
const answeredMs = 1_000
/** What the queue takes of it: it gives up after 200 ms (decision 23). */
const patientMs = 300

/** A database server that a test may stop, start and cut connections of. */
interface Service {
  redisUrl?: Secret
  databaseConnection: DatabaseConnection
  stop: () => Promise<void>
  start: () => Promise<void>
  /** Cuts every connection of the queue, the one that LISTENs or blocks included. */
  cut: () => Promise<void>
  remove: () => Promise<void>
  /** A bare BullMQ queue, to leave things behind in. */
  bare: (name: string) => Promise<{ queue: BullQueue; close: () => Promise<void> }>
}

const nowhere: DatabaseConnection = { url: { expose: () => 'postgres://nowhere.invalid/none' } as Secret }

async function redisService(): Promise<Service> {
  const redis: TestRedis = await testRedis()
  return {
    redisUrl: redis.url,
    databaseConnection: nowhere,
    stop: redis.stop,
    start: redis.start,
    remove: redis.stop,
    cut: async () => {
      const client = new Redis(redis.url.expose())
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      client.disconnect()
    },
    bare: async (name) => {
      const connection = new Redis(redis.url.expose(), { maxRetriesPerRequest: null })
      const queue = new BullQueue(name, { connection })
      queue.on('error', () => undefined)
      return {
        queue,
        close: async () => {
          await queue.close()
          connection.disconnect()
        },
      }
    },
  }
}

async function postgresService(): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'knoc-queue-'))
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir, log })
  const { connection } = server
  await migrateQueue(connection)
  return {
    databaseConnection: connection,
    stop: () => server.stop(),
    start: async () => {
      server = await startEmbeddedPostgres({ dataDir, log })
    },
    remove: async () => {
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
    cut: async () => {
      const client = new Client(toClientConfig({ ...connection, user: 'postgres' }))
      await client.connect()
      await client.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'knoc'")
      await client.end()
    },
    bare: async (name) => {
      const pool = new Pool({ ...toClientConfig(connection), options: '-c search_path=bullmq' })
      pool.on('error', () => undefined)
      const shared = pool as unknown as PostgresConnectionOptions
      const queue = new BullQueue(name, { connection: shared }, createPostgresBackend)
      queue.on('error', () => undefined)
      return {
        queue: queue as unknown as BullQueue,
        close: async () => {
          await queue.close()
          await pool.end()
        },
      }
    },
  }
}

const isRedisHere = await canRunRedis()

describe.each([
  ['Redis', redisService, isRedisHere],
  ['PostgreSQL', postgresService, true],
] as const)('the queue on %s', (kind, startService, isHere) => {
  let service: Service
  let replicas = 0
  beforeAll(async () => {
    if (isHere) service = await startService()
  })
  afterAll(async () => {
    if (isHere) await service.remove()
  })

  /** A queue of a replica, and what its worker has done. */
  function aQueue(work: (data: { agent: string; count: number }) => Promise<void> = () => Promise.resolve()) {
    replicas += 1
    const replica = `r${replicas}`
    const { redisUrl, databaseConnection } = service
    const queue = createQueue({ replica, jobs, redisUrl, databaseConnection, log })
    const done: string[] = []
    onTestFinished(() => queue.close())
    const process = () =>
      queue.process({
        grant: async (data) => {
          await work(data)
          done.push(data.agent)
        },
        revoke: (data) => Promise.resolve(void done.push(`-${data.agent}`)),
      })
    return { queue, replica, done, process }
  }

  const isUp = (queue: { health: () => Promise<{ degraded: string | null }> }) =>
    expect.poll(async () => (await queue.health()).degraded, { timeout: 5000 }).toBe(null)

  /** Nudges until one is done, as the product does every second while something is unsettled. */
  async function flows({ queue, replica, done }: ReturnType<typeof aQueue>, agent: string) {
    await expect
      .poll(
        async () => {
          await queue.add(nudge, replica, { agent })
          return done.includes(agent)
        },
        { timeout: 15_000, interval: 200 },
      )
      .toBe(true)
  }

  it.skipIf(!isHere)('carries typed nudges from one replica to another', async () => {
    const [from, to] = [aQueue(), aQueue()]
    await Promise.all([isUp(from.queue), isUp(to.queue)])
    to.process()
    expect(await from.queue.add(nudge, to.replica, { agent: 'a' })).toBe(true)
    expect(await from.queue.add(other, to.replica, { agent: 'b' })).toBe(true)
    await expect.poll(() => [...to.done].sort()).toEqual(['-b', 'a'])
    expect(from.done).toEqual([])
    expect(await to.queue.health()).toMatchObject({ degraded: null, failedAdds: 0 })
  })

  it.skipIf(!isHere)(
    'refuses a payload that does not fit, and drops one that somebody else put there',
    async () => {
      const one = aQueue()
      await isUp(one.queue)
      await expect(one.queue.add(nudge, one.replica, { agent: 7 } as never)).rejects.toThrow(
        'expected string',
      )
      await expect(one.queue.add(nudge, one.replica, { agent: 'a' }, { jobId: 'a:1' })).rejects.toThrow(
        'no id',
      )
      const { queue, close } = await service.bare(queueName(one.replica))
      await queue.add('grant', { agent: 7 })
      await queue.add('unknown', {})
      one.process()
      await one.queue.add(nudge, one.replica, { agent: 'good' })
      await expect.poll(() => one.done).toEqual(['good'])
      await expect.poll(() => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0)
      await close()
    },
  )

  it.skipIf(!isHere)('does the same id again once it has ended, well or not', async () => {
    let failures = 1
    const one = aQueue(() => (failures-- > 0 ? Promise.reject(new Error('device away')) : Promise.resolve()))
    await isUp(one.queue)
    one.process()
    const again = () => one.queue.add(nudge, one.replica, { agent: 'a' }, { jobId: 'entry-7' })
    await again()
    await expect.poll(() => one.done).toEqual(['a'])
    await expect
      .poll(async () => {
        await again()
        return one.done.length
      })
      .toBeGreaterThan(2)
  })

  it.skipIf(!isHere)('keeps nothing of what has ended', async () => {
    const one = aQueue()
    await isUp(one.queue)
    one.process()
    const { queue, close } = await service.bare(queueName(one.replica))
    for (let count = 0; count < 20; count += 1)
      await one.queue.add(nudge, one.replica, { agent: String(count) })
    await expect.poll(() => one.done.length).toBe(20)
    await expect
      .poll(() => queue.getJobCountByTypes('completed', 'failed', 'waiting', 'active', 'delayed'))
      .toBe(0)
    await close()
  })

  it.skipIf(!isHere)(
    'refuses to start with a job that has no handler, a handler without a job, two of a name, or twice',
    () => {
      const { queue, process } = aQueue()
      const start = (handlers: object) => () => queue.process(handlers as never)
      expect(start({ grant: () => undefined })).toThrow('revoke has no handler')
      expect(start({ grant: () => undefined, revoke: () => undefined, stray: () => undefined })).toThrow(
        'no job stray',
      )
      process()
      expect(process).toThrow('already')
      const twice = { replica: 'x', jobs: [nudge, nudge], databaseConnection: nowhere, log }
      expect(() => createQueue(twice)).toThrow('Two jobs')
    },
  )

  it.skipIf(!isHere)(
    'flows again after every connection was cut, the listening one included',
    async () => {
      const one = aQueue()
      await isUp(one.queue)
      one.process()
      await flows(one, 'before')
      await service.cut()
      await flows(one, 'after')
      await service.cut()
      await flows(one, 'again')
    },
    40_000,
  )

  it.skipIf(!isHere)(
    'says no within 300 ms while the server is away, and flows again when it is back',
    async () => {
      const one = aQueue()
      await isUp(one.queue)
      one.process()
      await flows(one, 'before')
      const { failedAdds } = await one.queue.health()
      await service.stop()
      const tookMs: number[] = []
      for (let round = 0; round < 5; round += 1) {
        const started = performance.now()
        expect(await one.queue.add(nudge, one.replica, { agent: 'lost' })).toBe(false)
        tookMs.push(performance.now() - started)
        await new Promise((resolve) => setTimeout(resolve, 120))
      }
      // The quickest tells the queue's own patience, whatever else this machine does.
      expect(Math.min(...tookMs)).toBeLessThan(patientMs)
      expect(Math.max(...tookMs)).toBeLessThan(answeredMs)
      expect(await one.queue.health()).toMatchObject({ degraded: 'down', failedAdds: failedAdds + 5 })
      await service.start()
      await flows(one, 'after')
    },
    60_000,
  )

  it.skipIf(!isHere)(
    'starts although the server comes up later',
    async () => {
      await service.stop()
      const one = aQueue()
      one.process()
      const started = performance.now()
      expect(await one.queue.add(nudge, one.replica, { agent: 'lost' })).toBe(false)
      expect(performance.now() - started).toBeLessThan(answeredMs)
      await service.start()
      await flows(one, 'after')
    },
    60_000,
  )

  it.skipIf(!isHere || kind === 'PostgreSQL')('says that an evicting Redis may lose jobs', async () => {
    const one = aQueue()
    await isUp(one.queue)
    const client = new Redis(service.redisUrl?.expose() ?? '')
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
    expect(await one.queue.health()).toMatchObject({ degraded: 'evicting' })
    await client.config('SET', 'maxmemory-policy', 'noeviction')
    expect(await one.queue.health()).toMatchObject({ degraded: null })
    client.disconnect()
  })

  it.skipIf(!isHere)('works although somebody died in the middle of forgetting it', async () => {
    const one = aQueue()
    await isUp(one.queue)
    const { queue, close } = await service.bare(queueName(one.replica))
    await queue.pause()
    await close()
    one.process()
    await flows(one, 'after')
  })

  it.skipIf(!isHere)('forgets what waits for a replica that will not come back', async () => {
    const one = aQueue()
    await isUp(one.queue)
    expect(await one.queue.add(nudge, 'gone', { agent: 'a' })).toBe(true)
    const { queue, close } = await service.bare(queueName('gone'))
    expect(await queue.getJobCountByTypes('waiting')).toBe(1)
    await one.queue.forget('gone')
    expect(await queue.getJobCountByTypes('waiting')).toBe(0)
    await close()
  })
})

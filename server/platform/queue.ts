import type { z } from 'zod'
import type { DatabaseConnection } from './database-connection.ts'
import type { Log } from './log.ts'
import type { BullQueue, Handle, QueueBackend } from './queue-backend.ts'
import { createPostgresQueues } from './queue-postgres.ts'
import { createRedisQueues } from './queue-redis.ts'
import { superviseWorker } from './queue-worker.ts'
import type { Secret } from './secret.ts'
import { withinMilliseconds } from './within.ts'

/** A kind of nudge and the shape of what it carries. */
export interface JobDefinition<Name extends string = string, Schema extends z.ZodType = z.ZodType> {
  name: Name
  schema: Schema
}

/** Names a kind of nudge. What it carries may be lost, doubled or late: the table says what is to be done. */
export function defineJob<Name extends string, Schema extends z.ZodType>(
  name: Name,
  schema: Schema,
): JobDefinition<Name, Schema> {
  return { name, schema }
}

/** For each job of a queue the one function that does it. A throw lets it be tried again, later and later. */
export type Handlers<Jobs extends readonly JobDefinition[]> = {
  [Job in Jobs[number] as Job['name']]: (data: z.output<Job['schema']>) => Promise<void>
}

/** How the queue is. */
export interface QueueHealth {
  backend: 'redis' | 'postgres'
  /**
   * Why nudges may not arrive, which costs a second each and nothing else; null when all is well. `down`: it
   * doesn't answer. `evicting`: Redis drops keys when it is full (any policy but noeviction), jobs among them.
   */
  degraded: 'down' | 'evicting' | null
  /** Adds since the start that did not get through; each is made good by the next look at the table. */
  failedAdds: number
}

/** Nudges between replicas: one queue and one worker for each replica (decisions 19 to 24). */
export interface Queue<Jobs extends readonly JobDefinition[]> {
  /**
   * Hands a nudge to a replica. False when that didn't work within 200 ms, never an error: the nudge is then
   * only counted.
   *
   * @throws Error for data that don't fit the job and for ids that BullMQ doesn't take; both are ours to fix.
   */
  add: <Job extends Jobs[number]>(
    job: Job,
    replica: string,
    data: z.input<Job['schema']>,
    options?: { jobId?: string },
  ) => Promise<boolean>
  /** Starts this replica's one worker. @throws Error for a job without a handler, or a handler without a job. */
  process: (handlers: Handlers<Jobs>) => void
  health: () => Promise<QueueHealth>
  /** Removes what is left for a replica that will not come back. */
  forget: (replica: string) => Promise<void>
  /** Ends the worker after its running jobs, then the connections. */
  close: () => Promise<void>
}

/** Longer than that a click doesn't wait for a nudge, milliseconds. */
const addMilliseconds = 200
/** After a failure nudges are dropped for so long, instead of each waiting in vain. */
const pauseMilliseconds = 250
const prepareMilliseconds = 2000
const mostReplicas = 64
const firstRetryMilliseconds = 100

const jobOptions = {
  removeOnComplete: true,
  removeOnFail: true,
  attempts: 1_000_000,
  backoff: { type: 'capped', delay: firstRetryMilliseconds },
}

/** Builds the queue of a replica: on Redis when there is one, else in PostgreSQL. */
export function createQueue<const Jobs extends readonly JobDefinition[]>({
  replica,
  jobs,
  redisUrl,
  databaseConnection,
  log,
}: {
  replica: string
  jobs: Jobs
  redisUrl?: Secret | undefined
  databaseConnection: DatabaseConnection
  log: Log
}): Queue<Jobs> {
  checkNames(jobs)
  const backend = redisUrl ? createRedisQueues(redisUrl) : createPostgresQueues(databaseConnection)
  const producers = createProducers(backend)
  let worker: { close: () => Promise<void> } | undefined
  let failedAdds = 0
  let pausedUntil = 0

  async function add(
    job: Jobs[number],
    to: string,
    data: unknown,
    { jobId }: { jobId?: string } = {},
  ): Promise<boolean> {
    const payload = job.schema.parse(data)
    if (jobId !== undefined && !/^[^:]*[^:\d][^:]*$/.test(jobId))
      throw new Error(`${jobId} is no id for a job.`)
    if (performance.now() < pausedUntil) return countFailure()
    try {
      const adding = producers
        .get(to)
        .add(job.name, payload, { ...jobOptions, ...(jobId !== undefined && { jobId }) })
      await withinMilliseconds(adding, addMilliseconds)
      return true
    } catch (err) {
      log.debug({ err: (err as Error).message, to }, 'a nudge was not taken')
      pausedUntil = performance.now() + pauseMilliseconds
      producers.drop(to)
      return countFailure()
    }
  }

  function countFailure(): false {
    failedAdds += 1
    return false
  }

  function process(handlers: Handlers<Jobs>): void {
    if (worker) throw new Error('The queue has its worker already.')
    const handle = toHandle(jobs, handlers, log)
    // Somebody who wanted to forget this replica and died at it may have left its queue paused.
    const prepare = () => withinMilliseconds(producers.get(replica).resume(), prepareMilliseconds)
    worker = superviseWorker({ backend, name: queueName(replica), prepare, handle, log })
  }

  async function health(): Promise<QueueHealth> {
    const isUp = await backend.isUp()
    const degraded = isUp ? ((await backend.losesJobs()) ? 'evicting' : null) : 'down'
    return { backend: backend.kind, degraded, failedAdds }
  }

  async function forget(name: string): Promise<void> {
    await producers.get(name).obliterate({ force: true })
    producers.drop(name)
  }

  async function close(): Promise<void> {
    await worker?.close()
    await producers.close()
    await backend.close()
  }

  return { add, process, health, forget, close }
}

/** The queue of a replica, in both backends. */
export function queueName(replica: string): string {
  return `gateway-${replica}`
}

function checkNames(jobs: readonly JobDefinition[]): void {
  const names = jobs.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`Two jobs are called ${twice}.`)
}

function toHandle(jobs: readonly JobDefinition[], handlers: Record<string, unknown>, log: Log): Handle {
  const names = new Set(jobs.map(({ name }) => name))
  const without = jobs.find(({ name }) => typeof handlers[name] !== 'function')
  if (without) throw new Error(`The job ${without.name} has no handler.`)
  const stray = Object.keys(handlers).find((name) => !names.has(name))
  if (stray !== undefined) throw new Error(`There is no job ${stray} for this handler.`)
  return async function handle(name, data) {
    const job = jobs.find((known) => known.name === name)
    const parsed = job?.schema.safeParse(data)
    // Of another release, or forged: trying again would not make it better, and the table is looked at anyway.
    if (!parsed?.success) return log.warn({ job: name }, 'a nudge that nobody understands was dropped')
    await (handlers[name] as (data: unknown) => Promise<void>)(parsed.data)
  }
}

/** One BullMQ queue for each replica that is written to, made when needed, the least used forgotten. */
function createProducers(backend: QueueBackend) {
  const queues = new Map<string, BullQueue>()

  function get(replica: string): BullQueue {
    const queue = queues.get(replica) ?? backend.openQueue(queueName(replica))
    queues.delete(replica)
    queues.set(replica, queue)
    const [oldest] = queues.size > mostReplicas ? queues.keys().take(1) : []
    if (oldest !== undefined) drop(oldest)
    return queue
  }

  function drop(replica: string): void {
    const queue = queues.get(replica)
    queues.delete(replica)
    queue?.close().catch(() => undefined)
  }

  async function close(): Promise<void> {
    const closing = [...queues.values()].map((queue) =>
      withinMilliseconds(queue.close(), 1000).catch(() => undefined),
    )
    await Promise.all(closing)
  }

  return { get, drop, close }
}

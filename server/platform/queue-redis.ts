import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { type QueueBackend, workerOptions } from './queue-backend.ts'
import type { Secret } from './secret.ts'
import { withinMilliseconds } from './within.ts'

const reconnect = (attempts: number) => Math.min(50 * attempts, 1000)

/** Nothing waits for a Redis that is away: a producer is told at once (decision 23). */
const producerOptions = {
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  connectTimeout: 2000,
  retryStrategy: reconnect,
}

/** A worker does wait, and reconnects by itself; BullMQ asks for null. */
const consumerOptions = {
  maxRetriesPerRequest: null,
  connectTimeout: 2000,
  retryStrategy: reconnect,
}

const answerMilliseconds = 1000

/** The queue on Redis: one connection for all producers, two for the worker. */
export function createRedisQueues(url: Secret): QueueBackend {
  const producer = new Redis(url.expose(), producerOptions)
  producer.on('error', () => undefined)

  async function isUp(): Promise<boolean> {
    try {
      return (await withinMilliseconds(producer.ping(), answerMilliseconds)) === 'PONG'
    } catch {
      return false
    }
  }

  async function losesJobs(): Promise<boolean> {
    const memory = await withinMilliseconds(producer.info('memory'), answerMilliseconds).catch(() => '')
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction'
    return policy !== 'noeviction'
  }

  return {
    kind: 'redis',
    isUp,
    losesJobs,
    openQueue: (name) => {
      if (producer.status !== 'ready') throw new Error('Redis is away')
      const streams = { events: { maxLen: 100 } }
      const queue = new Queue(name, { connection: producer, skipMetasUpdate: true, streams })
      queue.on('error', () => undefined)
      return queue
    },
    openWorker: (name, handle) => {
      const connection = new Redis(url.expose(), consumerOptions)
      connection.on('error', () => undefined)
      const worker = new Worker(name, (job) => handle(job.name, job.data), { ...workerOptions, connection })
      return { worker, release: () => connection.disconnect() }
    },
    close: () => {
      producer.disconnect()
      return Promise.resolve()
    },
  }
}

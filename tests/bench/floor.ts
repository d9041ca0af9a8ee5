import type { IpsetPipe } from '#agent/drivers/ipset-pipe.ts'
import { createDatabase } from '#server/platform/database.ts'
import type { DatabaseConnection } from '#server/platform/database-connection.ts'
import type { BullQueue } from '#server/platform/queue-backend.ts'
import { createPostgresQueues } from '#server/platform/queue-postgres.ts'
import { createRedisQueues } from '#server/platform/queue-redis.ts'
import { Secret } from '#server/platform/secret.ts'

/** One sample of the least that a click could cost, and its parts, in milliseconds. */
export type FloorSample = { totalMs: number; httpMs: number; commitMs: number; pickMs: number; addMs: number }

const floorAddress = '10.9.255.1'

/**
 * What no implementation gets below: one loopback HTTP round trip, one commit, one BullMQ job from its add to the
 * worker that picks it up, and one add on an open ipset process, answered by its fence. On the same database,
 * queue and kernel as the bench.
 */
export function openFloor({
  connection,
  redisUrl,
  pipe,
  set,
  serverUrl,
}: {
  connection: DatabaseConnection
  redisUrl: string | undefined
  pipe: IpsetPipe
  set: string
  serverUrl: string
}) {
  const database = createDatabase(connection, { max: 1, applicationName: 'bench floor' })
  const queues =
    redisUrl === undefined ? createPostgresQueues(connection) : createRedisQueues(new Secret(redisUrl))
  const picked = new Map<number, () => void>()
  const { worker, release } = queues.openWorker('bench', async (_name, data) => {
    picked.get((data as { number: number }).number)?.()
  })
  worker.on('error', () => undefined)
  let queue: BullQueue | undefined
  let last = 0

  async function addToPick(): Promise<void> {
    queue ??= queues.openQueue('bench')
    const number = (last += 1)
    const pick = new Promise<void>((resolve) => picked.set(number, resolve))
    await queue.add('floor', { number }, { removeOnComplete: true, removeOnFail: true })
    await pick
    picked.delete(number)
  }

  const steps = {
    httpMs: async () => void (await (await fetch(`${serverUrl}/health`)).text()),
    commitMs: async () =>
      void (await database.pool.query("insert into audit_events (kind, fields) values ($1, '{}')", [
        'Bench',
      ])),
    pickMs: addToPick,
    addMs: async () => void (await pipe.run([[`add ${set} ${floorAddress} timeout 600 -exist`]])),
  }

  return {
    sample: async (): Promise<FloorSample> => {
      const sample: FloorSample = { totalMs: 0, httpMs: 0, commitMs: 0, pickMs: 0, addMs: 0 }
      for (const part of ['httpMs', 'commitMs', 'pickMs', 'addMs'] as const) {
        const startedAt = performance.now()
        await steps[part]()
        sample[part] = performance.now() - startedAt
        sample.totalMs += sample[part]
      }
      return sample
    },
    close: async () => {
      await worker.close()
      release()
      await queue?.close()
      await queues.close()
      await database.close()
    },
  }
}

import { createPostgresBackend, type PostgresConnectionOptions, Queue, runMigrations, Worker } from 'bullmq'
import { Client, Pool } from 'pg'
import { databaseLimits } from './database.ts'
import { type DatabaseConnection, toClientConfig } from './database-connection.ts'
import { type QueueBackend, workerOptions } from './queue-backend.ts'

const schema = 'bullmq'

/**
 * The queue in PostgreSQL, on pools of its own: a worker's LISTEN keeps one of the connections, so it must never be
 * the pool that grants need (decision 24). Each worker has a pool that goes with it: BullMQ leaves its listeners on a
 * pool, and a worker is replaced after every fault.
 */
export function createPostgresQueues(connection: DatabaseConnection): QueueBackend {
  const pool = openPool(connection)

  async function isUp(): Promise<boolean> {
    try {
      const { rows } = await pool.query<{ usable: boolean }>(
        "select not pg_is_in_recovery() and to_regclass('migration') is not null as usable",
      )
      return rows[0]?.usable === true
    } catch {
      return false
    }
  }

  return {
    kind: 'postgres',
    isUp,
    losesJobs: () => Promise.resolve(false),
    openQueue: (name) => {
      const options = { connection: asOptions(pool), skipMetasUpdate: true }
      const queue = new Queue(name, options, createPostgresBackend)
      queue.on('error', () => undefined)
      return queue
    },
    openWorker: (name, handle) => {
      const own = openPool(connection)
      const options = { ...workerOptions, connection: asOptions(own) }
      const worker = new Worker(name, (job) => handle(job.name, job.data), options, createPostgresBackend)
      return { worker, release: () => void own.end().catch(() => undefined) }
    },
    close: () => pool.end(),
  }
}

/** BullMQ takes a pool for its connection; its types don't say so. */
const asOptions = (pool: Pool): PostgresConnectionOptions => pool as unknown as PostgresConnectionOptions

function openPool(connection: DatabaseConnection): Pool {
  const pool = new Pool({
    ...toClientConfig(connection),
    max: 3,
    application_name: 'knoc queue',
    // A nudge need not survive a crash of the server: not waiting for the disk makes it five times as fast.
    options: `-c search_path=${schema} -c synchronous_commit=off`,
    connectionTimeoutMillis: databaseLimits.connect,
    statement_timeout: databaseLimits.statement,
    lock_timeout: databaseLimits.lock,
    query_timeout: databaseLimits.answer,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  pool.on('error', () => undefined)
  // A connection that breaks while it is in use tells its statement; unheard, the event would end the process.
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

/** Brings BullMQ's own tables (schema `bullmq`) to its release; part of `knoc migrate`. */
export async function migrateQueue(connection: DatabaseConnection): Promise<void> {
  const client = new Client({ ...toClientConfig(connection), application_name: 'knoc migrate' })
  await client.connect()
  try {
    await runMigrations(client, schema)
  } finally {
    await client.end()
  }
}

import { setTimeout as wait } from 'node:timers/promises'
import { CamelCasePlugin, Kysely, PostgresDialect, type Transaction } from 'kysely'
import { type ClientBase, Pool } from 'pg'
import type { DB } from './database.types.ts'
import { type DatabaseConnection, toClientConfig } from './database-connection.ts'
import { columnTypes } from './database-values.ts'
import { prepareStatements } from './prepared-statements.ts'

/** A pool of connections and the query builder on it. */
export interface Database {
  db: Kysely<DB>
  /** For metrics and for what a query builder has no words for. */
  pool: Pool
  close: () => Promise<void>
}

/** How long anything may take before it is given up, in milliseconds (decision 37). */
export const databaseLimits = {
  connect: 2000,
  statement: 5000,
  lock: 2000,
  idleInTransaction: 10_000,
  /** The client's own patience: the server's limits say nothing when the connection is half open. */
  answer: 7000,
}

const answerTimeout = 'Query read timeout'

/**
 * Opens a pool (lazily: the first query connects). Every wait has a limit, a connection on which an answer
 * failed to come is closed, and one to a database in recovery is thrown away: after a failover that is the old
 * primary, or a standby.
 */
export function createDatabase(
  connection: DatabaseConnection,
  {
    max,
    applicationName,
    limits = databaseLimits,
  }: { max: number; applicationName: string; limits?: typeof databaseLimits },
): Database {
  const pool = new Pool({
    ...toClientConfig(connection),
    max,
    application_name: applicationName,
    types: columnTypes,
    connectionTimeoutMillis: limits.connect,
    statement_timeout: limits.statement,
    lock_timeout: limits.lock,
    idle_in_transaction_session_timeout: limits.idleInTransaction,
    query_timeout: limits.answer,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    idleTimeoutMillis: 60_000,
    // oxlint-disable-next-line typescript/no-misused-promises -- pg-pool waits for it; its types don't say so
    onConnect: prepareClient,
  })
  // An idle connection that drops has no request to fail; the pool replaces it.
  pool.on('error', () => undefined)
  const db = new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    // Keys inside of JSON values are the product's data, not column names.
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  })
  return { db, pool, close: () => pool.end() }
}

/** Separate small pools, so that a long list cannot hold up a revoke (decision 37). */
export interface Pools {
  grants: Database
  lists: Database
  background: Database
  close: () => Promise<void>
}

/** Opens the server's three pools. */
export function createPools(connection: DatabaseConnection): Pools {
  const grants = createDatabase(connection, { max: 10, applicationName: 'knoc grants' })
  const lists = createDatabase(connection, { max: 6, applicationName: 'knoc lists' })
  const background = createDatabase(connection, { max: 6, applicationName: 'knoc background' })
  async function close(): Promise<void> {
    await Promise.all([grants.close(), lists.close(), background.close()])
  }
  return { grants, lists, background, close }
}

/** Deadlock, serialisation failure, lock not had in time: nothing happened, and the next try may go through. */
const worthRetrying = new Set(['40P01', '40001', '55P03'])

/**
 * Runs `act` in a READ COMMITTED transaction and commits it. After a deadlock, a serialisation failure or a
 * lock that wasn't had in time, all of it is run again after a short random wait, so `act` must not do
 * anything that a rollback doesn't undo. Every other error is thrown as it is.
 */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  act: (tx: Transaction<Tables>) => Promise<Result>,
  { retries = 4 }: { retries?: number } = {},
): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await db.transaction().setIsolationLevel('read committed').execute(act)
    } catch (error) {
      if (attempt >= retries || !worthRetrying.has((error as { code?: string }).code ?? '')) throw error
      await wait(Math.random() * 10 * 2 ** attempt)
    }
  }
}

async function prepareClient(client: ClientBase): Promise<void> {
  // In a transaction no pool listens to the connection. Whatever breaks it fails the next statement as well;
  // unheard, the event would end the process.
  client.on('error', () => undefined)
  closeWhenSilent(client)
  prepareStatements(client)
  const { rows } = await client.query<{ recovering: boolean }>('select pg_is_in_recovery() as recovering')
  if (rows[0]?.recovering !== false) throw new Error('The database is in recovery and takes no writes.')
}

/** `pg` gives up waiting but keeps the connection, on which the next question would wait behind the lost one. */
function closeWhenSilent(client: ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const destroy = () =>
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
  function watchedQuery(...args: unknown[]): unknown {
    const answer = query(...args)
    if (answer instanceof Promise)
      answer.catch((error: unknown) => error instanceof Error && error.message === answerTimeout && destroy())
    return answer
  }
  client.query = watchedQuery as typeof client.query
}

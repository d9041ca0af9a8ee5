import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { toClientConfig } from './database-connection.ts'
import type { Log } from './log.ts'
import type { Secret } from './secret.ts'

/** The one connection that tells whose the embedded database is, and when it goes away. */
export interface Keeper {
  socket: string
  close: () => Promise<void>
}

/** A server that was just killed holds the lock until PostgreSQL has noticed; longer than that it is alive. */
const handOverMilliseconds = 5000

/** Any number; the lock is in the database `postgres`, which nothing else uses. */
const ownerLock = 7_108

/**
 * Connects as the superuser, takes the lock that only one server can hold, and makes the product's role and
 * database if they aren't there.
 *
 * @throws Error when another living server holds the database, or it doesn't take our password.
 */
export async function openKeeper(deps: {
  socket: string
  password: Secret
  log: Log
  onLost: () => void
}): Promise<Keeper> {
  const { socket, password, log, onLost } = deps
  const client = new Client({
    ...toClientConfig({ host: socket, user: 'postgres', password, database: 'postgres' }),
    application_name: 'knoc keeper',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', (err) => log.warn({ err: err.message }, 'connection to the embedded PostgreSQL lost'))
  try {
    await client.connect()
    await takeLock(client)
    await makeDatabase(client, password)
  } catch (error) {
    await client.end().catch(() => undefined)
    throw toPlainError(error)
  }
  client.once('end', onLost)
  return { socket, close: () => client.end().catch(() => undefined) }
}

async function takeLock(client: Client): Promise<void> {
  const deadline = Date.now() + handOverMilliseconds
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      ownerLock,
    ])
    if (rows[0]?.taken) return
    if (Date.now() > deadline)
      throw new Error('Another server is running on this data folder; stop it first.')
    await wait(50)
  }
}

async function makeDatabase(client: Client, password: Secret): Promise<void> {
  const { rows } = await client.query("select rolname as name from pg_roles where rolname = 'knoc'")
  const role = `knoc login password ${client.escapeLiteral(password.expose())}`
  // DDL takes no parameters; the password is our own and escaped.
  await client.query(rows.length === 0 ? `create role ${role}` : `alter role ${role}`)
  const { rows: databases } = await client.query("select 1 from pg_database where datname = 'knoc'")
  if (databases.length === 0) await client.query('create database knoc owner knoc')
}

function toPlainError(error: unknown): unknown {
  if ((error as { code?: string }).code !== '28P01') return error
  return new Error(
    'The running embedded PostgreSQL does not take the password in its folder; stop that PostgreSQL, or restore the file `password`.',
    {
      cause: error,
    },
  )
}

import { readdir } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Kysely, PostgresDialect } from 'kysely'
import { type Migration, type MigrationResultSet, Migrator } from 'kysely/migration'
import { Pool } from 'pg'
import { type DatabaseConnection, toClientConfig } from './database-connection.ts'

const folder = new URL('../../migrations/', import.meta.url)

/** A lock is waited for 2 s and then asked for again: whoever stands behind the migration gets through between. */
const lockTimeoutMilliseconds = 2000
const tries = 30

/**
 * Brings the database to this release: all pending migrations in one transaction, under an advisory lock, so
 * that replicas which start together migrate once.
 *
 * @returns the names of those that ran.
 * @throws Error that names the migration which failed; nothing has changed then.
 */
export function migrateToLatest(connection: DatabaseConnection): Promise<string[]> {
  return run(connection, (migrator) => migrator.migrateToLatest())
}

/** Takes the newest `steps` migrations back, one transaction each, and gives their names. */
export async function migrateDown(connection: DatabaseConnection, steps = 1): Promise<string[]> {
  const undone: string[] = []
  while (undone.length < steps) {
    const names = await run(connection, (migrator) => migrator.migrateDown())
    if (names.length === 0) break
    undone.push(...names)
  }
  return undone
}

/** Names of the migrations that this release has and the database has not. */
export function pendingMigrations(connection: DatabaseConnection): Promise<string[]> {
  return withMigrator(connection, async (migrator) => {
    const migrations = await migrator.getMigrations()
    return migrations.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name)
  })
}

async function run(
  connection: DatabaseConnection,
  migrate: (migrator: Migrator) => Promise<MigrationResultSet>,
): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    const { error, results = [] } = await withMigrator(connection, migrate)
    if (error === undefined) return results.map(({ migrationName }) => migrationName)
    const failed = results.find(({ status }) => status === 'Error')?.migrationName ?? 'a migration'
    if ((error as { code?: string }).code !== '55P03' || attempt >= tries)
      throw new Error(`${failed} failed, nothing was changed: ${(error as Error).message}`, { cause: error })
    await wait(Math.random() * 500)
  }
}

async function withMigrator<Result>(
  connection: DatabaseConnection,
  use: (migrator: Migrator) => Promise<Result>,
): Promise<Result> {
  const pool = new Pool({
    ...toClientConfig(connection),
    max: 2,
    application_name: 'knoc migrate',
    connectionTimeoutMillis: 5000,
    lock_timeout: lockTimeoutMilliseconds,
    keepAlive: true,
  })
  pool.on('error', () => undefined)
  try {
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    return await use(new Migrator({ db, provider: { getMigrations: readMigrations } }))
  } finally {
    await pool.end()
  }
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const names = (await readdir(fileURLToPath(folder))).filter((name) => /^\d{4}_\w+\.ts$/.test(name)).sort()
  const migrations: Record<string, Migration> = {}
  for (const name of names)
    migrations[name.slice(0, -3)] = (await import(new URL(name, folder).href)) as Migration
  return migrations
}

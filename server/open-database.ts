import type { Config } from './platform/config.ts'
import { createDatabase } from './platform/database.ts'
import type { DatabaseConnection } from './platform/database-connection.ts'
import { startEmbeddedPostgres } from './platform/embedded-postgres.ts'
import type { Log } from './platform/log.ts'
import { readOrCreateMasterKey } from './platform/master-key.ts'
import { migrateToLatest, pendingMigrations } from './platform/migrate.ts'
import { migrateQueue } from './platform/queue-postgres.ts'
import { findRunningPostgres } from './platform/running-postgres.ts'
import { createSealer, type Sealer } from './platform/secrets.ts'

/** A database that is ready for this release, and the sealer whose key it knows. */
export type OpenDatabase = { connection: DatabaseConnection; sealer: Sealer; stop: () => Promise<void> }

/**
 * Opens the embedded database, brought to this release, or the operator's, which `knoc migrate` has to have
 * brought there: only the embedded mode migrates at a start (decision 37). The master key has to be the one that
 * the database knows (decision 38).
 *
 * @throws Error that says what to do.
 */
export async function openDatabase(config: Config, log: Log): Promise<OpenDatabase> {
  if (config.databaseUrl !== undefined) {
    const connection = { url: config.databaseUrl }
    const pending = await pendingMigrations(connection)
    if (pending.length > 0)
      throw new Error(
        `The database lacks ${pending.length} migrations (${pending[0]} …). Run \`npx knoc migrate\`.`,
      )
    return { connection, sealer: await openSealer(config, connection), stop: async () => undefined }
  }
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log })
  try {
    await migrateEverything(postgres.connection)
    const sealer = await openSealer(config, postgres.connection)
    return { connection: postgres.connection, sealer, stop: postgres.stop }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

/**
 * The database of a server that runs, for a command beside it: the operator's, or the embedded one that a server of
 * this data folder has started. Nothing is started or changed.
 *
 * @throws Error that says what to do.
 */
export async function findDatabase(config: Config): Promise<DatabaseConnection> {
  const connection =
    config.databaseUrl === undefined ? await findRunningPostgres(config.dataDir) : { url: config.databaseUrl }
  if (connection === undefined)
    throw new Error(
      `No server is running on ${config.dataDir}. Start it with \`npm start\`, or set DATABASE_URL or KNOC_DATA_DIR to those of the one that runs.`,
    )
  const pending = await pendingMigrations(connection)
  if (pending.length === 0) return connection
  const first = `The database lacks ${pending.length} migrations (${pending[0]} …), so it is of an older release than this command.`
  throw new Error(`${first} Use the command of that release, or bring the servers to this one.`)
}

/** The product's tables and the queue's. Names of the product's migrations that ran. */
export async function migrateEverything(connection: DatabaseConnection): Promise<string[]> {
  const done = await migrateToLatest(connection)
  await migrateQueue(connection)
  return done
}

/** The first start writes the key's check value down; every other one compares. */
async function openSealer(config: Config, connection: DatabaseConnection): Promise<Sealer> {
  const sealer = createSealer(config.masterKey ?? (await readOrCreateMasterKey(config.dataDir)))
  const { db, close } = createDatabase(connection, { max: 1, applicationName: 'knoc start' })
  try {
    const row = await db
      .updateTable('installation')
      .set((eb) => ({ masterKeyCheck: eb.fn.coalesce('masterKeyCheck', eb.val(sealer.checkValue())) }))
      .returning('masterKeyCheck')
      .executeTakeFirstOrThrow()
    if (!sealer.isCheckValue(row.masterKeyCheck ?? ''))
      throw new Error(
        'KNOC_MASTER_KEY is not the key this database was set up with; what is sealed in it could not be read.',
      )
    return sealer
  } finally {
    await close()
  }
}

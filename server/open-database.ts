import type { Config } from './platform/config.ts'
import { createDatabase } from './platform/database.ts'
import type { DatabaseConnection } from './platform/database-connection.ts'
import { startEmbeddedPostgres } from './platform/embedded-postgres.ts'
import type { Log } from './platform/log.ts'
import { readOrCreateMasterKey } from './platform/master-key.ts'
import { migrateToLatest, pendingMigrations } from './platform/migrate.ts'
import { migrateQueue } from './platform/queue-postgres.ts'
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

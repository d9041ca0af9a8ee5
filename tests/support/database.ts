import { randomBytes } from 'node:crypto'
import { Client, type QueryResultRow } from 'pg'
import { inject } from 'vitest'
import { createDatabase, type Database, databaseLimits } from '#server/platform/database.ts'
import { type DatabaseConnection, toClientConfig } from '#server/platform/database-connection.ts'
import { Secret } from '#server/platform/secret.ts'

/** A database of one test file's own. */
export interface TestDatabase extends Database {
  connection: Extract<DatabaseConnection, { host: string }>
  /** Closes the pool and removes the database, whoever is still connected. */
  drop: () => Promise<void>
}

/**
 * Clones the run's migrated template, or with `empty` makes a database without any table.
 * Call `drop` in `afterAll`.
 */
export async function testDatabase({ empty = false, max = 10 } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const { host, password, template } = inject('postgres')
  await asSuperuser(`create database ${name} template ${empty ? 'template1' : template} owner knoc`)
  const connection = { host, user: 'knoc', password: new Secret(password), database: name }
  // A test may ask for hundreds of things at once, and the machine has other tests to run.
  const limits = { ...databaseLimits, connect: 20_000 }
  const database = createDatabase(connection, { max, applicationName: name, limits })
  async function drop(): Promise<void> {
    await database.close()
    await asSuperuser(`drop database ${name} with (force)`)
  }
  return { ...database, connection, drop }
}

/** Runs one statement as the run's superuser, for what the product's own role may not do. */
export async function asSuperuser<Row extends QueryResultRow>(
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const { host, password } = inject('postgres')
  const connection = { host, user: 'postgres', password: new Secret(password), database: 'postgres' }
  const client = new Client(toClientConfig(connection))
  await client.connect()
  try {
    return (await client.query<Row>(sql, values)).rows
  } finally {
    await client.end()
  }
}

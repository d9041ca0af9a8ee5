import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { type DatabaseConnection, toClientConfig } from '#server/platform/database-connection.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { createLog } from '#server/platform/log.ts'
import { migrateToLatest } from '#server/platform/migrate.ts'
import { migrateQueue } from '#server/platform/queue-postgres.ts'

const log = createLog({ logLevel: 'silent', replica: 'tests' })

/** A PostgreSQL of one test file's own, to be restarted and made read-only at will. Call `remove` in `afterAll`. */
export async function restartablePostgres() {
  const dataDir = mkdtempSync(join(tmpdir(), 'knoc-pg-'))
  let server = await startEmbeddedPostgres({ dataDir, log })
  const { connection } = server

  async function asSuperuser(sql: string): Promise<void> {
    const client = new Client(toClientConfig({ ...connection, user: 'postgres' }))
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }

  return {
    /** A migrated database. */
    makeDatabase: async (name: string): Promise<Extract<DatabaseConnection, { host: string }>> => {
      await asSuperuser(`create database ${name} owner knoc`)
      const made = { ...connection, database: name }
      await migrateToLatest(made)
      await migrateQueue(made)
      return made
    },
    /** Ends it under everybody who is connected, and starts it again. */
    restart: async (awayMs = 0) => {
      await server.stop()
      await new Promise((resolve) => setTimeout(resolve, awayMs))
      server = await startEmbeddedPostgres({ dataDir, log })
    },
    /** For everybody, from their next transaction on; as a standby is, or a primary that an operator froze. */
    setReadOnly: async (isReadOnly: boolean) => {
      await asSuperuser(`alter system set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
      await asSuperuser('select pg_reload_conf()')
    },
    remove: async () => {
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

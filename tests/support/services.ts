import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { toClientConfig } from '#server/platform/database-connection.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { createLog } from '#server/platform/log.ts'
import { migrateToLatest } from '#server/platform/migrate.ts'
import { migrateQueue } from '#server/platform/queue-postgres.ts'
import { installMissingPrograms } from './debian.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The embedded PostgreSQL of this run; `template` is a migrated database to clone. */
    postgres: { host: string; password: string; template: string }
  }
}

const template = 'knoc_template'
let stop: (() => Promise<void>) | undefined

/** Before all tests: what is missing gets installed, and one PostgreSQL with a migrated template stands for the run. */
export async function setup(project: TestProject): Promise<void> {
  installMissingPrograms()
  const dataDir = mkdtempSync(join(tmpdir(), 'knoc-tests-'))
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: createLog({ logLevel: 'warn', replica: 'tests' }),
    // Each worker has a server or two, with their pools.
    maxConnections: 400,
  })
  const { host, password } = postgres.connection
  const admin = new Client(toClientConfig({ host, password, user: 'postgres', database: 'postgres' }))
  await admin.connect()
  await admin.query(`create database ${template} owner knoc`)
  await admin.end()
  await migrateToLatest({ ...postgres.connection, database: template })
  await migrateQueue({ ...postgres.connection, database: template })
  project.provide('postgres', { host, password: password.expose(), template })
  stop = async () => {
    await postgres.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** After all tests: nothing is left running. */
export async function teardown(): Promise<void> {
  await stop?.()
}

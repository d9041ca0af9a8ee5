import { readFile, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { migrateDown, migrateToLatest, pendingMigrations } from '#server/platform/migrate.ts'
import { generateDatabaseTypes } from '#tests/support/codegen.ts'
import { type TestDatabase, testDatabase } from '#tests/support/database.ts'

const typesFile = new URL('../server/platform/database.types.ts', import.meta.url)

let database: TestDatabase
afterEach(() => database.drop())

const listObjects = async () => {
  const { rows } = await sql<{ name: string }>`
    select relkind::text || ' ' || relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relname not like 'kysely%'
    union select 'function ' || proname from pg_proc where pronamespace = 'public'::regnamespace
    order by 1`.execute(database.db)
  return rows.map((row) => row.name)
}

it('goes up, down and up again, and leaves nothing behind in between', async () => {
  database = await testDatabase({ empty: true })
  const up = await migrateToLatest(database.connection)
  const after = await listObjects()
  expect(await migrateDown(database.connection, up.length)).toEqual(up.toReversed())
  expect(await listObjects()).toEqual([])
  expect(await migrateToLatest(database.connection)).toEqual(up)
  expect(await listObjects()).toEqual(after)
  expect(await pendingMigrations(database.connection)).toEqual([])
})

it('keeps the generated types those of the migrated database (WRITE_TYPES=1 writes them)', async () => {
  database = await testDatabase()
  const types = await generateDatabaseTypes(database.connection)
  if (process.env.WRITE_TYPES === '1') await writeFile(typesFile, types)
  expect(await readFile(typesFile, 'utf8')).toBe(types)
})

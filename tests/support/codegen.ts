import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import type { DatabaseConnection } from '#server/platform/database-connection.ts'

const run = promisify(execFile)

/** The types of a migrated database's tables, as `server/platform/database.types.ts` has to hold them. */
export async function generateDatabaseTypes(
  connection: Extract<DatabaseConnection, { host: string }>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'knoc-types-'))
  const file = join(folder, 'database.types.ts')
  const { host, user, password, database } = connection
  const url = `postgres://${user}:${encodeURIComponent(password.expose())}@localhost/${database}?host=${encodeURIComponent(host)}`
  try {
    await run(process.execPath, [
      ...['run', '--quiet', '-A', 'npm:kysely-codegen', '--config-file', '.kysely-codegen.json'],
      ...['--url', url, '--out-file', file],
    ])
    await run(process.execPath, [
      'run',
      '--quiet',
      '-A',
      'npm:@biomejs/biome',
      'format',
      '--write',
      '--vcs-enabled=false',
      file,
    ])
    return await readFile(file, 'utf8')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

import { migrateEverything } from '../open-database.ts'
import { readConfig } from '../platform/config.ts'
import { type Command, exitCodes, usageError } from './command.ts'

/** `knoc migrate`: brings an external database to this release. */
export const migrate: Command = {
  summary: 'bring the database at DATABASE_URL to this release',
  help: `npx knoc migrate

Runs the migrations that the database lacks, once, whoever else starts at the same time; a failed one
leaves the database as it was. The embedded database migrates by itself when the server starts.
`,
  async run(_args, io) {
    const { databaseUrl } = readConfig(process.env)
    if (databaseUrl === undefined)
      return usageError(
        io,
        'DATABASE_URL is not set; the embedded database migrates by itself.',
        'knoc migrate',
      )
    const done = await migrateEverything({ url: databaseUrl })
    io.out(
      done.length === 0 ? 'The database is up to date.' : done.map((name) => `Migrated ${name}.`).join('\n'),
    )
    return exitCodes.ok
  },
}

import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { DatabaseConnection } from './database-connection.ts'
import { postgresMajor } from './postgres-folder.ts'
import { findPostmaster } from './postgres-process.ts'
import { Secret } from './secret.ts'

/**
 * The embedded PostgreSQL that is running on a data folder, for a command beside the server: nothing is started,
 * made or taken over. Undefined when none runs.
 *
 * @throws Error when its password can't be read by this user.
 */
export async function findRunningPostgres(
  dataDir: string,
): Promise<Extract<DatabaseConnection, { host: string }> | undefined> {
  const root = join(resolve(dataDir), `pg${postgresMajor}`)
  const postmaster = await findPostmaster(join(root, 'data'))
  if (postmaster?.isReady !== true) return undefined
  const password = (await readFile(join(root, 'password'), 'utf8')).trim()
  return { host: postmaster.socket, user: 'knoc', password: new Secret(password), database: 'knoc' }
}

import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { DatabaseConnection } from './database-connection.ts'
import { type Keeper, openKeeper } from './embedded-postgres-keeper.ts'
import type { Log } from './log.ts'
import { openPostgresFolder, type PostgresFolder } from './postgres-folder.ts'
import { findPostgresPrograms, type PostgresPrograms } from './postgres-package.ts'
import {
  clearStalePostmaster,
  findPostmaster,
  runToEnd,
  startDetached,
  stopPostmaster,
} from './postgres-process.ts'
import { postgresSettings } from './postgres-settings.ts'
import { choosePostgresUser, type PostgresUser } from './postgres-user.ts'

/** The database that comes with the server. */
export interface EmbeddedPostgres {
  /** The product's own database and role; not a superuser. */
  connection: Extract<DatabaseConnection, { host: string }>
  /** Ends it; call this last, when nothing uses the database any more. */
  stop: () => Promise<void>
}

const startSeconds = 60
const restartMilliseconds = 500

/**
 * Starts the packaged PostgreSQL on a Unix socket in the data folder, or adopts the one that a killed server
 * left running (decision 31). Should it die while the server lives, it is started again.
 *
 * @throws Error when another living server uses the folder, its data are of another major, or the system
 * doesn't let PostgreSQL run; the message says what to do.
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
  user: givenUser,
  maxConnections,
}: {
  dataDir: string
  log: Log
  /** Who runs PostgreSQL; by default whoever may, see {@link choosePostgresUser}. */
  user?: PostgresUser
  /** For more than one server: by default one has enough and some are left. */
  maxConnections?: number
}): Promise<EmbeddedPostgres> {
  const user = givenUser ?? (await choosePostgresUser(log))
  const base = resolve(dataDir)
  await mkdir(base, { recursive: true, mode: 0o700 })
  const folder = await openPostgresFolder(base)
  const programs = await findPostgresPrograms(join(folder.root, 'lib'))
  await handOver({ base, folder, programs, user })
  const place: Place = { folder, programs, user, log, maxConnections }
  const stopping = new AbortController()
  let keeper: Keeper = await bringUp(place, onLost)
  let recovery = Promise.resolve()

  function onLost(): void {
    if (!stopping.signal.aborted) recovery = bringBack()
  }

  async function bringBack(): Promise<void> {
    log.error('the embedded PostgreSQL went away; starting it again')
    while (!stopping.signal.aborted) {
      await wait(restartMilliseconds)
      try {
        keeper = await bringUp(place, onLost)
        return
      } catch (err) {
        log.error({ err }, 'the embedded PostgreSQL does not start')
      }
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await recovery
    await keeper.close()
    const postmaster = await findPostmaster(folder.data)
    if (postmaster) await stopPostmaster(postmaster.pid, folder.data)
  }

  return {
    connection: { host: keeper.socket, user: 'knoc', password: folder.password, database: 'knoc' },
    stop,
  }
}

interface Place {
  folder: PostgresFolder
  programs: PostgresPrograms
  user: PostgresUser
  log: Log
  maxConnections: number | undefined
}

/** Root with the account `postgres` gives it the folders; in every other case they are its own already. */
async function handOver({
  base,
  folder,
  programs,
  user,
}: Pick<Place, 'folder' | 'programs' | 'user'> & { base: string }): Promise<void> {
  const { uid, gid } = user.ids
  if (uid === undefined || gid === undefined) return
  // It may pass through the data folder, but not look into it.
  await chmod(base, 0o711)
  for (const path of [folder.root, folder.socket, folder.passwordFile]) await chown(path, uid, gid)
  await checkMay(
    user,
    '-w',
    folder.root,
    'choose a KNOC_DATA_DIR outside of closed folders, e.g. /var/lib/knoc',
  )
  await checkMay(user, '-x', programs.initdb, 'install Knoc outside of closed folders, e.g. in /opt/knoc')
}

async function checkMay(user: PostgresUser, test: '-w' | '-x', path: string, advice: string): Promise<void> {
  const asked = runToEnd({ program: '/usr/bin/test', args: [test, path], env: {}, user })
  await asked.catch((cause: unknown) => {
    throw new Error(`The account postgres, which runs the database here, cannot use ${path}: ${advice}.`, {
      cause,
    })
  })
}

async function bringUp(place: Place, onLost: () => void): Promise<Keeper> {
  const { folder, log } = place
  const adopted = await findPostmaster(folder.data)
  if (adopted) log.info({ pid: adopted.pid }, 'taking over the embedded PostgreSQL that is still running')
  const socket = await waitUntilReady(place)
  return openKeeper({ socket, password: folder.password, log, onLost })
}

/** Starts a postmaster where none lives, and waits until it takes connections; gives its socket's folder. */
async function waitUntilReady(place: Place): Promise<string> {
  const { folder } = place
  const deadline = Date.now() + startSeconds * 1000
  let started: { hasExited: () => boolean } | undefined
  for (; Date.now() < deadline; await wait(15)) {
    const postmaster = await findPostmaster(folder.data)
    if (postmaster?.isReady) return postmaster.socket
    if (postmaster || started?.hasExited() === false) continue
    if (started) break
    started = await startPostmaster(place)
  }
  const words = (await readFile(folder.logFile, 'utf8').catch(() => '')).slice(-1500)
  throw new Error(`PostgreSQL does not start in ${folder.data}; its last words: ${words.trim()}`)
}

async function startPostmaster({
  folder,
  programs,
  user,
  maxConnections,
}: Place): Promise<{ hasExited: () => boolean }> {
  await makeCluster({ folder, programs, user })
  await clearStalePostmaster(folder.data, folder.socket)
  await rm(folder.logFile, { force: true })
  const args = ['-D', folder.data, '-k', folder.socket, ...postgresSettings(maxConnections)]
  return startDetached({ program: programs.postgres, args, env: programs.env, user }, folder.logFile)
}

/** Made beside its place and moved there whole, so that a kill in the middle leaves nothing half made. */
async function makeCluster({
  folder,
  programs,
  user,
}: Pick<Place, 'folder' | 'programs' | 'user'>): Promise<void> {
  const names = await readdir(folder.root)
  if (names.includes('data')) return
  for (const name of names.filter((name) => name.startsWith('data.')))
    await rm(join(folder.root, name), { recursive: true, force: true })
  const draft = join(folder.root, `data.${randomBytes(4).toString('hex')}`)
  const whose = ['-U', 'postgres', `--pwfile=${folder.passwordFile}`, '--auth=scram-sha-256']
  const locale = ['-E', 'UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const args = ['-D', draft, ...whose, ...locale, '--no-instructions']
  await runToEnd({ program: programs.initdb, args, env: programs.env, user })
  await rename(draft, folder.data)
}

import { createHash, randomBytes } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getuid } from 'node:process'
import { readOrCreateOwnedFile } from './owned-file.ts'
import { Secret } from './secret.ts'

/** The one PostgreSQL major whose data this release reads; it is part of the folder's name (decision 32). */
export const postgresMajor = 18

/** Where the embedded database keeps what. */
export interface PostgresFolder {
  /** `<data folder>/pg18`, 0700. */
  root: string
  /** The cluster's data. */
  data: string
  /** Folder of the Unix socket, 0700. */
  socket: string
  /** File that holds the password, 0600. */
  passwordFile: string
  password: Secret
  logFile: string
}

/** A socket's address holds 108 bytes (104 on macOS), of which PostgreSQL's file name takes 16. */
const longestSocketFolder = 88

/**
 * Makes the folders and the password of the embedded database, or finds those of earlier starts.
 *
 * @throws Error when the data folder holds a database of another major, naming the way out.
 */
export async function openPostgresFolder(dataDir: string): Promise<PostgresFolder> {
  const root = join(dataDir, `pg${postgresMajor}`)
  await checkMajor(dataDir)
  await makeOwnFolder(root)
  const socket = await makeSocketFolder(root)
  const passwordFile = join(root, 'password')
  const password = await readOrCreateOwnedFile(passwordFile, () => randomBytes(32).toString('base64url'))
  return {
    root,
    data: join(root, 'data'),
    socket,
    passwordFile,
    password: new Secret(password),
    logFile: join(root, 'postgres.log'),
  }
}

async function checkMajor(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch(() => [])
  const inside = await readFile(join(dataDir, `pg${postgresMajor}/data/PG_VERSION`), 'utf8').catch(() => '')
  const majors = names.flatMap((name) => /^pg(\d+)$/.exec(name)?.[1] ?? [])
  const foreign = inside === '' ? majors.find((major) => major !== String(postgresMajor)) : inside.trim()
  if (foreign === undefined || foreign === String(postgresMajor)) return
  throw new Error(
    `${dataDir} holds a database of PostgreSQL ${foreign}, this release reads ${postgresMajor}: ` +
      'run `knoc upgrade-database` of a release that brings both, or start with an empty KNOC_DATA_DIR.',
  )
}

async function makeSocketFolder(root: string): Promise<string> {
  const name = `knoc-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`
  const folders = [join(root, 'run'), join(tmpdir(), name), join('/tmp', name)]
  const folder = folders.find((path) => Buffer.byteLength(path) <= longestSocketFolder) ?? join('/tmp', name)
  await makeOwnFolder(folder)
  return folder
}

/** A folder of nobody else: one that a stranger prepared under the temporary folder is refused. */
async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const { uid } = await lstat(path).then((found) => {
    if (!found.isDirectory()) throw new Error(`${path} is not a folder.`)
    return found
  })
  const me = getuid?.()
  if (me !== undefined && me !== 0 && uid !== me) throw new Error(`${path} belongs to somebody else.`)
  if (me === undefined || uid === me) await chmod(path, 0o700)
}

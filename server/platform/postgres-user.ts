import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { getuid } from 'node:process'
import type { Log } from './log.ts'

/** As whom PostgreSQL runs: itself never as root. */
export interface PostgresUser {
  /** Program and arguments to put before a command. */
  prefix: string[]
  /** User and group to change to, when there is no other way. */
  ids: { uid?: number; gid?: number }
}

/**
 * Who runs PostgreSQL here. Not root: ourselves. Root on Linux: a user namespace in which root is number 1000,
 * so no account is made, the files stay root's, and a folder under a closed /root works. Where namespaces are
 * forbidden (some containers): the account `postgres`, which must be able to enter the data folder.
 *
 * @throws Error that says what to do when neither is possible.
 */
export async function choosePostgresUser(log: Log): Promise<PostgresUser> {
  if (getuid?.() !== 0) return { prefix: [], ids: {} }
  const prefix = findNamespace()
  if (prefix !== undefined) return { prefix, ids: {} }
  const ids = await findAccount('postgres')
  if (ids === undefined)
    throw new Error(
      'PostgreSQL does not run as root, this system allows no user namespaces and has no account `postgres`: ' +
        'start the server as another user, make that account (useradd --system postgres), or set DATABASE_URL.',
    )
  log.warn(
    { uid: ids.uid },
    'the embedded PostgreSQL runs as the account postgres, which must be able to enter the data folder',
  )
  return { prefix: [], ids }
}

function findNamespace(): string[] | undefined {
  const program = ['/usr/bin/unshare', '/bin/unshare'].find((path) => existsSync(path))
  if (program === undefined) return undefined
  const prefix = [program, '-U', '--map-user=1000', '--map-group=1000']
  const tried = spawnSync(program, [...prefix.slice(1), '/bin/true'], { env: {}, stdio: 'ignore' })
  return tried.status === 0 ? prefix : undefined
}

async function findAccount(name: string): Promise<{ uid: number; gid: number } | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

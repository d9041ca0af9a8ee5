import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath, getuid, kill, pid } from 'node:process'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { type DatabaseConnection, toClientConfig } from './database-connection.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'
import { createLog } from './log.ts'
import { findPostgresPrograms } from './postgres-package.ts'

const log = createLog({ logLevel: 'fatal', replica: 'test' })
const base = mkdtempSync(join(tmpdir(), 'knoc-pg-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

async function start(dataDir: string) {
  const embedded = await startEmbeddedPostgres({ dataDir, log })
  onTestFinished(() => embedded.stop())
  return embedded
}

async function ask(connection: DatabaseConnection, sql: string): Promise<unknown> {
  const client = new Client(toClientConfig(connection))
  await client.connect()
  try {
    const { rows } = await client.query(sql)
    return Object.values(rows[0] ?? {})[0]
  } finally {
    await client.end()
  }
}

/** Most tests go on with one data folder, as an installation does; making a cluster is what takes long. */
const dataDir = join(base, 'data')

const postmasterPid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'pg18/data/postmaster.pid'), 'utf8').split('\n')[0])

describe('the embedded PostgreSQL', () => {
  it('listens on a closed socket only, keeps its password to itself, and loses nothing that was committed', async () => {
    // What an earlier first start left that was killed in the middle.
    mkdirSync(join(dataDir, 'pg18/data.half'), { recursive: true })
    const { connection } = await start(dataDir)
    expect(existsSync(join(dataDir, 'pg18/data.half'))).toBe(false)
    expect(await ask(connection, 'show listen_addresses')).toBe('')
    expect(await ask(connection, 'show fsync')).toBe('on')
    expect(await ask(connection, 'show synchronous_commit')).toBe('on')
    expect(await ask(connection, 'select rolsuper from pg_roles where rolname = current_user')).toBe(false)
    expect(statSync(join(dataDir, 'pg18/password')).mode & 0o777).toBe(0o600)
    expect(statSync(connection.host).mode & 0o777).toBe(0o700)
    const stranger = { host: connection.host, user: 'knoc', password: 'guess', database: 'knoc' }
    await expect(new Client(stranger).connect()).rejects.toMatchObject({ code: '28P01' })
  })

  it('is not reached by a Ctrl-C in the terminal: it has a process group of its own', async () => {
    await start(dataDir)
    const groupOf = (process: number | 'self') =>
      readFileSync(`/proc/${process}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]
    expect(groupOf(postmasterPid(dataDir))).not.toBe(groupOf('self'))
  })

  it('outlives a server that was killed, and the next server takes it over with its data', async () => {
    const child = startChild(dataDir)
    const [host] = (await once(child.stdout, 'data')).map((chunk) => String(chunk).trim())
    const postmaster = postmasterPid(dataDir)
    const password = readFileSync(join(dataDir, 'pg18/password'), 'utf8').trim()
    const client = new Client({ host, user: 'knoc', password, database: 'knoc' })
    await client.connect()
    await client.query('create table kept as select 42 as answer')
    await client.end()
    child.kill('SIGKILL')
    const { connection } = await start(dataDir)
    expect(postmasterPid(dataDir)).toBe(postmaster)
    expect(await ask(connection, 'select answer from kept')).toBe(42)
  })

  it('refuses a second server on the same folder, and the first goes on', async () => {
    const { connection } = await start(dataDir)
    await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toThrow('Another server is running')
    expect(await ask(connection, 'select 1')).toBe(1)
  }, 20_000)

  it('starts although the number in its pid file belongs to another process by now', async () => {
    const first = await startEmbeddedPostgres({ dataDir, log })
    const file = join(dataDir, 'pg18/data/postmaster.pid')
    const lines = readFileSync(file, 'utf8').split('\n')
    await first.stop()
    writeFileSync(file, [pid, ...lines.slice(1)].join('\n'))
    writeFileSync(join(first.connection.host, '.s.PGSQL.5432.lock'), [pid, ...lines.slice(1)].join('\n'))
    const { connection } = await start(dataDir)
    expect(await ask(connection, 'select 1')).toBe(1)
  })

  it('starts again, with what was committed, after its own crash', async () => {
    const { connection } = await start(dataDir)
    await ask(connection, 'create table crashed as select 42 as answer')
    const killed = postmasterPid(dataDir)
    kill(killed, 'SIGKILL')
    await expect
      .poll(() => ask(connection, 'select answer from crashed').catch(() => undefined), { timeout: 15_000 })
      .toBe(42)
    expect(postmasterPid(dataDir)).not.toBe(killed)
  })

  it('works below a folder that only root may enter, and where the path is too long for a socket', async () => {
    const closed = join(base, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const dataDir = join(closed, 'a-rather-long-name-for-a-folder'.repeat(3))
    const { connection } = await start(dataDir)
    expect(await ask(connection, 'select 1')).toBe(1)
    expect(Buffer.byteLength(connection.host)).toBeLessThanOrEqual(88)
    expect(statSync(connection.host).mode & 0o777).toBe(0o700)
    rmSync(connection.host, { recursive: true, force: true })
  })

  it.skipIf(getuid?.() !== 0)('runs as another account where root has no user namespaces', async () => {
    const user = { prefix: [], ids: { uid: 65_534, gid: 65_534 } }
    const open = mkdtempSync(join(tmpdir(), 'knoc-pg-'))
    chmodSync(open, 0o755)
    onTestFinished(() => rmSync(open, { recursive: true, force: true }))
    const dataDir = join(open, 'data')
    const first = await startEmbeddedPostgres({ dataDir, log, user })
    expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(65_534)
    await first.stop()
    const second = await startEmbeddedPostgres({ dataDir, log, user })
    expect(await ask(second.connection, 'select 1')).toBe(1)
    await second.stop()
    const closed = join(base, 'no-entry')
    mkdirSync(closed, { mode: 0o700 })
    await expect(startEmbeddedPostgres({ dataDir: join(closed, 'data'), log, user })).rejects.toThrow(
      'choose a KNOC_DATA_DIR',
    )
  })

  it('refuses the data of another major with the way out in the message', async () => {
    const dataDir = join(base, 'older')
    mkdirSync(join(dataDir, 'pg17'), { recursive: true })
    await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toThrow(
      /PostgreSQL 17.*knoc upgrade-database/,
    )
    mkdirSync(join(dataDir, 'pg18/data'), { recursive: true })
    writeFileSync(join(dataDir, 'pg18/data/PG_VERSION'), '19\n')
    await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toThrow('PostgreSQL 19')
  })

  it('refuses a password file that others can read', async () => {
    chmodSync(join(dataDir, 'pg18/password'), 0o644)
    await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toThrow('may be read by others')
  })
})

describe('the PostgreSQL package', () => {
  const link = { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }

  function aPackage(name: string): string {
    const folder = join(base, name)
    mkdirSync(join(folder, 'native/lib'), { recursive: true })
    writeFileSync(join(folder, link.source), '')
    writeFileSync(join(folder, 'native/pg-symlinks.json'), JSON.stringify([link]))
    return folder
  }

  it('gets the library links that its install script did not make', async () => {
    const folder = aPackage('unhydrated')
    const { env } = await findPostgresPrograms(join(base, 'lib-a'), folder)
    expect(existsSync(join(folder, link.target))).toBe(true)
    expect(env).not.toHaveProperty('LD_LIBRARY_PATH')
  })

  it('gets them in a private folder when the package cannot be written', async () => {
    const folder = aPackage('readonly')
    // Root may write anywhere: a link to nowhere in the way stands for a folder that refuses.
    rmSync(join(folder, 'native/pg-symlinks.json'))
    const target = 'native/closed/libpq.so.5'
    writeFileSync(join(folder, 'native/pg-symlinks.json'), JSON.stringify([{ ...link, target }]))
    symlinkSync('/nowhere/at/all', join(folder, 'native/closed'))
    const { env } = await findPostgresPrograms(join(base, 'lib-b'), folder)
    expect(env.LD_LIBRARY_PATH).toBe(`${join(base, 'lib-b')}:${join(folder, 'native/lib')}`)
    expect(existsSync(join(base, 'lib-b/libpq.so.5'))).toBe(true)
  })
})

function startChild(dataDir: string) {
  const script = fileURLToPath(new URL('../../tests/support/start-embedded-postgres.ts', import.meta.url))
  return spawn(execPath, ['run', '-A', script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateEverything } from '#server/open-database.ts'
import { createDatabase } from '#server/platform/database.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { createLog } from '#server/platform/log.ts'
import { freePort } from '#tests/support/redis.ts'
import { startServerProcess, toDatabaseUrl } from '#tests/support/running-server.ts'
import { createApiClient } from '../../deploy/demo/api-client.ts'
import { makeLicence } from '../../deploy/demo/licence.ts'

const password = 'a password of benches 1'
const categories = ['Finance', 'Production', 'Default', 'Laboratory', 'Support']

/** A server with its pages and one user who has many entries. */
export type WebSite = Awaited<ReturnType<typeof openWebSite>>

/** Starts it on a database of its own; the server's process is as `npm start` runs it. */
export async function openWebSite({ entries }: { entries: number }) {
  const folder = await mkdtemp(join(tmpdir(), 'knoc-bench-web-'))
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  async function close(): Promise<void> {
    for (const step of undo.splice(0).toReversed()) await step()
  }

  async function open() {
    const postgres = await startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      log: createLog({ logLevel: 'error', replica: 'bench' }),
    })
    undo.push(postgres.stop)
    await migrateEverything(postgres.connection)
    const { publicKey, licence } = await makeLicence(join(folder, 'licence'))
    const url = `http://127.0.0.1:${await freePort()}`
    const server = await startServerProcess({
      place: (command) => command,
      env: {
        KNOC_DATA_DIR: join(folder, 'server'),
        KNOC_HOST: '127.0.0.1',
        KNOC_PORT: new URL(url).port,
        KNOC_PUBLIC_URL: url,
        KNOC_ADMIN_USERNAME: 'root',
        KNOC_ADMIN_PASSWORD: password,
        KNOC_LICENCE_PUBLIC_KEY: publicKey,
        KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        KNOC_LOG_LEVEL: 'error',
        DATABASE_URL: toDatabaseUrl(postgres.connection),
      },
    })
    undo.push(server.stop)
    const api = createApiClient(url)
    await api.request('POST', '/admin/login', { UserName: 'root', Password: password })
    await api.request('POST', '/admin/settings/license', { License: licence })
    const user = await api.request<{ ID: string }>('POST', '/admin/users', {
      Name: 'Robin Reed',
      UserName: 'robin',
      PlainPassword: password,
    })
    await seedEntries(postgres.connection, user.ID, entries)
    return { url, login: { userName: 'robin', password }, close }
  }

  return open().catch(async (error: unknown) => {
    await close()
    throw error
  })
}

/** Entries that nothing enforces: this bench is about what a browser does with them. */
async function seedEntries(
  connection: Parameters<typeof createDatabase>[0],
  userId: string,
  count: number,
): Promise<void> {
  const { db, close } = createDatabase(connection, { max: 1, applicationName: 'bench' })
  try {
    const made = await db
      .insertInto('acls')
      .values(
        Array.from({ length: count }, (_, index) => ({
          description: `${categories[index % categories.length]} host ${index}`,
          category: categories[index % categories.length] ?? 'Default',
          icon: 'server',
          url: `https://host-${index}.example.com/`,
          clickToGrant: true,
        })),
      )
      .returning('id')
      .execute()
    await db
      .insertInto('userAcls')
      .values(made.map(({ id }) => ({ userId, aclId: id })))
      .execute()
  } finally {
    await close()
  }
}

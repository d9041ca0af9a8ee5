import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiClient } from '../../deploy/demo/api-client.ts'
import { buildWeb } from './browser-build.ts'
import { testDatabase } from './database.ts'
import { freePort } from './redis.ts'
import { startServerProcess, toDatabaseUrl } from './running-server.ts'

/** A server on http://localhost, the one name for which browsers have passkeys without https. */
export type LocalhostSite = Awaited<ReturnType<typeof openLocalhostSite>>

/** The administrator of a site. */
export const localhostAdmin = { userName: 'root', password: 'a password of tests 1' } as const

/** Starts it with its pages, and with the administrator's view of its API. Nothing else is there. */
export async function openLocalhostSite() {
  await buildWeb()
  const folder = await mkdtemp(join(tmpdir(), 'knoc-localhost-'))
  const database = await testDatabase({ max: 2 })
  const port = await freePort()
  const url = `http://localhost:${port}`
  const undo = [() => rm(folder, { recursive: true, force: true }), database.drop]
  const close = async () => {
    for (const step of undo.splice(0).toReversed()) await step()
  }

  async function open() {
    const server = await startServerProcess({
      place: (command) => command,
      env: {
        KNOC_DATA_DIR: folder,
        KNOC_HOST: 'localhost',
        KNOC_PORT: String(port),
        KNOC_PUBLIC_URL: url,
        KNOC_ADMIN_USERNAME: localhostAdmin.userName,
        KNOC_ADMIN_PASSWORD: localhostAdmin.password,
        KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        DATABASE_URL: toDatabaseUrl(database.connection),
      },
    })
    undo.push(server.stop)
    const api = createApiClient(url)
    const { userName, password } = localhostAdmin
    await api.request('POST', '/admin/login', { UserName: userName, Password: password })
    return { url, api, db: database.db, close }
  }
  return open().catch(async (error: unknown) => {
    await close()
    throw error
  })
}

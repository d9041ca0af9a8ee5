import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentCreated } from '#server/agents/agent.schema.ts'
import { createApiClient } from '../../deploy/demo/api-client.ts'
import type { Arena } from '../../deploy/demo/arena.ts'
import { openGateArena } from '../../deploy/demo/gate-arena.ts'
import { openKernelArena } from '../../deploy/demo/kernel-arena.ts'
import { makeLicence } from '../../deploy/demo/licence.ts'
import { waitForAgent } from '../../deploy/demo/seed.ts'
import { buildWeb } from './browser-build.ts'
import { testDatabase } from './database.ts'
import type { TestProcess } from './process.ts'
import { startAgentProcess, startServerProcess, toDatabaseUrl } from './running-server.ts'

/** The whole product in one of the demo's arenas, for a browser on this host: the stranger outside. */
export type BrowserSite = Awaited<ReturnType<typeof openBrowserSite>>

/** The administrator of a site. */
export const admin = { userName: 'root', password: 'a password of tests 1' } as const

/** Opens an arena with a server, its pages and a licence in it. Nothing else is there; no agent runs. `env` adds to the server's. */
export async function openBrowserSite({
  kind,
  env = {},
}: {
  kind: Arena['kind']
  env?: Record<string, string>
}) {
  await buildWeb()
  const folder = await mkdtemp(join(tmpdir(), 'knoc-browser-'))
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]

  async function close(): Promise<void> {
    for (const step of undo.splice(0).toReversed()) await step()
  }

  async function open() {
    const arena = kind === 'kernel' ? await openKernelArena() : await openGateArena(folder)
    undo.push(arena.close)
    const database = await testDatabase({ max: 2 })
    undo.push(database.drop)
    const { publicKey, licence } = await makeLicence(join(folder, 'licence'))
    const server = await startServerProcess({
      place: arena.place,
      env: {
        ...arena.serverEnv,
        KNOC_DATA_DIR: join(folder, 'server'),
        KNOC_HOST: arena.host,
        KNOC_PORT: new URL(arena.serverUrl).port,
        KNOC_PUBLIC_URL: arena.serverUrl,
        KNOC_ADMIN_USERNAME: admin.userName,
        KNOC_ADMIN_PASSWORD: admin.password,
        KNOC_LICENCE_PUBLIC_KEY: publicKey,
        KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        DATABASE_URL: toDatabaseUrl(database.connection),
        ...env,
      },
    })
    undo.push(server.stop)
    const api = createApiClient(arena.serverUrl)
    await api.request('POST', '/admin/login', { UserName: admin.userName, Password: admin.password })
    await api.request('POST', '/admin/settings/license', { License: licence })
    return { arena, licence, server, api, db: database.db }
  }

  const opened = await open().catch(async (error: unknown) => {
    await close()
    throw error
  })
  const { arena } = opened

  /** Starts an agent on the protected host, by its launcher; the token is good once. */
  async function startAgent(token: string): Promise<TestProcess> {
    const data = join(folder, 'agent')
    await mkdir(data, { recursive: true, mode: 0o700 })
    const agent = startAgentProcess({
      place: arena.place,
      server: arena.serverUrl,
      data,
      token,
      env: arena.agentEnv,
    })
    undo.push(agent.stop)
    return agent
  }

  return {
    ...opened,
    startAgent,
    /** An agent that is linked, called edge, and a click-to-grant knoc in front of the service for one user; its id. */
    seed: async ({
      name,
      user,
    }: {
      name: string
      user: { userName: string; password: string }
    }): Promise<string> => {
      const { api } = opened
      const created = await api.request<{ ID: string }>('POST', '/admin/users', {
        Name: 'Robin Reed',
        UserName: user.userName,
        PlainPassword: user.password,
      })
      const { ID: agentId, Token } = await api.request<AgentCreated>('POST', '/admin/agents', {
        Name: 'edge',
      })
      await startAgent(Token)
      await waitForAgent(api, agentId)
      const knoc = await api.request<{ ID: string }>('POST', '/admin/knocs', {
        Backend: { AgentID: agentId, Config: arena.knoc.backend },
        ACL: { Description: name, URL: arena.doorUrl, ClickToGrant: true, Config: arena.knoc.acl },
        UserIDs: [created.ID],
      })
      return knoc.ID
    },
    /** Whether the protected service lets this host in. */
    isReachable: async (): Promise<boolean> => {
      try {
        const answer = await fetch(arena.doorUrl, { signal: AbortSignal.timeout(1_000) })
        return (await answer.text()).startsWith('You came through')
      } catch {
        return false
      }
    },
    close,
  }
}

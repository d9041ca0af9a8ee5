import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentCreated } from '#server/agents/agent.schema.ts'
import type { GrantAnswer } from '#server/grants/grant.schema.ts'
import type { KnocCreated } from '#server/knocs/knoc.schema.ts'
import type { AclStatus, UserStatus } from '#server/status/status.schema.ts'
import { type ApiClient, ApiFailure, createApiClient } from '../../deploy/demo/api-client.ts'
import { makeLicence } from '../../deploy/demo/licence.ts'
import { waitForAgent } from '../../deploy/demo/seed.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { addresses, type TestHost } from './host.ts'
import type { TestProcess } from './process.ts'
import { startAgentProcess, startServerProcess, toDatabaseUrl } from './running-server.ts'
import { until } from './until.ts'

/** Password of everybody on the site. */
export const password = 'a password of tests 1'
export const admin = { UserName: 'root', Password: password }

/** Where the first server of a site listens. */
export const serverPort = 8080

/** A whole installation on a test's host: real server processes, agents, people. */
export type Site = Awaited<ReturnType<typeof aSite>>

/** Somebody who is signed in to the portal. */
export type Person = Awaited<ReturnType<Site['aPerson']>>

/**
 * Starts a server with a licence and a signed-in administrator, on a database of its own (the run's PostgreSQL)
 * unless `env` says otherwise. Nothing is faked: everything goes through the processes and the HTTP API.
 *
 * With `everywhere` people may be at any address: the client outside is a trusted proxy that names them. A `database`
 * that is given is the caller's: its `drop` is called at the end.
 */
export async function aSite(
  host: TestHost,
  {
    env = {},
    everywhere = false,
    database: given,
  }: { env?: Record<string, string>; everywhere?: boolean; database?: TestDatabase } = {},
) {
  const database = given ?? (await testDatabase({ max: 6 }))
  const folder = mkdtempSync(join(host.folder, 'site-'))
  const { publicKey, licence } = await makeLicence(join(folder, 'licence'))
  const settings = {
    KNOC_DATA_DIR: join(folder, 'server'),
    KNOC_HOST: '::',
    KNOC_PUBLIC_URL: `http://${addresses.host4}:${serverPort}`,
    KNOC_ALLOW_HTTP: 'true',
    KNOC_ADMIN_USERNAME: admin.UserName,
    KNOC_ADMIN_PASSWORD: admin.Password,
    KNOC_LICENCE_PUBLIC_KEY: publicKey,
    KNOC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    KNOC_TRUSTED_PROXIES: everywhere ? addresses.client4 : '',
    DATABASE_URL: toDatabaseUrl(database.connection),
    ...env,
  }
  const servers: TestProcess[] = []
  const agents: TestProcess[] = []

  /** Starts a replica, or one again that was killed; all of them have the same settings but port, name and `its` own. */
  async function startServer(
    port: number = serverPort,
    replica = `r${port}`,
    its: Record<string, string> = {},
  ) {
    const server = await startServerProcess({
      place: host.place,
      env: { ...settings, KNOC_PORT: String(port), KNOC_REPLICA: replica, ...its },
    })
    servers.push(server)
    return server
  }

  /** Signs the administrator in at a replica. */
  async function openConsole(port: number = serverPort): Promise<ApiClient> {
    const client = createApiClient(urlOf(port), host.client.fetch)
    await client.request('POST', '/admin/login', admin)
    return client
  }

  const server = await startServer()
  const console_ = await openConsole()
  await console_.request('POST', '/admin/settings/license', { License: licence })

  /** Registers an agent; its token is good once. */
  async function registerAgent(name: string) {
    const { ID, Token } = await console_.request<AgentCreated>('POST', '/admin/agents', { Name: name })
    const data = join(folder, `agent-${name}`)
    mkdirSync(data, { recursive: true, mode: 0o700 })
    return { id: ID, token: Token, data }
  }

  /** Starts an agent's process, by `port` of a server or proxy on the host's loopback. */
  function startAgent(
    { token, data }: { token: string; data: string },
    {
      port = serverPort,
      on = host,
      ...options
    }: {
      port?: number
      on?: Pick<TestHost, 'place'>
      quick?: boolean
      program?: string
      env?: Record<string, string>
    } = {},
  ): TestProcess {
    const agent = startAgentProcess({
      place: on.place,
      server: `http://127.0.0.1:${port}`,
      data,
      token,
      ...options,
    })
    agents.push(agent)
    return agent
  }

  /** An agent that is linked. */
  async function aLinkedAgent(name: string, options: Parameters<typeof startAgent>[1] = {}) {
    const registered = await registerAgent(name)
    const agent = startAgent(registered, options)
    await waitForAgent(console_, registered.id)
    return { ...registered, process: agent }
  }

  /** A click-to-grant knoc on sets of an agent's host, for these people. */
  function aKnoc(
    agentId: string,
    {
      name,
      set4,
      set6,
      people = [],
      ...fields
    }: { name: string; set4?: string; set6?: string; people?: { userId: string }[] } & Record<
      string,
      unknown
    >,
  ): Promise<KnocCreated> {
    return console_.request<KnocCreated>('POST', '/admin/knocs', {
      Backend: { AgentID: agentId, Config: { ipset: {} } },
      ACL: {
        Description: name,
        ClickToGrant: true,
        Config: { ipset: setsOf(set4, set6) },
        ...fields,
      },
      UserIDs: people.map(({ userId }) => userId),
    })
  }

  /** Makes a user and signs in, at once and from wherever `at` says; from the client outside if it doesn't. */
  async function aPerson(
    userName: string,
    { at, url = urlOf(), ...fields }: { at?: string; url?: string } & Record<string, unknown> = {},
  ) {
    const { ID } = await console_.request<{ ID: string }>('POST', '/admin/users', {
      Name: userName,
      UserName: userName,
      PlainPassword: password,
      ...fields,
    })
    return { userId: ID, userName, at: at ?? addresses.client4, ...(await signIn(userName, url, at)) }
  }

  /** A browser's worth of the portal. */
  async function signIn(userName: string, url = urlOf(), at?: string) {
    const client = createApiClient(url, host.client.fetch)
    const headers = at === undefined ? {} : { 'X-Forwarded-For': at }
    const ask = <Data>(method: string, path: string, body?: unknown) =>
      client.request<Data>(method, path, body, headers)
    await ask('POST', '/login', { UserName: userName, Password: password })
    return {
      ask,
      grant: (aclId: string) => ask<GrantAnswer>('POST', '/grant', { ACLID: aclId, IPs: [] }),
      revoke: (aclId: string) => ask<GrantAnswer>('DELETE', `/sessions/current/granted-acls/${aclId}`),
      statusOf: async (aclId: string): Promise<AclStatus | undefined> =>
        (await ask<UserStatus>('GET', '/status')).ACLs.find((acl) => acl.ACLID === aclId),
    }
  }

  /** Waits until a person's entry has one of these status numbers; a server that is overloaded is asked again. */
  const untilStatus = (
    person: { statusOf: (aclId: string) => Promise<AclStatus | undefined> },
    aclId: string,
    wanted: readonly number[],
  ) =>
    until(`status ${wanted.join(' or ')}`, async () => {
      const entry = await person.statusOf(aclId).catch(passOverload)
      return wanted.includes(entry?.Status ?? -1)
    })

  async function close(): Promise<void> {
    await Promise.all(agents.map((agent) => agent.kill()))
    await Promise.all(servers.map((running) => running.stop()))
    await database.drop()
  }

  return {
    db: database.db,
    database,
    settings,
    server,
    /** Every server process so far, dead ones included. */
    servers,
    console: console_,
    openConsole,
    startServer,
    registerAgent,
    startAgent,
    aLinkedAgent,
    aKnoc,
    aPerson,
    signIn,
    untilStatus,
    /** The last words of servers and agents that ended without being told to; always empty. */
    crashes: () =>
      [...servers, ...agents]
        .filter((running) => running.hasCrashed())
        .map((running) => running.lines.slice(-15).join('\n')),
    /** Everything the servers and agents logged so far. */
    logged: () => [...servers, ...agents].flatMap((running) => running.lines),
    close,
  }
}

/** The address of a server on the host, as seen from outside. */
export const urlOf = (port: number = serverPort, family: 4 | 6 = 4): string =>
  `http://${family === 4 ? addresses.host4 : `[${addresses.host6}]`}:${port}`

const setsOf = (set4: string | undefined, set6: string | undefined) => ({
  ...(set4 === undefined ? {} : { V4SetName: set4 }),
  ...(set6 === undefined ? {} : { V6SetName: set6 }),
})

/** @throws whatever else the server answered. */
function passOverload(error: unknown): undefined {
  if (error instanceof ApiFailure && error.status === 503) return undefined
  throw error
}

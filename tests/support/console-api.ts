import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { Hono } from 'hono'
import { type Capabilities, linkHeaders, linkSignatureText } from '#machines/protocol.ts'
import { aclRoutes } from '#server/acls/acl.routes.ts'
import { agentRoutes } from '#server/agents/agent.routes.ts'
import { agentLinkRoutes } from '#server/agents/agent-link.routes.ts'
import { backendRoutes } from '#server/backends/backend.routes.ts'
import { createRights } from '#server/entries/create-rights.ts'
import type { OrderRef } from '#server/entries/settle-entries.ts'
import { knocRoutes } from '#server/knocs/knoc.routes.ts'
import { licenceRoutes } from '#server/licence/licence.routes.ts'
import { licencePayloadSchema } from '#server/licence/licence.schema.ts'
import { signLicence } from '#server/licence/licence-key.ts'
import { readConfig } from '#server/platform/config.ts'
import { clientAddressOf } from '#server/platform/http/client-address.ts'
import { errorHandler, notFoundHandler } from '#server/platform/http/error-handler.ts'
import type { HttpEnv } from '#server/platform/http/http-env.ts'
import { requestId } from '#server/platform/http/request-id.ts'
import { createLog } from '#server/platform/log.ts'
import { newId, newToken } from '#server/platform/random.ts'
import { Secret } from '#server/platform/secret.ts'
import { createSealer } from '#server/platform/secrets.ts'
import type { AdminEnv } from '#server/sessions/session-guard.ts'
import { testDatabase } from './database.ts'

/** An answer as a test looks at it. */
export type Answer = { status: number; body: Body; etag: string | null }
// oxlint-disable-next-line typescript/no-explicit-any -- a test says by its expectations what an answer is.
type Body = any

/** Agents, backends, ACLs, knocs and the licence on a real database, for an administrator called root. */
export type ConsoleApi = Awaited<ReturnType<typeof startConsoleApi>>

/** Starts it, with a licence key pair of its own. `max` is how many connections it may have. */
export async function startConsoleApi({ max = 10 } = {}) {
  const database = await testDatabase({ max })
  const { db } = database
  const licenceKeys = generateKeyPairSync('ed25519')
  const config = readConfig({
    KNOC_PUBLIC_URL: 'https://knoc.example',
    KNOC_LICENCE_PUBLIC_KEY: toPem(licenceKeys.publicKey, 'spki'),
    KNOC_TRUSTED_PROXIES: '192.0.2.99',
  })
  const orders: OrderRef[] = []
  const dropped: string[] = []
  const gateway = {
    nudge: (refs: readonly OrderRef[]) => void orders.push(...refs),
    drop: async (agentId: string) => void dropped.push(agentId),
  }
  const events = { publish: () => undefined, subscribe: () => () => undefined }
  const deps = {
    db: { grants: db, lists: db, background: db },
    config,
    gateway,
    sealer: createSealer(new Secret(Buffer.alloc(32, 7).toString('base64'))),
    rights: createRights({ db, gateway, events }),
  }
  const app = new Hono<HttpEnv & AdminEnv>()
    .onError(errorHandler({ log: createLog({ logLevel: 'error', replica: 'tests' }) }))
    .notFound(notFoundHandler)
    .use(requestId())
    .use(clientAddressOf(config.trustedProxies))
    .route('/agent', agentLinkRoutes(deps))
    .use('/admin/*', async (c, next) => {
      c.set('admin', { name: 'root' } as AdminEnv['Variables']['admin'])
      await next()
    })
    .route('/admin/agents', agentRoutes(deps))
    .route('/admin/backends', backendRoutes(deps))
    .route('/admin/acls', aclRoutes(deps))
    .route('/admin/knocs', knocRoutes(deps))
    .route('/admin/settings/license', licenceRoutes(deps))

  async function call(
    method: string,
    path: string,
    json?: unknown,
    { peer = '198.51.100.7', headers = {} }: { peer?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const init = {
      method,
      headers: { ...(json !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    }
    const response = await app.request(path, init, { peer })
    return { status: response.status, body: await response.json(), etag: response.headers.get('etag') }
  }

  /** A licence key signed with this installation's key. */
  function licenceKey(facts: Record<string, unknown> = {}, key: KeyObject = licenceKeys.privateKey): string {
    const payload = { v: 1, id: newId(), users: 100, sessions: 3, expires: '2099-01-01T00:00:00Z', ...facts }
    return signLicence(licencePayloadSchema.parse(payload), toPem(key, 'pkcs8'))
  }

  return {
    db,
    deps,
    database,
    /** Orders handed over after commits, and agents whose links were ended. */
    orders,
    dropped,
    licenceKey,
    get: (path: string) => call('GET', path),
    post: (path: string, json: unknown, from: { peer?: string } = {}) => call('POST', path, json, from),
    put: (path: string, json: unknown, headers: Record<string, string> = {}) =>
      call('PUT', path, json, { headers }),
    delete: (path: string) => call('DELETE', path),
    license: async (facts: Record<string, unknown> = {}) =>
      call('POST', '/admin/settings/license', { License: licenceKey(facts) }),
    audit: async () => {
      const rows = await db.selectFrom('auditEvents').select(['kind', 'fields']).orderBy('id').execute()
      return rows as { kind: string; fields: Record<string, string> }[]
    },
    stop: database.drop,
  }
}

/** A host that can do everything. */
export const able: Capabilities = {
  'os-release': { NAME: 'Debian GNU/Linux', VERSION: '12 (bookworm)' },
  ipset: { command_available: true, sudo_enabled: true, privilege: 'root', ipsets: [] },
  haproxy: null,
  script: { enabled: true, commands: ['open-door'] },
}

/** A registered agent as its own host knows it. */
export type TestAgent = {
  id: string
  token: string
  signing: KeyObject
  sealing: KeyObject
  enrolment: Record<'Token' | 'PublicKey' | 'SealingKey' | 'MachineID' | 'Version', string>
}

/** Registers an agent; it has keys but did not enrol yet. */
export async function aRegisteredAgent(
  api: ConsoleApi,
  name = `agent-${newToken().slice(0, 8)}`,
): Promise<TestAgent> {
  const { status, body } = await api.post('/admin/agents', { Name: name })
  if (status !== 201) throw new Error(`no agent was made: ${status} ${JSON.stringify(body)}`)
  const [signing, sealing] = [generateKeyPairSync('ed25519'), generateKeyPairSync('x25519')]
  return {
    id: body.data.ID,
    token: body.data.Token,
    signing: signing.privateKey,
    sealing: sealing.privateKey,
    enrolment: {
      Token: body.data.Token,
      PublicKey: toSpki(signing.publicKey),
      SealingKey: toSpki(sealing.publicKey),
      MachineID: `machine-of-${name}`,
      Version: '2.0.0',
    },
  }
}

/** An agent that enrolled and said hello once. */
export async function anEnrolledAgent(
  api: ConsoleApi,
  { name, capabilities = able }: { name?: string; capabilities?: Capabilities } = {},
): Promise<TestAgent> {
  const agent = await aRegisteredAgent(api, name)
  const { status } = await api.post('/agent/enrol', agent.enrolment)
  if (status !== 200) throw new Error(`the agent was not enrolled: ${status}`)
  await api.db
    .updateTable('agents')
    .set({ version: '2.0.0', capabilities: JSON.stringify(capabilities), lastSeenAt: new Date() })
    .where('id', '=', agent.id)
    .execute()
  return agent
}

/** The headers an agent opens its link with, after asking for a challenge. */
export async function linkRequest(
  api: ConsoleApi,
  agent: TestAgent,
  changed: Partial<Record<keyof typeof linkHeaders | 'server', string>> = {},
): Promise<Headers> {
  const { body } = await api.post('/agent/challenge', { AgentID: changed.agent ?? agent.id })
  const parts = {
    server: body.data.Server as string,
    nonce: body.data.Nonce as string,
    agent: agent.id,
    machine: agent.enrolment.MachineID,
    protocol: '1-1',
    ...changed,
  }
  const text = linkSignatureText({ ...parts, agentId: parts.agent, machineId: parts.machine })
  return new Headers({
    [linkHeaders.agent]: parts.agent,
    [linkHeaders.nonce]: parts.nonce,
    [linkHeaders.protocol]: parts.protocol,
    [linkHeaders.machine]: parts.machine,
    [linkHeaders.signature]:
      changed.signature ?? sign(null, Buffer.from(text), agent.signing).toString('base64'),
  })
}

/** A public key as it travels. */
export const toSpki = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).toString('base64')

const toPem = (key: KeyObject, type: 'spki' | 'pkcs8'): string => key.export({ format: 'pem', type })

import { Hono } from 'hono'
import { challengeSchema, enrolSchema } from '#machines/protocol.ts'
import type { Deps } from '../context.ts'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { validate } from '../platform/http/validate.ts'
import { enrolAgent } from './enrolment.service.ts'
import { readDatabaseTimeUs } from './identity.store.ts'
import { createNonce } from './link-nonce.ts'

/** What an agent calls before it has a link; no session. Mounted at /agent, needs `clientAddressOf` before it. */
export function agentLinkRoutes(deps: Pick<Deps, 'db' | 'config' | 'sealer'>) {
  return new Hono<HttpEnv>()
    .post('/enrol', validate('json', enrolSchema), async (c) => {
      const from = { address: c.var.client.address, requestId: c.var.requestId ?? null }
      return ok(c, await enrolAgent(deps, c.req.valid('json'), from))
    })
    .post('/challenge', validate('json', challengeSchema), async (c) => {
      const { AgentID } = c.req.valid('json')
      const drawnAtUs = await readDatabaseTimeUs(deps.db.grants)
      return ok(c, {
        Nonce: createNonce(deps.sealer, AgentID.toLowerCase(), drawnAtUs),
        Server: deps.config.publicUrl,
      })
    })
}

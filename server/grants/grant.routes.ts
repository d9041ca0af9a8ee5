import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { z } from 'zod'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { ok } from '../platform/http/envelope.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { validate } from '../platform/http/validate.ts'
import { isSessionLive } from '../sessions/session.query.ts'
import { requireUser } from '../sessions/session-guard.ts'
import type { AclStatusRow } from './acl-status.query.ts'
import { statusNumberOf } from './acl-status.ts'
import { type GrantAnswer, grantSchema, logIpsSchema, type PortalEvent } from './grant.schema.ts'
import type { GrantService } from './grant.service.ts'
import { readUserStatus } from './user-status.service.ts'

/** The portal's own re-validation sends it; nothing else moves an address (decision 14). */
const revalidateHeader = 'X-Knoc-Revalidate'

/** A stream is looked at this often: has its session ended, is the other side still there. */
const streamCheckMs = 15_000

/** What the portal of a signed-in user calls: status, grant, revoke, live events. Portal §7. */
export function grantRoutes(
  deps: Pick<Deps, 'db' | 'config' | 'events' | 'sealer'> & { grants: GrantService },
) {
  const { db, sealer, grants, events } = deps
  return new Hono<HttpEnv>()
    .get('/status', requireUser(deps, { machines: 'whereKeyMay' }), async (c) => {
      const { session, client } = c.var
      if (c.req.header(revalidateHeader) === '1') {
        const { needsSignIn } = await grants.follow(session, client)
        if (needsSignIn) throw movedTooOften()
      }
      return ok(c, await readUserStatus({ db: db.grants, sealer }, session, client.address))
    })
    .post('/log_ips', requireUser(deps), validate('json', logIpsSchema), async (c) => {
      const { needsSignIn } = await grants.tie(c.var.session, c.var.client, c.req.valid('json').IPs)
      if (needsSignIn) throw movedTooOften()
      return ok(c, null)
    })
    .post(
      '/grant',
      requireUser(deps, { machines: 'whereKeyMay' }),
      validate('json', grantSchema),
      async (c) => ok(c, toAnswer(await grants.grant(c.var.session, c.var.client, c.req.valid('json')))),
    )
    .delete(
      '/sessions/current/granted-acls/:aclId',
      requireUser(deps, { machines: 'anywhere' }),
      validate('param', z.object({ aclId: z.uuid() })),
      async (c) => ok(c, toAnswer(await grants.revoke(c.var.session, c.req.valid('param').aclId))),
    )
    .get('/events', requireUser(deps), (c) => {
      c.header('X-Accel-Buffering', 'no')
      const sessionId = c.var.session.id
      return streamSSE(c, async (stream) => {
        const say = (event: PortalEvent) => stream.writeSSE({ data: JSON.stringify(event) })
        const unsubscribe = events.subscribe(sessionId, () => void say({ type: 'status', aclIds: [] }))
        stream.onAbort(unsubscribe)
        try {
          while (!stream.aborted && (await isSessionLive(db.grants, sessionId))) {
            await stream.write(': here\n\n')
            await stream.sleep(streamCheckMs)
          }
          if (!stream.aborted) await say({ type: 'ended' })
        } finally {
          unsubscribe()
        }
      })
    })
}

const movedTooOften = () => apiError('err.sessionExpired', { extra: 'err.addressMovedTooOften' })

const toAnswer = (row: AclStatusRow): GrantAnswer => ({
  ACLID: row.id,
  Status: statusNumberOf(row),
  ExpiredAfter: row.endsAt?.toISOString() ?? null,
})

import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { readPresentedKey } from '../api-keys/presented-key.ts'
import type { Deps } from '../context.ts'
import { ApiError, apiError } from '../errors.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { rateLimit } from '../platform/http/rate-limit.ts'
import { type ListRequest, readAllowlist } from './allowlist.service.ts'

/** Two hundred gateways behind one address that ask every two seconds stay below it. */
const readsOfAnAddress = { burst: 1_000, perMinute: 6_000 }

/** When a reader may ask again that couldn't be answered, in seconds. */
const retryAfterSeconds = 5

/** The instant of the list by the database's clock: what a reader of ends holds its own clock against. */
const nowHeader = 'X-Knoc-Now'

/**
 * Passive lists for firewalls. Mounted at /v1/allowlists.
 *
 * A device keeps its last list on an error and would close everything on an empty one; some stop enforcing a list
 * whose authentication fails. So whatever goes wrong here is 503 without a body (decision 39).
 */
export function allowlistRoutes(deps: Pick<Deps, 'db' | 'events' | 'log' | 'clock'>) {
  return new Hono<HttpEnv>()
    .onError((error, c) => toRefusal(c, error, deps.log))
    .get('/:aclId/:file', rateLimit(readsOfAnAddress, deps.clock), async (c) => {
      const { body, isKnown, at } = await readAllowlist(deps, readRequest(c))
      const headers = {
        ETag: body.etag,
        'Cache-Control': 'private, no-cache',
        [nowHeader]: at.toISOString(),
      }
      if (isKnown) return c.body(null, 304, headers)
      return c.body(body.text, 200, { ...headers, 'Content-Type': body.type })
    })
}

const paramsSchema = z.object({
  aclId: z.uuid(),
  file: z.string().regex(/^[\w-]{1,128}\.(txt|json)$/),
})

function readRequest(c: Context<HttpEnv>): ListRequest {
  const params = paramsSchema.safeParse(c.req.param())
  if (!params.success) throw apiError('err.notFound')
  const { aclId, file } = params.data
  const [token = '', form] = file.split('.')
  return {
    aclId,
    token,
    format: form === 'json' ? 'json' : 'txt',
    presented: readPresentedKey(c),
    client: c.var.client,
    ifNoneMatch: c.req.header('If-None-Match'),
    isHead: c.req.raw.method === 'HEAD',
    requestId: c.var.requestId,
  }
}

/** The list's address has its token in it, so the path isn't logged. */
function toRefusal(c: Context<HttpEnv>, error: Error, log: Deps['log']): Response {
  const { requestId, client } = c.var
  const facts = { requestId, aclId: c.req.param('aclId')?.slice(0, 64), client: client.address }
  if (!(error instanceof ApiError) || error.status >= 500) {
    log.warn({ ...facts, err: error }, 'a passive list could not be read')
    return c.body(null, 503, { 'Retry-After': String(retryAfterSeconds) })
  }
  const { code, status, extra, detail } = error
  log.debug({ ...facts, code, detail }, 'a passive list was refused')
  if (status === 401) c.header('WWW-Authenticate', 'Basic realm="Knoc", charset="UTF-8"')
  if (error.retryAfterSeconds !== undefined) c.header('Retry-After', String(error.retryAfterSeconds))
  return c.json({ Err: code, ...(extra !== undefined && { Extra: extra }) }, status)
}

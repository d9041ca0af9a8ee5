import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { ApiError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import { clientAddressOf } from '../platform/http/client-address.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { rateLimit } from '../platform/http/rate-limit.ts'
import type { Log } from '../platform/log.ts'
import type { Sight } from './sight.ts'

/** What answers lookups is made of. */
export type LookupDeps = { config: Pick<Config, 'publicUrl' | 'trustedProxies'>; sight: Sight; clock: Clock }

/** A page asks a handful of ports at once, now and then; a whole office is behind one address. */
const lookupsOfAnAddress = { burst: 1_500, perMinute: 6_000 }

/** One count for all ports. */
export const lookupLimit = (clock: Clock): MiddlewareHandler<HttpEnv> => rateLimit(lookupsOfAnAddress, clock)

/** The portal's own port: `/ip` says where the browser is, as the lookup ports do. Specification README "Discovery". */
export function portalLookupRoutes({ config, sight, clock }: LookupDeps) {
  return new Hono<HttpEnv>().get('/ip', lookupLimit(clock), async (c) => {
    const { client } = c.var
    await sight({ nonce: c.req.query('n'), client, by: { host: c.req.header('Host') ?? '' } })
    return answer(c, config)
  })
}

/** All that a lookup port does: any path answers the client's address, and there is nothing else. */
export function createLookupApp({
  config,
  sight,
  limit,
  log,
  port,
}: Omit<LookupDeps, 'clock'> & { limit: MiddlewareHandler<HttpEnv>; log: Pick<Log, 'error'>; port: number }) {
  return new Hono<HttpEnv>()
    .onError((error, c) => {
      c.header('Connection', 'close')
      if (error instanceof ApiError) return c.text('', error.status, retryHeaders(error))
      log.error({ err: error, port }, 'a lookup failed')
      return c.text('', 503)
    })
    .use(clientAddressOf(config.trustedProxies))
    .use(limit)
    .all('*', async (c) => {
      if (c.req.method !== 'GET' || hasBody(c)) return c.text('', 405, { Allow: 'GET', Connection: 'close' })
      await sight({ nonce: c.req.query('n'), client: c.var.client, by: { port } })
      return answer(c, config)
    })
}

/** Plain text that only the portal's own pages may read. */
const answer = (c: Context<HttpEnv>, { publicUrl }: LookupDeps['config']): Response =>
  c.text(c.var.client.address, 200, {
    'Access-Control-Allow-Origin': publicUrl,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })

const hasBody = (c: Context<HttpEnv>): boolean =>
  (c.req.header('Content-Length') ?? '0') !== '0' || c.req.header('Transfer-Encoding') !== undefined

const retryHeaders = ({ retryAfterSeconds }: ApiError): Record<string, string> =>
  retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }

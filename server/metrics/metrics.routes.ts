import { timingSafeEqual } from 'node:crypto'
import { type Context, Hono } from 'hono'
import type { Deps } from '../context.ts'
import { hasForwardingHeader } from '../platform/http/client-address.ts'
import type { HttpEnv } from '../platform/http/http-env.ts'
import { findAddress } from '../platform/http/ip-address.ts'
import { hashToken } from '../platform/random.ts'
import type { Metrics } from './metrics.ts'
import { metricsContentType } from './registry.ts'

const answers = { 'Cache-Control': 'no-store' }

/**
 * GET /metrics for Prometheus: with the token of KNOC_METRICS_TOKEN, or, while none is set, from this host itself.
 * Whoever may not read it learns nothing, not even that it is there.
 */
export function metricsRoutes({
  config,
  metrics,
}: Pick<Deps, 'config'> & { metrics: Pick<Metrics, 'text'> }) {
  const token = config.metricsToken?.expose()
  const mayRead = (c: Context<HttpEnv>): boolean =>
    token === undefined ? isFromThisHost(c) : isToken(c.req.header('Authorization'), token)
  return new Hono<HttpEnv>().get('/metrics', async (c) => {
    if (!mayRead(c)) return c.text('Not found.', 404, answers)
    return c.body(await metrics.text(), 200, { ...answers, 'Content-Type': metricsContentType })
  })
}

/** A proxy on this host speaks for others, whatever it names as their address. */
function isFromThisHost(c: Context<HttpEnv>): boolean {
  const peer = findAddress(c.env?.peer ?? '')?.address
  const isLoopback = peer === '::1' || peer?.startsWith('127.') === true
  return isLoopback && !hasForwardingHeader(c.req.raw.headers)
}

/** Hashes are of one length, so that the comparison tells nothing of the token's. */
function isToken(header: string | undefined, token: string): boolean {
  const given = /^Bearer ([\x21-\x7e]{1,256})$/.exec(header ?? '')?.[1]
  if (given === undefined) return false
  return timingSafeEqual(Buffer.from(hashToken(given)), Buffer.from(hashToken(token)))
}

import type { MiddlewareHandler } from 'hono'
import { apiError } from '../../errors.ts'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Keeps other sites from acting with a visitor's cookie. A request that may change something must come from
 * our own origin, as browsers themselves say; without their headers (programs, agents) its body must be JSON or
 * absent, which no form of another site can send. `exempt` are the two IdP callbacks, which are bound to the
 * browser in another way (decision 16).
 */
export function originCheck({
  publicUrl,
  exempt = [],
}: {
  publicUrl: string
  exempt?: readonly string[]
}): MiddlewareHandler {
  const ownOrigin = new URL(publicUrl).origin
  return async function checkOrigin(c, next) {
    if (!safeMethods.has(c.req.method) && !exempt.includes(c.req.path)) {
      const refusal = findRefusal(c.req.raw.headers, ownOrigin)
      if (refusal !== undefined) throw apiError('err.foreignOrigin', { detail: refusal })
    }
    await next()
  }
}

function findRefusal(headers: Headers, ownOrigin: string): string | undefined {
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  if (origin !== null && origin !== ownOrigin)
    return `Origin is ${origin.slice(0, 200)}, the public URL ${ownOrigin}`
  if (origin !== null) return undefined
  if (site !== null)
    return ['same-origin', 'none'].includes(site) ? undefined : `Sec-Fetch-Site is ${site.slice(0, 50)}`
  const hasBody = (headers.get('content-length') ?? '0') !== '0' || headers.has('transfer-encoding')
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  return hasBody && type !== 'application/json' ? 'neither Origin nor a JSON body' : undefined
}

import type { HonoRequest, MiddlewareHandler } from 'hono'
import { apiError } from '../../errors.ts'

/** What a body may have, in bytes, unless a route needs more. */
export const usualBodyBytes = 64 * 1024

/**
 * Refuses bodies over 64 kB (or what the path needs) with err.payloadTooLarge: at once when their length is told,
 * else as soon as more has come. What was read is kept for the route. Works on the listener's own Request objects,
 * which cannot be wrapped in new ones.
 */
export function bodyLimit(maxBytesOf: (path: string) => number = () => usualBodyBytes): MiddlewareHandler {
  return async function limitBody(c, next) {
    const maxBytes = maxBytesOf(c.req.path)
    const told = c.req.header('Content-Length')
    if (told !== undefined && !(Number(told) <= maxBytes)) throw apiError('err.payloadTooLarge')
    // A length beside Transfer-Encoding counts for nothing, and HTTP/2 needs neither of the two.
    const isTold = told !== undefined && c.req.header('Transfer-Encoding') === undefined
    if (!isTold && c.req.method !== 'GET' && c.req.method !== 'HEAD') await readWithin(c.req, maxBytes)
    await next()
  }
}

async function readWithin(request: HonoRequest, maxBytes: number): Promise<void> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.raw.body ?? []) {
    length += chunk.byteLength
    if (length > maxBytes) throw apiError('err.payloadTooLarge')
    chunks.push(chunk)
  }
  // Hono awaits what stands here, whatever its type says.
  const kept: unknown = Promise.resolve(new Uint8Array(Buffer.concat(chunks)).buffer)
  request.bodyCache.arrayBuffer = kept as ArrayBuffer
}

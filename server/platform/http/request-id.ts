import type { MiddlewareHandler } from 'hono'
import { newId } from '../random.ts'
import type { HttpEnv } from './http-env.ts'

/** Gives each request an id of our own (a client's would let it forge log lines), in `c.var.requestId` and X-Request-Id. */
export function requestId(): MiddlewareHandler<HttpEnv> {
  return async function setRequestId(c, next) {
    const id = newId()
    c.set('requestId', id)
    c.header('X-Request-Id', id)
    await next()
  }
}

import type { MiddlewareHandler } from 'hono'
import { apiError } from '../../errors.ts'

/** One route as Hono lists it; middleware stands under the method ALL. */
type Route = { method: string; path: string }

/**
 * The end of the API's table: a path that exists for another method is err.methodNotAllowed with Allow, every other
 * one err.notFound.
 */
export function methodCheck(routes: readonly Route[]): MiddlewareHandler {
  const known = routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({ method, pattern: toPattern(path) }))
  return async function refuse(c) {
    const methods = known.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method)
    if (methods.length === 0) throw apiError('err.notFound')
    c.header('Allow', [...new Set(methods)].join(', '))
    throw apiError('err.methodNotAllowed')
  }
}

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]+')}$`)

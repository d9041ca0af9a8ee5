import type { Context, ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { ApiError, apiError, type ErrorCode } from '../../errors.ts'
import { isDatabaseUnavailable, isUnstorableText } from '../database-errors.ts'
import type { Log } from '../log.ts'
import type { HttpEnv } from './http-env.ts'

const codesOfStatus: Partial<Record<number, ErrorCode>> = {
  400: 'err.badRequest',
  401: 'err.unauthorised',
  403: 'err.forbidden',
  404: 'err.notFound',
  405: 'err.methodNotAllowed',
  413: 'err.payloadTooLarge',
  415: 'err.unsupportedMediaType',
  429: 'err.tooManyRequests',
  503: 'err.serviceUnavailable',
}

const retryAfterSeconds = 2

/**
 * The only place where an error becomes an answer, `{Err, Extra?}` with the catalogue's status. What nobody
 * foresaw is err.internal, and only the log says more, under the request's id (X-Request-Id).
 */
export function errorHandler<Env extends HttpEnv = HttpEnv>({ log }: { log: Log }): ErrorHandler<Env> {
  return function answerError(error, c) {
    const known = toApiError(error)
    const facts = { requestId: c.var.requestId, method: c.req.method, path: c.req.path, code: known.code }
    if (known.status >= 500)
      log[known.status === 503 ? 'warn' : 'error']({ ...facts, err: error }, 'request failed')
    else log.debug({ ...facts, detail: known.detail }, 'request refused')
    return toResponse(c, known)
  }
}

/** What no route takes. */
export function notFoundHandler(c: Context): Response {
  return toResponse(c, apiError('err.notFound'))
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof HTTPException)
    return apiError(codesOfStatus[error.status] ?? 'err.internal', { cause: error })
  if (isDatabaseUnavailable(error))
    return apiError('err.serviceUnavailable', { retryAfterSeconds, cause: error })
  if (isUnstorableText(error))
    return apiError('err.badRequest', { detail: 'a text with a NUL in it', cause: error })
  return apiError('err.internal', { cause: error })
}

function toResponse(c: Context, { code, status, extra, retryAfterSeconds }: ApiError): Response {
  if (retryAfterSeconds !== undefined) c.header('Retry-After', String(retryAfterSeconds))
  return c.json({ Err: code, ...(extra !== undefined && { Extra: extra }) }, status)
}

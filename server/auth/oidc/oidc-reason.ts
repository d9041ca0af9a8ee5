import { AuthorizationResponseError, ResponseBodyError } from 'openid-client'
import { ApiError } from '../../errors.ts'

/**
 * Why a provider's answer was refused, in words for the log and the audit log: the innermost cause, because the
 * libraries wrap what they know in something general. Never a token or a secret.
 */
export function findReason(error: unknown): string {
  const chain = causesOf(error)
  const api = chain.find((cause) => cause instanceof ApiError)
  const told = chain.find(
    (cause) => cause instanceof AuthorizationResponseError || cause instanceof ResponseBodyError,
  )
  if (api !== undefined) return api.detail ?? api.code
  if (told !== undefined)
    return toPlainText(`the provider said ${told.error}: ${told.error_description ?? 'no more'}`)
  return toPlainText(chain.at(-1)?.message ?? String(error))
}

/** The catalogue's error in a chain of causes: what our own code threw inside of a library. */
export const findApiError = (error: unknown): ApiError | undefined =>
  causesOf(error).find((cause) => cause instanceof ApiError)

function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let cause = error; cause instanceof Error && causes.length < 8; cause = cause.cause) causes.push(cause)
  return causes
}

/** Other people's words: one line, no control characters, not long. */
const toPlainText = (text: string): string => text.replace(/\p{C}+/gu, ' ').slice(0, 300)

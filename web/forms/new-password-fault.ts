import { ApiFailure } from '../api.ts'

/**
 * What the server has against a new password itself: its length, that it leaked, that it is the user name. It belongs
 * to the field; anything else to the dialog. Undefined when it is something else.
 */
export function newPasswordFault(error: unknown): string | undefined {
  if (!(error instanceof ApiFailure) || error.status !== 422) return undefined
  return error.extra === 'NewPassword' ? error.code : undefined
}

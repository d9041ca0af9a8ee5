import type { OtpEnrolled, OtpMethods, OtpSecret } from '#server/auth/second-factor/second-factor.schema.ts'
import { ApiFailure, isFailure, request } from '../api.ts'
import { apiBase, type Realm } from './realm.ts'

/** The calls of the second step, for half sessions of either realm. Portal §7. */
export const fetchMethods = (realm: Realm, { signal }: { signal?: AbortSignal } = {}) =>
  request<OtpMethods>('GET', `${apiBase[realm]}/otp/methods`, { signal })

/** The same secret for 10 minutes; refused with 409 once one is confirmed. */
export const fetchPendingSecret = (realm: Realm, { signal }: { signal?: AbortSignal } = {}) =>
  request<OtpSecret>('GET', `${apiBase[realm]}/otp/generate`, { signal })

/** A code of the app, or a recovery code: signs in. */
export const verifyCode = (realm: Realm, code: string) =>
  request<null>('POST', `${apiBase[realm]}/otp/verify`, { body: { Code: code } })

/** The first code of the pending secret: confirms it and signs in; the recovery codes are told this once. */
export const confirmSecret = (realm: Realm, code: string) =>
  request<OtpEnrolled>('POST', `${apiBase[realm]}/otp/verify`, { body: { Code: code } })

/** Puts the enrolment off; administrators only, three times in all. */
export const deferEnrolment = () =>
  request<null>('POST', `${apiBase.admin}/otp/verify`, { body: { deferEnrolment: true } })

/** Whether the half session is over: its owner begins anew. */
export const isSessionLoss = (error: unknown): boolean => error instanceof ApiFailure && error.status === 401

/** Whether the step was made already, by another tab perhaps. */
export const isAlreadyVerified = (error: unknown): boolean =>
  isFailure(error, 'err.userAlreadyVerified') || isFailure(error, 'err.alreadyVerified')

/** Takes a step that was made already for one that is made now. */
export function ignoreVerified(error: unknown): null {
  if (isAlreadyVerified(error)) return null
  throw error
}

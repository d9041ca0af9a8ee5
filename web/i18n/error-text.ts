import type { i18n } from 'i18next'
import { ApiFailure, NetworkFailure } from '../api.ts'
import { isTextKey } from './start-i18n.ts'

/**
 * What a person reads of an error: the translated code, then ': ' and what it carries (translated when it is a
 * code itself); otherwise the client's own message; else 'An internal server error occurred'. Portal §8.
 */
export function errorText(i18n: i18n, error: unknown): string {
  if (error instanceof ApiFailure && isTextKey(i18n, error.code)) {
    const text = i18n.t(error.code)
    return error.extra ? `${text}: ${extraText(i18n, error.code, error.extra)}` : text
  }
  if (error instanceof NetworkFailure) return i18n.t('error.network')
  if (error instanceof Error && !(error instanceof ApiFailure) && error.message) return error.message
  return i18n.t('err.internal')
}

/** A rule's message on a form field: a code of the catalogue, or 'Required' for whatever else a rule says. */
export const fieldErrorText = (i18n: i18n, message: string | undefined): string | undefined =>
  message === undefined ? undefined : isTextKey(i18n, message) ? i18n.t(message) : i18n.t('error.required')

const extraText = (i18n: i18n, code: string, extra: string): string => {
  if (extra.startsWith('err.')) return isTextKey(i18n, extra) ? i18n.t(extra) : extra
  return code === 'err.tooManyRequests' && /^\d+$/.test(extra) ? `${extra} s` : extra
}

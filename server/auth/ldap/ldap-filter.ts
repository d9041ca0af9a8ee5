import { FilterParser } from 'ldapts'
import { apiError } from '../../errors.ts'

/** What a filter of the settings may stand for, written in braces there. */
export type FilterValues = { username: string; dn?: string }

type Placeholder = '{username}' | '{dn}'

const longestFilter = 2000

/**
 * Refuses a filter of the settings that isn't one of RFC 4515, or that names nobody: without a placeholder it would
 * find the same entries for everyone.
 *
 * @param placeholders at least one of them has to stand in it; a user filter needs `{username}`.
 * @throws err.ldapFilterInvalid
 */
export function checkLdapFilter(
  text: string,
  placeholders: readonly Placeholder[] = ['{username}', '{dn}'],
): void {
  if (text.length > longestFilter) throw apiError('err.ldapFilterInvalid', { detail: 'too long' })
  if (!placeholders.some((placeholder) => text.includes(placeholder)))
    throw apiError('err.ldapFilterInvalid', { detail: `without ${placeholders.join(' or ')}` })
  toFilter(text, { username: 'somebody', dn: 'uid=somebody,dc=example' })
}

/**
 * A filter of the settings with its placeholders filled in, as ldapts takes it. What is filled in stays a value,
 * whatever signs it has (RFC 4515 §3).
 *
 * @throws err.ldapFilterInvalid
 */
export function toFilter(text: string, values: FilterValues): ReturnType<typeof FilterParser.parseString> {
  const filled = text.replace(/\{(username|dn)\}/g, (_, name: keyof FilterValues) =>
    escapeFilterValue(values[name] ?? ''),
  )
  if (!filled.startsWith('(')) throw apiError('err.ldapFilterInvalid', { detail: 'not in parentheses' })
  try {
    return FilterParser.parseString(filled)
  } catch (cause) {
    throw apiError('err.ldapFilterInvalid', { detail: 'does not parse', cause })
  }
}

/** A value as a filter may hold it: the five signs that mean something there as `\` and their code. */
const escapeFilterValue = (value: string): string =>
  // oxlint-disable-next-line no-control-regex -- NUL is one of the five
  value.replace(/[\\*()\0]/g, (sign) => `\\${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** PostgreSQL's codes for "not now": https://www.postgresql.org/docs/18/errcodes-appendix.html */
const unavailableCodes = /^(08...|53...|57P0[1-5]|57014|55P03|40001|40P01|25006)$/

const unavailableMessages = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Query read timeout',
  'Client has encountered a connection error',
  'The database is in recovery',
]

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
])

/** Whether an error says that the database can't be used now, rather than that a question was wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', syscall, message, cause } = error as NodeJS.ErrnoException
  if (unavailableCodes.test(code) || networkCodes.has(code)) return true
  // The embedded database's socket is gone while it starts again.
  if (code === 'ENOENT' && syscall === 'connect') return true
  return unavailableMessages.some((text) => message.startsWith(text)) || isDatabaseUnavailable(cause)
}

/** Whether an insert or update met something that exists already; `constraint` names which rule. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const { code, constraint: broken } = (error ?? {}) as { code?: unknown; constraint?: unknown }
  return code === '23505' && (constraint === undefined || broken === constraint)
}

/** Whether a text can't be stored at all: PostgreSQL has no NUL in text and json (22021, 22P05). Only a caller sends one. */
export function isUnstorableText(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === '22021' || code === '22P05'
}

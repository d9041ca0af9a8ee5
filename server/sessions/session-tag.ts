import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { apiError } from '../errors.ts'

/** The header in which a page says which session it believes in. */
const header = 'X-Knoc-Session'

/** The public name of a session: answered in the status, echoed by requests. Says nothing about its token. */
export const sessionTag = (sessionId: string): string =>
  createHash('sha256').update(`session ${sessionId}`).digest('base64url').slice(0, 22)

/**
 * Refuses a request of a page that believes in another session than the cookie's: another tab has signed in with
 * another account meanwhile (decision 40). Whoever sends no such header is not asked.
 *
 * @throws err.sessionChanged
 */
export function checkSessionTag(c: Context, sessionId: string): void {
  const believed = c.req.header(header)
  if (believed !== undefined && believed !== sessionTag(sessionId)) throw apiError('err.sessionChanged')
}

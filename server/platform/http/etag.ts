import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { apiError } from '../../errors.ts'

/** A strong ETag of what was read: the same as long as nothing of it changed, on every replica. */
export const etagOf = (value: unknown): string =>
  `"${createHash('sha256').update(JSON.stringify(value)).digest('base64url')}"`

/** A success with the ETag that a later change sends back as If-Match. */
export function okWithEtag<Data>(c: Context, data: Data, etag: string) {
  c.header('ETag', etag)
  return c.json({ data }, 200)
}

/** The version a change was made from; null when the caller doesn't say. */
export const ifMatchOf = (c: Context): string | null => c.req.header('If-Match') ?? null

/** Refuses a change that was made from another version than the present one (decision 17). */
export function checkUnchanged(ifMatch: string | null, etag: string): void {
  if (ifMatch !== null && ifMatch !== '*' && ifMatch !== etag) throw apiError('err.changedMeanwhile')
}

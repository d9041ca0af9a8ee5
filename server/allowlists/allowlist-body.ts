import { createHash } from 'node:crypto'
import type { ListReading } from './allowlist.query.ts'

/** The forms a list is read in. */
export type ListFormat = 'txt' | 'json'

/** A list as it travels, with the strong ETag of its bytes. */
export type ListBody = { text: string; type: string; etag: string }

const forms = {
  /** One address or CIDR a line, a newline at the end; nothing at all when nobody may. */
  txt: {
    type: 'text/plain; charset=utf-8',
    write: (entries: ListReading['entries']) => entries.map(({ address }) => `${address}\n`).join(''),
  },
  /** With the ends: a reader that uses them closes by itself when it can't reach us. */
  json: {
    type: 'application/json; charset=utf-8',
    write: (entries: ListReading['entries']) =>
      `${JSON.stringify({ Entries: entries.map(({ address, until }) => ({ Address: address, Until: until })) })}\n`,
  },
} as const satisfies Record<ListFormat, unknown>

/** Writes a list in one of its forms. */
export function toListBody(entries: ListReading['entries'], format: ListFormat): ListBody {
  const { type, write } = forms[format]
  const text = write(entries)
  return { text, type, etag: `"${createHash('sha256').update(text).digest('base64url')}"` }
}

/** Whether a reader has this version: If-None-Match names it, weakly or not, or any (RFC 9110, 13.1.2). */
export function isNoneMatch(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

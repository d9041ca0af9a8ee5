import { isOpen, stateOf } from './entries.ts'
import type { StatusEntry } from './status.schema.ts'

/** What a run says: results on standard output, one line each, and remarks for people on standard error. */
export type Report = {
  /** How entries stand at the end of a run, and when the session ends. */
  result: (outcome: string, entries: readonly StatusEntry[], ends?: string) => void
  /** One entry that stands otherwise than before. */
  change: (entry: StatusEntry) => void
  /** Something else that happened: signed in, server lost, address changed. */
  event: (name: string, facts?: Record<string, string>) => void
  /** For people only: what is wrong and what to do next. */
  remark: (text: string) => void
}

/** Says it as readable lines, or with `json` as JSON: a result is one document, everything else one line each. */
export function createReport({
  json,
  out,
  err,
  now,
}: {
  json: boolean
  out: (line: string) => void
  err: (line: string) => void
  now: () => number
}): Report {
  const at = (): string => new Date(now()).toISOString()
  const remark = (text: string) => err(`knoc-client: ${text}`)
  if (json)
    return {
      result: (outcome, entries, ends) =>
        out(JSON.stringify({ outcome, ...(ends && { ends }), entries: entries.map(toJsonEntry) })),
      change: (entry) => out(JSON.stringify({ at: at(), event: 'entry', ...toJsonEntry(entry) })),
      event: (event, facts) => out(JSON.stringify({ at: at(), event, ...facts })),
      remark,
    }
  return {
    result: (_, entries) => entries.forEach((entry) => out(toLine(entry))),
    change: (entry) => out(`${at()}  ${toLine(entry)}`),
    event: (name, facts = {}) =>
      out([at(), name, ...Object.entries(facts).map(([key, value]) => `${key}=${plain(value)}`)].join('  ')),
    remark,
  }
}

const toJsonEntry = (entry: StatusEntry) => ({
  name: entry.Description,
  id: entry.ACLID,
  state: stateOf(entry),
  isOpen: isOpen(entry),
  status: entry.Status,
  url: entry.URL,
  verifiedAt: entry.VerifiedAt,
  ends: entry.ExpiredAfter,
})

/** `open        Build server  verified 2026-11-21T10:42:07.000Z, until 2026-11-21T18:42:00.000Z` */
function toLine(entry: StatusEntry): string {
  const state = stateOf(entry)
  const facts = [
    states[state](entry),
    isOpen(entry) && entry.ExpiredAfter !== null ? `until ${entry.ExpiredAfter}` : '',
  ].filter((text) => text !== '')
  return `${state.padEnd(12)}  ${plain(entry.Description)}  ${facts.join(', ')}`.trimEnd()
}

const states: Readonly<Record<ReturnType<typeof stateOf>, (entry: StatusEntry) => string>> = {
  open: ({ VerifiedAt }) => (VerifiedAt === null ? 'reported by its agent' : `verified ${VerifiedAt}`),
  published: () => 'on the list, which was not read since',
  read: () => 'on the list, which was read since',
  restricted: () => 'may not be opened from this address',
  failed: () => 'could not be opened or closed; ask an administrator',
  pending: () => 'on its way',
  agentOffline: () => 'waits for its agent, which is offline',
  closing: () => 'on its way to closed',
  closed: ({ ClickToGrant }) => (ClickToGrant ? 'opens with --entry' : ''),
}

/** Names come from others: nothing in them may steer a terminal. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, '?')

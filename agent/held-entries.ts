import { performance } from 'node:perf_hooks'
import type { JournalEntry } from '#machines/journal.ts'
import { createDigest, type Digest } from './digest.ts'
import type { Applied, JournalLine } from './journal.ts'

/** One entry in memory: the journal's line and what is on its way. */
export type Held = {
  entry: JournalEntry
  applied: Applied | null
  /** The server waits for the outcome of this generation. */
  isUnanswered: boolean
  /** What was last told of this generation, so that only news is told. */
  lastOutcome: 'verified' | 'reported' | 'failed' | null
  /** Monotonic milliseconds of the last change or act: a listing taken before says nothing about it. */
  touchedAt: number
}

/** All entries of all targets, with their digests. The file is only read at the start. */
export type HeldEntries = {
  find: (targetId: string, address: string) => Held | undefined
  /** Takes a new order's entry; what was applied of an older one is kept until the next outcome. */
  put: (entry: JournalEntry) => Held
  forget: (targetId: string, address: string) => void
  forgetTarget: (targetId: string) => void
  ofTarget: (targetId: string) => Iterable<Held>
  all: () => Iterable<Held>
  countOpen: (targetId: string) => number
  digestOf: (targetId: string) => string[]
}

/** Builds the memory from the journal's lines. */
export function createHeldEntries(lines: readonly JournalLine[]): HeldEntries {
  const targets = new Map<string, { entries: Map<string, Held>; digest: Digest; open: number }>()

  const targetOf = (id: string) => {
    const known = targets.get(id)
    if (known !== undefined) return known
    const fresh = { entries: new Map<string, Held>(), digest: createDigest(), open: 0 }
    targets.set(id, fresh)
    return fresh
  }

  const count = (entry: JournalEntry, step: 1 | -1) => {
    const target = targetOf(entry.targetId)
    target.digest.toggle(entry)
    if (entry.desired === 'open') target.open += step
  }

  const put = (entry: JournalEntry): Held => {
    const { entries } = targetOf(entry.targetId)
    const known = entries.get(entry.address)
    if (known !== undefined) count(known.entry, -1)
    count(entry, 1)
    const held: Held = {
      entry,
      applied: known?.applied ?? null,
      isUnanswered: false,
      lastOutcome: null,
      touchedAt: performance.now(),
    }
    entries.set(entry.address, held)
    return held
  }

  for (const { entry, applied } of lines) put(entry).applied = applied

  return {
    find: (targetId, address) => targets.get(targetId)?.entries.get(address),
    put,
    forget: (targetId, address) => {
      const held = targets.get(targetId)?.entries.get(address)
      if (held === undefined) return
      count(held.entry, -1)
      targets.get(targetId)?.entries.delete(address)
    },
    forgetTarget: (targetId) => void targets.delete(targetId),
    ofTarget: (targetId) => targets.get(targetId)?.entries.values() ?? [],
    all: function* all() {
      for (const target of targets.values()) yield* target.entries.values()
    },
    countOpen: (targetId) => targets.get(targetId)?.open ?? 0,
    digestOf: (targetId) => (targets.get(targetId)?.digest ?? createDigest()).values(),
  }
}

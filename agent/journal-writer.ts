import { rmSync, writeFileSync } from 'node:fs'
import type { JournalEntry } from '#machines/journal.ts'
import type { TargetDescription } from '#machines/protocol.ts'
import type { Held, HeldEntries } from './held-entries.ts'
import { type Journal, JournalFault, type JournalLine } from './journal.ts'
import type { AgentLog } from './log.ts'

/** Everything that reaches the journal goes through here, so that syncs are shared. */
export type JournalWriter = {
  /**
   * Writes new entries and targets, with everything else that waits, in one synced transaction.
   * @throws JournalFault: nothing was written, the entries don't count.
   */
  write: (change: { entries?: readonly JournalEntry[]; targets?: readonly TargetDescription[] }) => void
  /** A close, in memory already, that must be written before it is answered; the disk may fail it. */
  noteClose: (held: Held) => void
  /** An outcome that may be written later: lost, the act is done once more at the next start. */
  noteApplied: (held: Held) => void
  noteMeta: (key: string, value: unknown) => void
  noteForgotten: (forgotten: { targets?: readonly string[]; entries?: readonly JournalEntry[] }) => void
  /** Writes the closes that wait, if there are any. Never throws. */
  flushCloses: () => void
  /** Writes all that waits. Never throws; says whether it worked. */
  flush: () => boolean
  stop: () => void
}

const lazyMs = 200

/**
 * Builds the writer.
 *
 * A close never needs the disk (decision 18). When one can't be written, the trust file is removed, which works on
 * a full disk: a start without it believes nothing of the journal, which might put back a door that was closed.
 * It comes back once all is written. `serialFile`, on a file system that a snapshot of the disk does not bring
 * back, holds the number of the last write: a journal older than that is not believed either.
 */
export function createJournalWriter(deps: {
  journal: Journal
  held: HeldEntries
  trustFile: string
  serialFile: string | undefined
  serial: number
  now: () => number
  log: AgentLog
}): JournalWriter {
  const closes = new Set<Held>()
  const applied = new Set<Held>()
  let meta: Record<string, unknown> = {}
  let forgetTargets: string[] = []
  let forgetEntries: JournalEntry[] = []
  let serial = deps.serial
  let isTrusted = true
  let timer: ReturnType<typeof setTimeout> | undefined

  const later = () => {
    timer ??= setTimeout(flush, lazyMs)
  }

  const write: JournalWriter['write'] = ({ entries = [], targets = [] }) => {
    const waiting = [...closes, ...applied].filter(isCurrent)
    deps.journal.write({
      targets,
      forgetTargets,
      forgetEntries,
      lines: [...waiting.map(toLine), ...entries.map(toFreshLine)],
      meta: { ...meta, serial: serial + 1 },
    })
    serial += 1
    closes.clear()
    applied.clear()
    meta = {}
    forgetTargets = []
    forgetEntries = []
    noteSerial()
    if (!isTrusted) trust()
  }

  /** An entry that was replaced since is written as what it is now, if at all. */
  const isCurrent = (held: Held) => deps.held.find(held.entry.targetId, held.entry.address) === held

  const toLine = ({ entry, applied }: Held): JournalLine => ({ entry, applied, writtenAtMs: deps.now() })

  const toFreshLine = (entry: JournalEntry): JournalLine => ({
    entry,
    applied: deps.held.find(entry.targetId, entry.address)?.applied ?? null,
    writtenAtMs: deps.now(),
  })

  const noteSerial = () => {
    if (deps.serialFile === undefined) return
    try {
      writeFileSync(deps.serialFile, String(serial), { mode: 0o600 })
    } catch (error) {
      deps.log.warn({ file: deps.serialFile, error: String(error) }, 'the run file cannot be written')
    }
  }

  const trust = () => {
    try {
      writeFileSync(deps.trustFile, '', { mode: 0o600, flush: true })
      isTrusted = true
      deps.log.info('the journal is written again')
    } catch {
      // Tried again with the next write.
    }
  }

  const distrust = (fault: unknown) => {
    if (!isTrusted) return
    isTrusted = false
    try {
      rmSync(deps.trustFile, { force: true })
    } catch {
      // A file system that takes no change at all; then the journal can't be opened at the next start either.
    }
    deps.log.error({ error: String(fault) }, 'closes cannot be written; doors still close, opens are refused')
  }

  const flush = (): boolean => {
    clearTimeout(timer)
    timer = undefined
    try {
      write({})
      return true
    } catch (fault) {
      if (!(fault instanceof JournalFault)) throw fault
      if (closes.size > 0) distrust(fault)
      later()
      return false
    }
  }

  return {
    write: (change) => {
      try {
        write(change)
      } catch (fault) {
        if (closes.size > 0) distrust(fault)
        if (closes.size + applied.size > 0) later()
        throw fault
      }
    },
    noteClose: (held) => {
      closes.add(held)
      later()
    },
    noteApplied: (held) => {
      applied.add(held)
      later()
    },
    noteMeta: (key, value) => {
      meta[key] = value
      later()
    },
    noteForgotten: ({ targets = [], entries = [] }) => {
      forgetTargets.push(...targets)
      forgetEntries.push(...entries)
      later()
    },
    flushCloses: () => {
      if (closes.size > 0) flush()
    },
    flush,
    stop: () => {
      clearTimeout(timer)
    },
  }
}

import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { ClockRecord } from '#machines/agent-clock.ts'
import type { TargetDescription } from '#machines/protocol.ts'
import { type Journal, type JournalLine, openJournal } from './journal.ts'
import type { AgentLog } from './log.ts'

/** What a start has to go by. */
export type Recovered = {
  journal: Journal
  lines: JournalLine[]
  targets: TargetDescription[]
  meta: {
    epoch: string | null
    highestGeneration: number
    clock: ClockRecord | null
    truthAtMs: number
    serial: number
  }
  trustFile: string
  serialFile: string | undefined
  /** False: whatever stands on the managed lists may be wrong, and is taken away until the server was asked. */
  isTrusted: boolean
}

const metaSchema = z.object({
  epoch: z.string().nullable().default(null),
  highestGeneration: z.number().int().nonnegative().default(0),
  clock: z
    .object({ bootId: z.string(), bootOffset: z.number(), wallOffset: z.number(), wallAt: z.number() })
    .nullable()
    .default(null),
  truthAtMs: z.number().default(0),
  serial: z.number().int().nonnegative().default(0),
})

/**
 * Opens the journal of a data folder and decides whether to believe it (decision 18). Not believed is one that
 * can't be read, one with closes that could not be written, and one older than the last write this boot has seen,
 * as after a snapshot was brought back. An unbelieved journal is set aside and a new one begun.
 */
export function recoverJournal(options: {
  dataFolder: string
  /** On a file system that lasts as long as the boot, such as /run; undefined where there is none. */
  runFolder: string | undefined
  log: AgentLog
}): Recovered {
  const path = join(options.dataFolder, 'journal.db')
  const trustFile = join(options.dataFolder, 'journal.trusted')
  const serialFile = options.runFolder === undefined ? undefined : join(options.runFolder, 'journal.serial')
  const isFirst = !existsSync(path)
  const files = { trustFile, serialFile }
  const reason = isFirst ? null : whyUnfit(path, trustFile)
  const read = reason === null ? tryToRead(path, serialFile) : reason
  if (typeof read !== 'string') {
    if (isFirst) writeFileSync(trustFile, '', { mode: 0o600, flush: true })
    return { ...read, ...files, isTrusted: true }
  }
  options.log.error(
    { reason: read },
    'the journal is not believed: managed lists are emptied until the server is reached',
  )
  setAside(path)
  const fresh = tryToRead(path, undefined)
  if (typeof fresh === 'string') throw new Error(`no journal can be made in ${options.dataFolder}: ${fresh}`)
  writeFileSync(trustFile, '', { mode: 0o600, flush: true })
  // It counts on from the last write of this boot, or a snapshot from before would count for more than it.
  const meta = { ...fresh.meta, serial: readSerial(serialFile) }
  return { ...fresh, meta, ...files, isTrusted: false }
}

type Read = Pick<Recovered, 'journal' | 'lines' | 'targets' | 'meta'>

function tryToRead(path: string, serialFile: string | undefined): Read | string {
  let journal: Journal | undefined
  try {
    journal = openJournal(path)
    const known = journal
    const keys = Object.keys(metaSchema.shape)
    const meta = metaSchema.parse(Object.fromEntries(keys.map((key) => [key, known.readMeta(key)])))
    const read = { journal, meta, lines: journal.readLines(), targets: journal.readTargets() }
    if (meta.serial >= readSerial(serialFile)) return read
    journal.close()
    return 'it is older than the last write of this boot'
  } catch (error) {
    journal?.close()
    return String(error)
  }
}

/** What speaks against a journal before it is read; null when nothing does. */
function whyUnfit(path: string, trustFile: string): string | null {
  if (!existsSync(trustFile)) return 'closes could not be written to it'
  // SQLite would take it for a new one.
  return statSync(path).size === 0 ? 'it is empty' : null
}

function readSerial(serialFile: string | undefined): number {
  try {
    return serialFile === undefined ? 0 : Number(readFileSync(serialFile, 'utf8')) || 0
  } catch {
    return 0
  }
}

/** Kept beside the new one for whoever wants to know; the one before it goes. */
function setAside(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(`${path}.unbelieved${suffix}`, { force: true })
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.unbelieved${suffix}`)
  }
}

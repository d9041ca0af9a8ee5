import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { type JournalEntry } from '#machines/journal.ts'
import { type TargetDescription, targetSchema } from '#machines/protocol.ts'

/** What the enforcement point was last seen to do for an entry. */
export type Applied = {
  generation: number
  outcome: 'verified' | 'reported'
  /** When it was seen, by the server's clock. */
  atMs: number
  /** Whether it stood afterwards. */
  stands: boolean
}

/** One line of the journal: the newest order for an address on a target, and what came of it. */
export type JournalLine = { entry: JournalEntry; applied: Applied | null; writtenAtMs: number }

/** What one transaction writes. */
export type JournalChange = {
  lines?: readonly JournalLine[]
  targets?: readonly TargetDescription[]
  forgetTargets?: readonly string[]
  forgetEntries?: readonly { targetId: string; address: string }[]
  meta?: Readonly<Record<string, unknown>>
}

/** Why the journal could not be written; `diskFull` is told apart because it is the administrator's to mend. */
export class JournalFault extends Error {
  readonly code: 'diskFull' | 'journalFailed'

  constructor(code: 'diskFull' | 'journalFailed', cause: unknown) {
    super(code === 'diskFull' ? 'the agent’s disk is full' : 'the agent’s journal cannot be written', {
      cause,
    })
    this.code = code
  }
}

/** The agent's lasting memory: one SQLite file, each write synced before the call returns (decision 18). */
export type Journal = {
  readLines: () => JournalLine[]
  readTargets: () => TargetDescription[]
  readMeta: (key: string) => unknown
  /** One transaction, one sync. @throws JournalFault, and then nothing of it is written. */
  write: (change: JournalChange) => void
  close: () => void
}

/** 2 added the sums. */
const layoutVersion = 2

/**
 * Opens the journal, or makes an empty one.
 *
 * @throws Error when the file can't be read or is of another layout; the caller then starts anew and believes
 * nothing of what stands on the enforcement points.
 */
export function openJournal(path: string): Journal {
  const db = new DatabaseSync(path)
  try {
    prepareFile(db)
    return toJournal(db)
  } catch (error) {
    db.close()
    throw error
  }
}

function prepareFile(db: DatabaseSync): void {
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000')
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
  if (version !== 0 && version !== layoutVersion) throw new Error(`the journal has layout ${version}`)
  const health = String(db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] ?? '')
  if (health !== 'ok') throw new Error(`the journal is damaged: ${health}`)
  db.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)
      WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS targets (id TEXT PRIMARY KEY, description TEXT NOT NULL, sum INTEGER NOT NULL)
      WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS entries (
      target_id TEXT NOT NULL, address TEXT NOT NULL, epoch TEXT NOT NULL, generation INTEGER NOT NULL,
      desired TEXT NOT NULL, until_ms INTEGER NOT NULL, silence TEXT, cut INTEGER NOT NULL,
      user_name TEXT NOT NULL, applied TEXT, written_at_ms INTEGER NOT NULL, sum INTEGER NOT NULL,
      PRIMARY KEY (target_id, address)
    ) WITHOUT ROWID;
    PRAGMA user_version = ${layoutVersion};
    COMMIT;
  `)
}

function toJournal(db: DatabaseSync): Journal {
  const putEntry = db.prepare(
    `INSERT OR REPLACE INTO entries (target_id, address, epoch, generation, desired, until_ms, silence, cut,
      user_name, applied, written_at_ms, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const dropEntry = db.prepare('DELETE FROM entries WHERE target_id = ? AND address = ?')
  const dropEntries = db.prepare('DELETE FROM entries WHERE target_id = ?')
  const putTarget = db.prepare('INSERT OR REPLACE INTO targets (id, description, sum) VALUES (?, ?, ?)')
  const dropTarget = db.prepare('DELETE FROM targets WHERE id = ?')
  const putMeta = db.prepare('INSERT OR REPLACE INTO meta (key, value, sum) VALUES (?, ?, ?)')
  const getMeta = db.prepare('SELECT * FROM meta WHERE key = ?')

  const writeAll = (change: JournalChange) => {
    // First what goes: the same may have come back since.
    for (const { targetId, address } of change.forgetEntries ?? []) dropEntry.run(targetId, address)
    for (const id of change.forgetTargets ?? []) {
      dropEntries.run(id)
      dropTarget.run(id)
    }
    for (const target of change.targets ?? []) putTarget.run(...summed([target.id, JSON.stringify(target)]))
    for (const line of change.lines ?? []) putEntry.run(...summed(toRow(line)))
    for (const [key, value] of Object.entries(change.meta ?? {}))
      putMeta.run(...summed([key, JSON.stringify(value)]))
  }

  return {
    readLines: () => db.prepare('SELECT * FROM entries').all().map(checked).map(fromRow),
    readTargets: () =>
      db
        .prepare('SELECT * FROM targets')
        .all()
        .map(checked)
        .map((row) => targetSchema.parse(JSON.parse(String(row['description'])))),
    readMeta: (key) => {
      const row = getMeta.get(key)
      return row === undefined ? undefined : JSON.parse(String(checked(row)['value']))
    },
    write: (change) => {
      try {
        db.exec('BEGIN IMMEDIATE')
        writeAll(change)
        db.exec('COMMIT')
      } catch (error) {
        rollBack(db)
        throw new JournalFault(isDiskFull(error) ? 'diskFull' : 'journalFailed', error)
      }
    },
    close: () => db.close(),
  }
}

/** After a full disk SQLite may have rolled back by itself; then there is nothing left to do. */
function rollBack(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    // No transaction any more.
  }
}

/** SQLITE_FULL is 13; a write that the file system refuses may come as an I/O error with these words. */
function isDiskFull(error: unknown): boolean {
  const { errcode, message = '' } = error as { errcode?: number; message?: string }
  return (Number(errcode) & 0xff) === 13 || /disk is full|no space/i.test(message)
}

/**
 * Values and their sum: SQLite finds a torn page by itself, but believes a flipped bit in a value, and an end or an
 * address that nobody ordered must not be carried out.
 */
const summed = (values: SQLInputValue[]): SQLInputValue[] => [...values, sumOf(values)]

const sumOf = (values: readonly unknown[]): number => crc32(JSON.stringify(values))

/** The row, if it is as it was written. @throws Error when it isn't. */
function checked(row: Record<string, unknown>): Record<string, unknown> {
  const { sum, ...kept } = row
  if (sum !== sumOf(Object.values(kept))) throw new Error('a line of the journal is damaged')
  return kept
}

function toRow({ entry, applied, writtenAtMs }: JournalLine): SQLInputValue[] {
  return [
    entry.targetId,
    entry.address,
    entry.epoch,
    entry.generation,
    entry.desired,
    entry.until,
    entry.silence && JSON.stringify(entry.silence),
    entry.cut ? 1 : 0,
    entry.userName,
    applied && JSON.stringify(applied),
    writtenAtMs,
  ]
}

function fromRow(row: Record<string, unknown>): JournalLine {
  const text = (key: string) => (typeof row[key] === 'string' ? row[key] : '')
  return {
    entry: {
      targetId: text('target_id'),
      address: text('address'),
      epoch: text('epoch'),
      generation: Number(row['generation']),
      desired: text('desired') === 'open' ? 'open' : 'closed',
      until: Number(row['until_ms']),
      silence: row['silence'] === null ? null : JSON.parse(text('silence')),
      cut: Number(row['cut']) === 1,
      userName: text('user_name'),
    },
    applied: row['applied'] === null ? null : JSON.parse(text('applied')),
    writtenAtMs: Number(row['written_at_ms']),
  }
}

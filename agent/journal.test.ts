import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getuid } from 'node:process'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { JournalLine } from './journal.ts'
import { recoverJournal } from './recover.ts'
import { ipsetTarget, quietLog } from './testing/builders.ts'

const four = ipsetTarget('four', 4)
const mkfs = '/usr/sbin/mkfs.ext4'

const aLine = (index: number): JournalLine => ({
  entry: {
    targetId: four.id,
    address: `10.0.${index >> 8}.${index & 255}`,
    epoch: 'epoch-1',
    generation: index + 1,
    desired: index % 3 === 0 ? 'closed' : 'open',
    until: index % 3 === 0 ? 0 : 1_800_000_000_000 + index,
    silence: index % 5 === 0 ? { afterSeconds: 30, until: index } : null,
    cut: index % 2 === 0,
    userName: 'erika',
  },
  applied: { generation: index + 1, outcome: 'verified', atMs: 1_700_000_000_000, stands: index % 3 !== 0 },
  writtenAtMs: 1_700_000_000_000 + index,
})

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'knoc-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A journal with so many lines, as a process that was killed leaves it, or one that ended. */
function writeJournal(into: string, many: number, { ends = true } = {}): JournalLine[] {
  const { journal } = recoverJournal({ dataFolder: into, runFolder: undefined, log: quietLog })
  const lines = Array.from({ length: many }, (_, index) => aLine(index))
  for (let from = 0; from < many; from += 50)
    journal.write({ lines: lines.slice(from, from + 50), targets: [four], meta: { epoch: 'epoch-1' } })
  if (ends) journal.close()
  return lines
}

const recover = (dataFolder = folder) => recoverJournal({ dataFolder, runFolder: undefined, log: quietLog })

describe('the journal', () => {
  it('gives back what was written, in the order of nobody, and forgets what was forgotten', () => {
    const lines = writeJournal(folder, 120)
    const { journal, targets, isTrusted } = recover()
    onTestFinished(() => journal.close())
    expect(isTrusted).toBe(true)
    expect(targets).toEqual([four])
    expect(new Set(journal.readLines().map(toText))).toEqual(new Set(lines.map(toText)))
    journal.write({ forgetEntries: lines.slice(0, 100).map(({ entry }) => entry) })
    expect(journal.readLines()).toHaveLength(20)
    journal.write({ forgetTargets: [four.id] })
    expect([journal.readLines(), journal.readTargets()]).toEqual([[], []])
  })

  it.each([
    ['torn in the middle of the file', (size: number) => ({ at: 0, cut: Math.floor(size / 2) })],
    ['cut to nothing', () => ({ at: 0, cut: 0 })],
    ['cut within its first page', () => ({ at: 0, cut: 700 })],
  ])('is not believed when it was %s, and a new one is begun', (_, damage) => {
    writeJournal(folder, 200)
    const path = join(folder, 'journal.db')
    truncateSync(path, damage(readFileSync(path).length).cut)
    const { journal, lines, isTrusted } = recover()
    journal.close()
    expect({ isTrusted, lines }).toEqual({ isTrusted: false, lines: [] })
  })

  it('is believed as it was written or not at all, wherever it was damaged', () => {
    const written = new Set(writeJournal(folder, 300).map(toText))
    const path = join(folder, 'journal.db')
    const whole = readFileSync(path)
    let refused = 0
    for (let round = 0; round < 64; round += 1) {
      const at = Math.floor((whole.length * (round + 0.37)) / 64)
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (round % 8))
      writeFileSync(path, damaged)
      const { journal, lines, isTrusted } = recover()
      journal.close()
      rmSync(`${path}.unbelieved`, { force: true })
      if (!isTrusted) refused += 1
      else expect(lines.map(toText).filter((line) => !written.has(line))).toEqual([])
    }
    expect(refused).toBeGreaterThan(20)
  })

  it('is not believed from before the one that took its place, however few writes that has seen', () => {
    const [dataFolder, runFolder, kept] = ['data', 'run', 'kept'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    for (const path of [dataFolder, runFolder]) mkdirSync(path)
    const start = () => recoverJournal({ dataFolder, runFolder, log: quietLog })
    const writeOnce = ({ journal, meta, serialFile }: ReturnType<typeof start>) => {
      const serial = meta.serial + 1
      journal.write({ meta: { serial } })
      writeFileSync(serialFile ?? '', String(serial))
      journal.close()
    }
    for (let time = 0; time < 5; time += 1) writeOnce(start())
    cpSync(dataFolder, kept, { recursive: true })
    writeOnce(start())
    for (let time = 0; time < 2; time += 1) {
      rmSync(dataFolder, { recursive: true })
      cpSync(kept, dataFolder, { recursive: true })
      const again = start()
      expect(again.isTrusted).toBe(false)
      writeOnce(again)
    }
    const last = start()
    last.journal.close()
    expect(last.isTrusted).toBe(true)
  })

  it('of another layout is not believed', () => {
    writeJournal(folder, 3)
    const { journal } = recover()
    journal.close()
    execFileSync(process.execPath, [
      'eval',
      `import { DatabaseSync } from 'node:sqlite'
       new DatabaseSync(${JSON.stringify(join(folder, 'journal.db'))}).exec('PRAGMA user_version = 1')`,
    ])
    const again = recover()
    again.journal.close()
    expect(again.isTrusted).toBe(false)
  })

  const canMount = getuid?.() === 0 && existsSync('/dev/loop-control') && existsSync(mkfs)

  it.skipIf(!canMount)('still has every line that was answered when the power goes', () => {
    const [disk, later] = [join(folder, 'disk'), join(folder, 'later')]
    writeFileSync(disk, '')
    truncateSync(disk, 16_777_216)
    execFileSync(mkfs, ['-q', disk])
    const lines = onDisk(disk, (mounted) => {
      mkdirSync(join(mounted, 'data'))
      // A new folder reaches the disk with its file system; the journal's lines are the journal's own business.
      execFileSync('sync', ['-f', mounted])
      const written = writeJournal(join(mounted, 'data'), 150, { ends: false })
      // What the disk holds at this moment, and nothing of what the kernel still means to write.
      copyFileSync(disk, later)
      return written
    })
    const found = onDisk(later, (mounted) => {
      const { journal, lines: read, isTrusted } = recover(join(mounted, 'data'))
      journal.close()
      expect(isTrusted).toBe(true)
      return read
    })
    expect(new Set(found.map(toText))).toEqual(new Set(lines.map(toText)))
  })

  /** Works on a disk in a file. */
  function onDisk<Result>(image: string, act: (mounted: string) => Result): Result {
    const place = `${image}.mounted`
    mkdirSync(place, { recursive: true })
    execFileSync('mount', ['-o', 'loop', image, place])
    try {
      return act(place)
    } finally {
      execFileSync('umount', ['-l', place])
    }
  }
})

const toText = (line: JournalLine): string => JSON.stringify(line)

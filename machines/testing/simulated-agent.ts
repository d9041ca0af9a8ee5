import type { ClockRecord, ClockSample } from '../agent-clock.ts'
import { entryKey, type JournalEntry, longestKernelTimeoutSeconds, toJournalEntry } from '../journal.ts'
import type { Order } from '../protocol.ts'
import type { Rules } from './rules.ts'
import { targets } from './world.ts'

/** What the server sends in the simulation; `sentAt` is its time. */
export type SimulatedFrame =
  | { type: 'order'; order: Order; sentAt: number }
  | { type: 'buckets'; orders: Order[]; asOfGeneration: number; batch: number; sentAt: number }

/** What the agent answers: orders it has, and whole states it has taken. */
export type SimulatedAnswer =
  | { type: 'applied'; key: string; generation: number }
  | { type: 'taken'; batch: number }

const epoch = 'e1'
/** A kernel entry that doesn't reach its end is renewed this long before it runs out. */
const renewalMs = 86_400_000

/** The kernel counts whole seconds, rounded up. */
const roundingMs = 1_000

type KernelEntry = { expiresAt: number; written: string }

/** An agent and its enforcement points, made of the journal's and the clock's real arithmetic. Times are true ones. */
export function createAgent(rules: Rules, beginning: number) {
  let isUp = true
  let bootId = 1
  let bootedAt = beginning - 1_000
  let wallError = 0
  let offset: number | null = null
  let samples: ClockSample[] = []
  let record: ClockRecord | null = null
  let truthAt = 0
  let journal = new Map<string, JournalEntry>()
  const kernel = new Map<string, KernelEntry>()

  const bootNow = (now: number): number => now - bootedAt
  const serverNow = (now: number): number | null => (offset === null ? null : bootNow(now) + offset)
  const hear = (sentAt: number, now: number): void => {
    samples = rules.withSample(samples, { serverAt: sentAt, bootAt: bootNow(now) })
    offset = rules.clockOffset(samples)
    keepClock(now)
  }
  const keepClock = (now: number): void => {
    if (offset === null) return
    const wallAt = now + wallError
    record = { bootId: `${bootId}`, bootOffset: offset, wallOffset: bootNow(now) + offset - wallAt, wallAt }
  }

  const stands = (entry: JournalEntry, now: number): boolean => {
    const time = serverNow(now)
    return time !== null && rules.shouldStand(entry, { now: time, truthAt })
  }

  const write = (key: string, entry: JournalEntry, now: number): void => {
    const native = targets[entry.targetId]?.expiry === 'native'
    const seconds = rules.kernelTimeoutSeconds(entry.until, serverNow(now) ?? 0)
    // The kernel refuses more than it can count, and takes 0 for ever.
    if (native && seconds > longestKernelTimeoutSeconds) return
    const expiresAt = native && seconds > 0 ? now + seconds * 1000 : Infinity
    kernel.set(key, { expiresAt, written: `${entry.generation}` })
  }

  /** Also not written: what a clock corrected since made too long, and what the kernel couldn't count that far. */
  const isWritten = (entry: JournalEntry, known: KernelEntry | undefined, now: number): boolean => {
    if (known?.written !== `${entry.generation}`) return false
    if (known.expiresAt === Infinity) return true
    const left = entry.until - (serverNow(now) ?? 0)
    const counted = known.expiresAt - now
    return counted < left + roundingMs && (counted >= left || counted > renewalMs)
  }

  const accept = (order: Order): boolean => {
    const key = entryKey(order)
    const verdict = rules.acceptOrder(journal.get(key), { epoch, generation: order.generation })
    if (verdict === 'accept') journal.set(key, toJournalEntry(order, epoch))
    return verdict !== 'stale'
  }

  return {
    isUp: () => isUp,
    isClockKnown: () => offset !== null,
    stands: (key: string): boolean => kernel.has(key),
    heldEnd: (key: string): number => {
      const entry = journal.get(key)
      return entry?.desired === 'open' ? entry.until : 0
    },

    /** The hello's answer travels at once: the server's time is known from here on. */
    welcome(now: number): void {
      hear(now, now)
    },
    hearTruth(now: number): void {
      truthAt = now
      keepClock(now)
    },

    receive(frame: SimulatedFrame, now: number): SimulatedAnswer[] {
      hear(frame.sentAt, now)
      if (frame.type === 'order') {
        const { order } = frame
        return accept(order) ? [{ type: 'applied', key: entryKey(order), generation: order.generation }] : []
      }
      const { asOfGeneration, orders } = frame
      const verdict = rules.bucketVerdict({ epoch, asOfGeneration, orders, journal: [...journal.values()] })
      for (const entry of verdict.close) journal.set(entryKey(entry), { ...entry, desired: 'closed' })
      for (const order of verdict.upsert) accept(order)
      return [{ type: 'taken', batch: frame.batch }]
    },

    /** Brings the enforcement points to what the journal says; the kernel's own timeouts run in any case. */
    apply(now: number): void {
      for (const [key, { expiresAt }] of kernel) if (expiresAt <= now) kernel.delete(key)
      if (!isUp) return
      for (const [key, entry] of journal) {
        if (!stands(entry, now)) kernel.delete(key)
        else if (!isWritten(entry, kernel.get(key), now)) write(key, entry, now)
      }
      for (const key of kernel.keys()) if (!journal.has(key)) kernel.delete(key)
    },

    /** When something is next due; `silent`: no contact, so rules for a silent server are running. */
    nextAt(now: number, silent: boolean): number {
      const time = serverNow(now)
      let next = Infinity
      for (const { expiresAt } of kernel.values()) {
        next = Math.min(next, expiresAt)
        if (isUp && expiresAt - renewalMs > now) next = Math.min(next, expiresAt - renewalMs)
      }
      if (!isUp || time === null) return next
      for (const entry of journal.values()) {
        if (entry.desired === 'closed') continue
        const ends = silent ? [entry.until, rules.closesAt(entry, { truthAt })] : [entry.until]
        for (const end of ends) if (end > time) next = Math.min(next, now + end - time)
      }
      return next
    },

    stop(): void {
      isUp = false
    },
    /** A reboot empties every list and sets the boot clock back; a lost journal takes the clock's record along. */
    start(
      now: number,
      { reboot, journalLost, wallErrorMs }: { reboot: boolean; journalLost: boolean; wallErrorMs: number },
    ): void {
      isUp = true
      if (journalLost) {
        journal = new Map()
        record = null
        truthAt = 0
      }
      if (reboot) {
        bootId++
        bootedAt = now - 100
        wallError = wallErrorMs
        kernel.clear()
      }
      samples = []
      offset = rules.clockOffsetAtStart({
        record,
        bootId: `${bootId}`,
        bootNow: bootNow(now),
        wallNow: now + wallError,
      })
    },
    /** Somebody sets the wall clock of the running host. */
    jumpWall(byMs: number): void {
      wallError += byMs
    },
  }
}

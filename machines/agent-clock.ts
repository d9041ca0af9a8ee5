/**
 * The agent's clock: the server's time, told on the host's boot-time clock, which no one can set.
 *
 * Milliseconds throughout. Decision 11 and the specification's "Whose clock".
 */

/** One message of the server that named its time, and the boot-time clock when it arrived. */
export type ClockSample = { serverAt: number; bootAt: number }

/** What the journal keeps of the clock, written with every heartbeat. */
export type ClockRecord = {
  bootId: string
  /** Server's time minus boot-time clock, good for this boot only. */
  bootOffset: number
  /** Server's time minus the wall clock, for after a reboot. */
  wallOffset: number
  /** The wall clock when this was written. */
  wallAt: number
}

/** Minutes whose best sample is kept: long enough to outlive a slow stretch of network, short against drift. */
export const clockSamplesKept = 30
/** Wall and boot-time clock apart by more than this: somebody set the clock, or the host slept. */
export const clockJumpMs = 2_000

/** The samples with one more: of each minute only the best is kept, and the oldest minute is dropped. */
export function withSample(samples: readonly ClockSample[], sample: ClockSample): ClockSample[] {
  const last = samples.at(-1)
  if (last === undefined || minuteOf(last) !== minuteOf(sample))
    return [...samples, sample].slice(-clockSamplesKept)
  return offsetOf(sample) > offsetOf(last) ? [...samples.slice(0, -1), sample] : [...samples]
}

/**
 * Server's time minus boot-time clock. A message can only be late, so of all samples the largest difference,
 * the one that travelled fastest, is nearest to the truth. Null without a sample: then nothing is known.
 */
export const clockOffset = (samples: readonly ClockSample[]): number | null =>
  samples.length === 0 ? null : Math.max(...samples.map(offsetOf))

/** Whether the wall clock moved otherwise than the boot-time clock since the last look: write all ends again. */
export const hasJumped = (wallDelta: number, bootDelta: number): boolean =>
  Math.abs(wallDelta - bootDelta) > clockJumpMs

/** A wall clock earlier than the journal's last time is not believed; without a journal none is. */
export const isWallClockCredible = (wallNow: number, journalLastAt: number | null): boolean =>
  journalLastAt !== null && wallNow >= journalLastAt

/**
 * Server's time minus boot-time clock at a start, before the server was reached. Null: not known, so managed
 * targets are emptied until it is.
 */
export function clockOffsetAtStart(host: {
  record: ClockRecord | null
  bootId: string
  bootNow: number
  wallNow: number
}): number | null {
  const { record, bootId, bootNow, wallNow } = host
  if (record === null) return null
  if (record.bootId === bootId) return record.bootOffset
  if (!isWallClockCredible(wallNow, record.wallAt)) return null
  return wallNow + record.wallOffset - bootNow
}

const offsetOf = ({ serverAt, bootAt }: ClockSample): number => serverAt - bootAt
const minuteOf = ({ bootAt }: ClockSample): number => Math.floor(bootAt / 60_000)

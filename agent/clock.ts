import { uptime } from 'node:os'
import { performance } from 'node:perf_hooks'
import {
  type ClockRecord,
  type ClockSample,
  clockJumpMs,
  clockOffset,
  clockOffsetAtStart,
  hasJumped,
  withSample,
} from '#machines/agent-clock.ts'

/** The host's clocks, in milliseconds. Tests pass their own. */
export type HostClock = {
  wallNow: () => number
  /** Since the process started; stops while the host sleeps. */
  monotonicNow: () => number
  /** Since the host booted, sleep included. May be coarse: a second. */
  uptimeNow: () => number
  /** Since the host booted, read once at the start, finer than `uptimeNow`. */
  bootAtStart: number
  bootId: string
}

/** The server's time as the agent knows it, and how it can tell. */
export type ServerClock = {
  /** Null: not known, so nothing may stand (decision 11). */
  now: () => number | null
  /** `now`, or the host's own clock where only an approximate instant is asked for. */
  nowOrWall: () => number
  /** The server's last good read of the truth, of an authenticated message; 0 before the first ever. */
  truthAt: () => number
  /** Takes the time of an authenticated message. */
  take: (message: { nowMs: number; truthAtMs?: number }) => void
  /** To be called each second: true when the wall clock was set or the host slept. */
  tick: () => boolean
  /** What the journal keeps; null while nothing is known. */
  record: () => ClockRecord | null
  /** Monotonic time for waits and ages. */
  monotonicNow: () => number
}

/** The clock of this process, from what the journal kept of it. */
export function createServerClock(
  host: HostClock,
  kept: { record: ClockRecord | null; truthAtMs: number },
): ServerClock {
  let bootMinusMonotonic = host.bootAtStart - host.monotonicNow()
  let samples: ClockSample[] = []
  let truthAt = kept.truthAtMs
  let lastWall = host.wallNow()
  let lastMonotonic = host.monotonicNow()

  const bootNow = () => bootMinusMonotonic + host.monotonicNow()
  const offsetAtStart = clockOffsetAtStart({
    record: kept.record,
    bootId: host.bootId,
    bootNow: bootNow(),
    wallNow: host.wallNow(),
  })
  const offset = () => clockOffset(samples) ?? offsetAtStart
  const now = () => {
    const known = offset()
    return known === null ? null : Math.round(bootNow() + known)
  }

  return {
    now,
    nowOrWall: () => Math.max(0, now() ?? Math.round(host.wallNow())),
    truthAt: () => truthAt,
    take: ({ nowMs, truthAtMs }) => {
      samples = withSample(samples, { serverAt: nowMs, bootAt: bootNow() })
      if (truthAtMs !== undefined) truthAt = Math.max(truthAt, truthAtMs)
    },
    tick: () => {
      const wall = host.wallNow()
      const monotonic = host.monotonicNow()
      const wasSet = hasJumped(wall - lastWall, monotonic - lastMonotonic)
      lastWall = wall
      lastMonotonic = monotonic
      const slept = host.uptimeNow() - bootNow()
      if (slept > clockJumpMs) bootMinusMonotonic += slept
      return wasSet || slept > clockJumpMs
    },
    record: () => {
      const bootOffset = offset()
      if (bootOffset === null) return null
      const wallAt = host.wallNow()
      return { bootId: host.bootId, bootOffset, wallOffset: bootNow() + bootOffset - wallAt, wallAt }
    },
    monotonicNow: host.monotonicNow,
  }
}

/**
 * The real clocks. `bootedAtMs` is the wall clock minus the time since boot, as the launcher read it just before:
 * the agent itself, without access to /proc, sees the time since boot in whole seconds only.
 */
export function systemHostClock(boot: { id: string; bootedAtMs: number }): HostClock {
  return {
    wallNow: () => Date.now(),
    monotonicNow: () => performance.now(),
    uptimeNow: () => uptime() * 1000,
    bootAtStart: Date.now() - boot.bootedAtMs,
    bootId: boot.id,
  }
}

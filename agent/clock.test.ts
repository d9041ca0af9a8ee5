import { describe, expect, it } from 'vitest'
import { createServerClock, type HostClock } from './clock.ts'

const bootedFor = 3_600_000

function aHost(over: { wall?: number; bootId?: string } = {}) {
  const state = { wall: over.wall ?? 1_700_000_000_000, monotonic: 1_000, boot: bootedFor }
  const host: HostClock = {
    wallNow: () => state.wall,
    monotonicNow: () => state.monotonic,
    uptimeNow: () => Math.floor(state.boot / 1_000) * 1_000,
    bootAtStart: bootedFor,
    bootId: over.bootId ?? 'boot-1',
  }
  const pass = (ms: number) => {
    state.wall += ms
    state.monotonic += ms
    state.boot += ms
  }
  return { host, state, pass }
}

const nothingKept = { record: null, truthAtMs: 0 }

describe('the clock of the server on this host', () => {
  it('knows nothing before the server was heard or the journal remembers', () => {
    const clock = createServerClock(aHost().host, nothingKept)
    expect(clock.now()).toBeNull()
    expect(clock.record()).toBeNull()
  })

  it('goes by the message that travelled fastest, and does not care what the wall clock is set to', () => {
    const { host, state, pass } = aHost()
    const clock = createServerClock(host, nothingKept)
    clock.take({ nowMs: 5_000_000 })
    pass(1_000)
    clock.take({ nowMs: 5_000_700 })
    expect(clock.now()).toBe(5_001_000)
    state.wall = 0
    pass(500)
    expect(clock.now()).toBe(5_001_500)
  })

  it('notices a set clock and a sleep, and counts the sleep', () => {
    const { host, state, pass } = aHost()
    const clock = createServerClock(host, nothingKept)
    clock.take({ nowMs: 5_000_000 })
    pass(1_000)
    expect(clock.tick()).toBe(false)
    state.wall += 3_000
    expect(clock.tick()).toBe(true)
    expect(clock.tick()).toBe(false)
    // The host sleeps for a minute: only the time since boot, and the wall clock, go on.
    state.wall += 60_000
    state.boot += 60_000
    expect(clock.tick()).toBe(true)
    expect(Math.abs((clock.now() ?? 0) - 5_061_000)).toBeLessThanOrEqual(1_000)
  })

  it('is right again after a restart, and after a reboot unless the wall clock went back', () => {
    const first = aHost()
    const clock = createServerClock(first.host, nothingKept)
    clock.take({ nowMs: 5_000_000, truthAtMs: 4_999_000 })
    const record = clock.record()
    const again = createServerClock(first.host, { record, truthAtMs: clock.truthAt() })
    expect(again.now()).toBe(5_000_000)
    expect(again.truthAt()).toBe(4_999_000)
    const rebooted = aHost({ bootId: 'boot-2', wall: first.state.wall + 90_000 })
    expect(createServerClock(rebooted.host, { record, truthAtMs: 0 }).now()).toBe(5_090_000)
    const in1970 = aHost({ bootId: 'boot-2', wall: 12_000 })
    expect(createServerClock(in1970.host, { record, truthAtMs: 0 }).now()).toBeNull()
  })

  it('never lets the truth go back', () => {
    const clock = createServerClock(aHost().host, nothingKept)
    clock.take({ nowMs: 5_000_000, truthAtMs: 4_999_000 })
    clock.take({ nowMs: 5_000_100, truthAtMs: 1_000 })
    expect(clock.truthAt()).toBe(4_999_000)
  })
})

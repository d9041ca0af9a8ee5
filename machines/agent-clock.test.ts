import { describe, expect, test } from 'vitest'
import {
  type ClockSample,
  clockOffset,
  clockOffsetAtStart,
  clockSamplesKept,
  hasJumped,
  isWallClockCredible,
  withSample,
} from './agent-clock.ts'

describe('the agent’s clock', () => {
  test('believes the message that travelled fastest, and nothing without one', () => {
    expect(clockOffset([])).toBeNull()
    const samples = [
      { serverAt: 10_000, bootAt: 1_300 },
      { serverAt: 20_000, bootAt: 11_010 },
      { serverAt: 30_000, bootAt: 29_000 },
    ]
    expect(clockOffset(samples)).toBe(8_990)
  })

  test('outlives half an hour of slow network, and forgets what is older', () => {
    let samples: ClockSample[] = [{ serverAt: 5_000, bootAt: 0 }]
    for (let second = 1; second < 60 * (clockSamplesKept - 1); second++)
      samples = withSample(samples, { serverAt: second * 1_000, bootAt: second * 1_000 })
    expect(clockOffset(samples)).toBe(5_000)
    expect(samples.length).toBeLessThanOrEqual(clockSamplesKept)
    for (let second = 60 * (clockSamplesKept - 1); second < 60 * (clockSamplesKept + 1); second++)
      samples = withSample(samples, { serverAt: second * 1_000, bootAt: second * 1_000 })
    expect(clockOffset(samples)).toBe(0)
    expect(samples).toHaveLength(clockSamplesKept)
  })

  test('notices when somebody sets the wall clock or the host slept', () => {
    expect(hasJumped(1_000, 1_000)).toBe(false)
    expect(hasJumped(3_000, 1_000)).toBe(false)
    expect(hasJumped(3_001, 1_000)).toBe(true)
    expect(hasJumped(-3_600_000, 1_000)).toBe(true)
  })

  test('does not believe a wall clock from before the journal’s last time, or without a journal', () => {
    expect(isWallClockCredible(0, 1_700_000_000_000)).toBe(false)
    expect(isWallClockCredible(1_700_000_000_000, 1_700_000_000_000)).toBe(true)
    expect(isWallClockCredible(1_700_000_000_000, null)).toBe(false)
  })

  test('goes on by the boot clock after a restart, by the wall clock after a reboot, and by nothing in 1970', () => {
    const record = { bootId: 'b1', bootOffset: 900, wallOffset: 50, wallAt: 10_000 }
    const host = { record, bootId: 'b1', bootNow: 200, wallNow: 0 }
    expect(clockOffsetAtStart(host)).toBe(900)
    expect(clockOffsetAtStart({ ...host, bootId: 'b2', wallNow: 12_000 })).toBe(12_000 + 50 - 200)
    expect(clockOffsetAtStart({ ...host, bootId: 'b2', wallNow: 9_999 })).toBeNull()
    expect(clockOffsetAtStart({ ...host, record: null })).toBeNull()
  })
})

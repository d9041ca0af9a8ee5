import { afterEach, describe, expect, it, vi } from 'vitest'
import { until } from './testing/builders.ts'
import { createTicker, type Ticker } from './ticker.ts'

describe('the ticker', () => {
  let ticker: Ticker<string> | undefined
  afterEach(() => {
    ticker?.stop()
    vi.useRealTimers()
  })

  it('tells a hundred thousand ends in order, with one timer, none early', async () => {
    const startedAt = Date.now()
    const told: number[] = []
    const early: number[] = []
    ticker = createTicker({
      now: () => Date.now(),
      onDue: (things) => {
        for (const thing of things) {
          told.push(Number(thing))
          if (startedAt + Number(thing) > Date.now()) early.push(Number(thing))
        }
      },
    })
    for (let index = 0; index < 100_000; index += 1) {
      const inMs = (index * 7919) % 400
      ticker.watch(startedAt + inMs, String(inMs))
    }
    await until('all', () => told.length === 100_000)
    expect(early).toEqual([])
    expect(told.every((value, index) => index === 0 || value >= (told[index - 1] ?? 0))).toBe(true)
  })

  it('does not fire at once for an end 28 days away, nor at all while the time is unknown', async () => {
    let now: number | null = null
    const told: string[] = []
    ticker = createTicker({ now: () => now, onDue: (things) => told.push(...things) })
    ticker.watch(1_000, 'past')
    ticker.watch(28 * 86_400_000 + 5_000, 'far')
    ticker.look()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(told).toEqual([])
    now = 5_000
    ticker.look()
    expect(told).toEqual(['past'])
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(told).toEqual(['past'])
  })

  it('notices within a second that the clock jumped ahead', async () => {
    vi.useFakeTimers()
    let now = 0
    const told: string[] = []
    ticker = createTicker({ now: () => now, onDue: (things) => told.push(...things) })
    ticker.watch(3_600_000, 'an hour')
    now = 3_600_001
    expect(told).toEqual([])
    vi.advanceTimersByTime(1_000)
    expect(told).toEqual(['an hour'])
  })
})

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRounds, regularMs } from './discovery-rounds.ts'

let startedAt: number[] = []
let isWhole = true
let lastsMs = 0

const start = () => {
  const begin = Date.now()
  return createRounds(async () => {
    startedAt.push(Date.now() - begin)
    if (lastsMs > 0) await new Promise((resolve) => setTimeout(resolve, lastsMs))
    return isWhole
  })
}

beforeEach(() => {
  vi.useFakeTimers()
  startedAt = []
  isWhole = true
  lastsMs = 0
})
afterEach(() => void vi.useRealTimers())

it('looks once after the sign-in, then every few minutes', async () => {
  const rounds = start()
  await vi.advanceTimersByTimeAsync(2 * regularMs + 100)
  expect(startedAt).toEqual([0, regularMs, 2 * regularMs])
  rounds.stop()
  await vi.advanceTimersByTimeAsync(10 * regularMs)
  expect(startedAt).toHaveLength(3)
})

it('looks after each move of the address, within the minute in which the others are in doubt', async () => {
  const rounds = start()
  await vi.advanceTimersByTimeAsync(30_000)
  rounds.ask('moved')
  await vi.advanceTimersByTimeAsync(0)
  expect(startedAt).toEqual([0, 30_000])
  rounds.stop()
})

it('asks once more in that minute when somebody has not answered', async () => {
  isWhole = false
  const rounds = start()
  await vi.advanceTimersByTimeAsync(30_000)
  rounds.ask('moved')
  await vi.advanceTimersByTimeAsync(20_000)
  expect(startedAt).toEqual([0, 30_000, 50_000])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(startedAt).toHaveLength(3)
  rounds.stop()
})

it('is not hurried by a browser that reports its network every second', async () => {
  const rounds = start()
  for (let second = 0; second < 60; second += 1) {
    rounds.ask('network')
    rounds.ask('returned')
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(startedAt.length).toBeLessThanOrEqual(5)
  expect(startedAt.length).toBeGreaterThan(2)
  rounds.stop()
})

it('looks one at a time, and again after it when the address moved meanwhile', async () => {
  lastsMs = 10_000
  const rounds = start()
  await vi.advanceTimersByTimeAsync(3_000)
  rounds.ask('moved')
  await vi.advanceTimersByTimeAsync(6_000)
  expect(startedAt).toEqual([0])
  rounds.ask('network')
  await vi.advanceTimersByTimeAsync(1_001)
  expect(startedAt).toEqual([0, 10_001])
  rounds.stop()
})

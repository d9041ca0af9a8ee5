import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createEntryClock } from './entry-clock.tsx'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('tells the server’s time once a second, and stands still between', () => {
  let time = 1_000
  const clock = createEntryClock(500, () => time)
  const heard: number[] = []
  const leave = clock.subscribe(() => heard.push(clock.now()))
  expect(clock.now()).toBe(1_500)
  time = 1_900
  expect(clock.now()).toBe(1_500)
  vi.advanceTimersByTime(1_000)
  expect(heard).toEqual([2_400])
  clock.setOffset(0)
  expect(heard).toEqual([2_400, 1_900])
  leave()
  vi.advanceTimersByTime(5_000)
  expect(heard).toHaveLength(2)
})

it('runs one timer for all, none for nobody, and is right at once for who comes later', () => {
  let time = 0
  const clock = createEntryClock(0, () => time)
  const leaves = [clock.subscribe(() => {}), clock.subscribe(() => {})]
  expect(vi.getTimerCount()).toBe(1)
  for (const leave of leaves) leave()
  expect(vi.getTimerCount()).toBe(0)
  time = 60_000
  const leave = clock.subscribe(() => {})
  expect(clock.now()).toBe(60_000)
  leave()
})

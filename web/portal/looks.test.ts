import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLooks, type Look } from './looks.ts'

let seen: { atMs: number; isRevalidation: boolean; signal: AbortSignal }[] = []
let lastsMs = 0
let begin = 0
const look: Look = async ({ isRevalidation, signal }) => {
  seen.push({ atMs: Date.now() - begin, isRevalidation, signal })
  if (lastsMs > 0) await new Promise((resolve) => setTimeout(resolve, lastsMs))
}
const times = () => seen.map(({ atMs, isRevalidation }) => [atMs, isRevalidation ? 'revalidates' : 'reads'])

beforeEach(() => {
  vi.useFakeTimers()
  begin = Date.now()
  seen = []
  lastsMs = 0
})
afterEach(() => void vi.useRealTimers())

it('re-validates at once, and at most once in two seconds whatever the browser reports', async () => {
  const looks = createLooks(look)
  for (let i = 0; i < 50; i += 1) {
    looks.revalidate({ isNewNetwork: true })
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(times()).toEqual([0, 2_000, 4_000].map((at) => [at, 'revalidates']))
})

it('has one look under way at a time, and one more for whoever asked meanwhile', async () => {
  lastsMs = 3_000
  const looks = createLooks(look)
  looks.revalidate()
  for (let i = 0; i < 5; i += 1) looks.refresh()
  await vi.advanceTimersByTimeAsync(2_999)
  expect(seen).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(times()).toEqual([
    [0, 'revalidates'],
    [3_000, 'reads'],
  ])
})

it('shows a hint at once, though it is too soon to re-validate', async () => {
  const looks = createLooks(look)
  looks.revalidate()
  await vi.advanceTimersByTimeAsync(500)
  looks.revalidate()
  looks.refresh()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(times()).toEqual([
    [0, 'revalidates'],
    [500, 'reads'],
    [2_000, 'revalidates'],
  ])
})

it('puts a burst of hints together', async () => {
  const looks = createLooks(look)
  for (let i = 0; i < 20; i += 1) {
    looks.refresh()
    await vi.advanceTimersByTimeAsync(10)
  }
  await vi.advanceTimersByTimeAsync(1_000)
  expect(times()).toEqual([
    [0, 'reads'],
    [200, 'reads'],
  ])
})

it('gives up what left from the old network, and asks again from the new one', async () => {
  lastsMs = 15_000
  const looks = createLooks(look)
  looks.revalidate()
  await vi.advanceTimersByTimeAsync(5_000)
  looks.revalidate({ isNewNetwork: true })
  await vi.advanceTimersByTimeAsync(0)
  expect(times()).toEqual([
    [0, 'revalidates'],
    [5_000, 'revalidates'],
  ])
  expect(seen.map(({ signal }) => signal.aborted)).toEqual([true, false])
})

it('ends with the page', async () => {
  const looks = createLooks(look)
  looks.revalidate()
  looks.refresh()
  looks.stop()
  await vi.advanceTimersByTimeAsync(10_000)
  looks.revalidate()
  expect(seen).toHaveLength(1)
})

import { expect, it } from 'vitest'
import type { AgentFrame } from '#machines/protocol.ts'
import type { DriverError } from './drivers/driver.ts'
import type { List } from './lists.ts'
import { createRefreshes } from './refreshes.ts'
import { quietLog, until } from './testing/builders.ts'

type Answer = Extract<AgentFrame, { type: 'refreshed' }>

const id = (n: number) => `3f0c1b1e-0000-4000-8000-00000000000${n}`
/** Targets 1 and 2 mean one list, 3 another; 4 can't be refreshed, 5 fails by throwing. */
const [one, same, other, ipset, broken, unknown] = [1, 2, 3, 4, 5, 9].map(id) as [
  string,
  string,
  string,
  string,
  string,
  string,
]

/** Refreshes in a test's hands: each call to a device waits until it is let through. */
function someRefreshes() {
  const answers: Answer[] = []
  const calls: { list: string; end: (error: DriverError | null) => void }[] = []
  const aList = (key: string, driver: object) => ({ key, driver }) as List
  const held = (key: string) =>
    aList(key, {
      refresh: () => new Promise<DriverError | null>((end) => calls.push({ list: key, end })),
    })
  const shared = held('edl')
  const lists = new Map([
    [one, shared],
    [same, shared],
    [other, held('other')],
    [ipset, aList('set', {})],
    [broken, aList('broken', { refresh: () => Promise.reject(new Error('no')) })],
  ])
  const refreshes = createRefreshes({
    lists: { find: (targetId) => lists.get(targetId) },
    nowOrWall: () => 7_000,
    send: (frame) => answers.push(frame as Answer),
    log: quietLog,
  })
  return {
    answers,
    calls,
    drop: refreshes.drop,
    ask: (targetId: string, generation: number) => refreshes.take({ type: 'refresh', targetId, generation }),
    told: () => answers.map(({ targetId, generation }) => [targetId, generation]),
  }
}

it('is answered with its generation and the corrected time, when the device took it', async () => {
  const { ask, calls, answers } = someRefreshes()
  ask(one, 5)
  expect(answers).toEqual([])
  calls[0]?.end(null)
  await until('an answer', () => answers.length === 1)
  const answer = { type: 'refreshed', targetId: one, generation: 5, atMs: 7_000, error: null }
  expect(answers).toEqual([answer])
  // Asked again, it is done again: the answer may have been lost.
  ask(one, 5)
  calls[1]?.end({ code: 'timeout', text: 'x'.repeat(2_000) })
  await until('a second answer', () => answers.length === 2)
  expect(answers[1]).toEqual({ ...answer, error: { code: 'timeout', text: 'x'.repeat(1_000) } })
})

it('of several that wait for one list only the newest is done and answered', async () => {
  const { ask, calls, told } = someRefreshes()
  ask(one, 5)
  for (const generation of [6, 9, 7, 5]) ask(one, generation)
  expect(calls).toHaveLength(1)
  calls[0]?.end(null)
  await until('the second call', () => calls.length === 2)
  calls[1]?.end(null)
  await until('two answers', () => told().length === 2)
  expect(told()).toEqual([
    [one, 5],
    [one, 9],
  ])
  expect(calls).toHaveLength(2)
})

it('what is under way is not begun again when the server asks again', async () => {
  const { ask, calls, told } = someRefreshes()
  for (const generation of [5, 5, 4]) ask(one, generation)
  calls[0]?.end(null)
  await until('an answer', () => told().length === 1)
  // A second turn would have begun before its answer: the next thing asked is the next thing done.
  ask(one, 6)
  expect(calls).toHaveLength(2)
  calls[1]?.end(null)
  await until('two answers', () => told().length === 2)
  expect(told()).toEqual([
    [one, 5],
    [one, 6],
  ])
})

it('a failure is answered, and what waits behind it is done', async () => {
  const { ask, calls, answers } = someRefreshes()
  ask(one, 5)
  ask(one, 6)
  calls[0]?.end({ code: 'deviceBusy', text: 'busy' })
  await until('the second call', () => calls.length === 2)
  calls[1]?.end(null)
  await until('two answers', () => answers.length === 2)
  expect(answers.map(({ generation, error }) => [generation, error?.code ?? null])).toEqual([
    [5, 'deviceBusy'],
    [6, null],
  ])
})

it('lists don’t wait for each other; everybody who means one list is answered by one call', async () => {
  const { ask, calls, told } = someRefreshes()
  ask(one, 5)
  ask(same, 8)
  ask(one, 7)
  ask(other, 1)
  expect(calls.map(({ list }) => list)).toEqual(['edl', 'other'])
  calls[1]?.end(null)
  await until('the other list', () => told().length === 1)
  calls[0]?.end(null)
  await until('the third call', () => calls.length === 3)
  calls[2]?.end(null)
  await until('all', () => told().length === 4)
  expect(told()).toEqual([
    [other, 1],
    [one, 5],
    [same, 8],
    [one, 7],
  ])
})

it('an unknown list, one of another kind and a driver’s fault are answered, too', async () => {
  const { ask, answers } = someRefreshes()
  for (const targetId of [unknown, ipset, broken]) ask(targetId, 3)
  await until('three answers', () => answers.length === 3)
  expect(answers.map(({ targetId, generation, error }) => [targetId, generation, error?.code])).toEqual([
    [unknown, 3, 'unknownTarget'],
    [ipset, 3, 'badTarget'],
    [broken, 3, 'unknown'],
  ])
})

it('in a new epoch nothing of the old one is answered, and lower generations count', async () => {
  const { ask, calls, told, drop } = someRefreshes()
  ask(one, 50)
  ask(one, 60)
  drop()
  ask(one, 2)
  expect(calls).toHaveLength(1)
  calls[0]?.end(null)
  await until('the second call', () => calls.length === 2)
  expect(told()).toEqual([])
  calls[1]?.end(null)
  await until('an answer', () => told().length === 1)
  expect(told()).toEqual([[one, 2]])
})

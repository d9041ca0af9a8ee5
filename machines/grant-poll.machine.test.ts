import { describe, expect, test } from 'vitest'
import { createActor, fromPromise, SimulatedClock, waitFor } from 'xstate'
import { grantPollMachine } from './grant-poll.machine.ts'
import { statusNumbers } from './grant-status.ts'
import { leafStates } from './testing/transition-table.ts'

/** Runs the poll on a clock of its own; answers are the numbers read, one after another, the last for ever. */
async function poll(answers: readonly (number | 'fault')[]) {
  const clock = new SimulatedClock()
  const readAt: number[] = []
  const visited = new Set<string>()
  const machine = grantPollMachine.provide({
    actors: {
      fetchStatus: fromPromise<number, { aclId: string }>(() => {
        readAt.push(clock.now())
        const answer = answers[readAt.length - 1] ?? answers.at(-1)
        return typeof answer === 'number' ? Promise.resolve(answer) : Promise.reject(new Error('offline'))
      }),
    },
  })
  const actor = createActor(machine, { input: { aclId: 'acl' }, clock })
  actor.subscribe((snapshot) => visited.add(snapshot.value))
  actor.start()
  for (;;) {
    const snapshot = await waitFor(actor, ({ value }) => value !== 'asking')
    if (snapshot.status === 'done') return { readAt, end: snapshot.value, output: snapshot.output, visited }
    clock.increment(snapshot.context.waitMs)
  }
}

describe('the poll after a click', () => {
  test('reads at once, then waits 1, 1, 2, 3, 5, 8, 13 and 21 s, and hands over before it would wait 34', async () => {
    const { readAt, end, output } = await poll([2])
    const waits = readAt.map((at, i) => (i === 0 ? at : at - (readAt[i - 1] ?? 0)) / 1000)
    expect(waits).toEqual([0, 1, 1, 2, 3, 5, 8, 13, 21])
    expect([end, output.status]).toEqual(['handedOver', 2])
  })

  test.each(statusNumbers.filter((status) => status !== 2 && status !== 8))(
    'ends at status %i',
    async (status) => {
      const { readAt, end, output } = await poll([2, 8, status])
      expect([readAt.length, end, output.status]).toEqual([3, 'settled', status])
    },
  )

  test('goes on after a failed read, and past a number it does not know', async () => {
    const { readAt, end } = await poll(['fault', 7, 'fault', 0])
    expect([readAt.length, end]).toEqual([4, 'settled'])
  })

  test('has no state that it never enters', async () => {
    const settled = await poll([2, 0])
    const handedOver = await poll([2])
    const visited = new Set([...settled.visited, ...handedOver.visited, 'deciding'])
    expect(leafStates(grantPollMachine).filter((state) => !visited.has(state))).toEqual([])
  })

  test('says so when nobody gave it a way to read', async () => {
    const clock = new SimulatedClock()
    const actor = createActor(grantPollMachine, { input: { aclId: 'acl' }, clock }).start()
    const faults: string[] = []
    actor.system.inspect({
      next: (event) => {
        if (event.type === '@xstate.event' && 'error' in event.event) faults.push(String(event.event.error))
      },
    })
    await waitFor(actor, ({ value }) => value === 'waiting')
    expect(faults).toEqual(['Error: grantPoll: actor "fetchStatus" was not provided'])
  })
})

import { describe, expect, it } from 'vitest'
import { createLane } from './lanes.ts'

describe('a lane', () => {
  it('does one thing at a time, closes before opens that came first', async () => {
    const done: string[][] = []
    let working = 0
    const lane = createLane({
      batchSize: 2,
      isClose: (address) => address.startsWith('c'),
      settle: async (batch) => {
        working += 1
        expect(working).toBe(1)
        await new Promise((resolve) => setTimeout(resolve, 5))
        done.push(batch)
        working -= 1
        return []
      },
    })
    lane.add(['o1', 'o2', 'o3'])
    lane.add(['c1', 'c2', 'c3'])
    await lane.idle()
    // The first open was begun before there was a close to prefer.
    expect(done).toEqual([['o1', 'o2'], ['c1', 'c2'], ['c3'], ['o3']])
  })

  it('tries closes that failed again until they succeed', async () => {
    let tries = 0
    const lane = createLane({
      batchSize: 10,
      isClose: () => true,
      settle: async (batch) => {
        tries += 1
        return tries < 3 ? batch : []
      },
    })
    lane.add(['c1'])
    await lane.idle()
    expect(tries).toBe(3)
  })

  it('works on after it was given nothing, and stops after the batch at hand', async () => {
    const done: string[] = []
    const lane = createLane({
      batchSize: 1,
      isClose: () => false,
      settle: async (batch) => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        done.push(...batch)
        return []
      },
    })
    lane.add([])
    lane.add(['o1', 'o2', 'o3'])
    await lane.stop()
    expect(done).toEqual(['o1'])
  })
})

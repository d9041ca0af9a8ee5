import { afterEach, describe, expect, it, vi } from 'vitest'
import type { DriverError } from '../drivers/driver.ts'
import { quietLog, until } from '../testing/builders.ts'
import { type CutFault, createCutLane } from './cut-lane.ts'

const closing = (address: string) => ({ address, userName: 'erika' })
const failure: DriverError = { code: 'timeout', text: 'too slow' }

/** A lane whose cuts answer what is given, one after the other, and then succeed. */
function aLane(answers: (DriverError | null)[] = [], open: ReadonlySet<string> = new Set()) {
  const runs: string[][] = []
  const faults: CutFault[] = []
  const lane = createCutLane({
    list: 'ipset:four',
    isShut: (address) => !open.has(address),
    cut: async (entries) => {
      runs.push(entries.map(({ address }) => address))
      return answers.shift() ?? null
    },
    onFault: (fault) => void faults.push(fault),
    now: () => 1,
    log: quietLog,
  })
  return { lane, runs, faults }
}

afterEach(() => vi.useRealTimers())

describe('the lane that ends connections', () => {
  it('takes what was closed in one go in one go, once, and leaves out who is let in again', async () => {
    const { lane, runs } = aLane([], new Set(['192.0.2.2']))
    lane.add([closing('192.0.2.1'), closing('192.0.2.2')])
    lane.add([closing('192.0.2.1'), closing('192.0.2.3')])
    await lane.idle()
    expect(runs).toEqual([['192.0.2.1', '192.0.2.3']])
  })

  it('tries again, tells a fault once and its end, and takes others meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { lane, runs, faults } = aLane([failure, failure])
    const ran = (many: number) => vi.waitFor(() => expect(runs).toHaveLength(many))
    lane.add([closing('192.0.2.1')])
    await ran(1)
    await vi.advanceTimersByTimeAsync(100)
    lane.add([closing('192.0.2.2')])
    await ran(2)
    await vi.advanceTimersByTimeAsync(150)
    await ran(3)
    await vi.advanceTimersByTimeAsync(100)
    await lane.idle()
    expect(runs).toEqual([['192.0.2.1'], ['192.0.2.2'], ['192.0.2.1'], ['192.0.2.2']])
    expect(faults).toEqual([{ code: 'timeout', text: 'too slow', atMs: 1 }, null])
  })

  it('survives a cut that throws, and stops without waiting for another try', async () => {
    const { lane, faults } = aLane()
    let tries = 0
    const thrower = createCutLane({
      list: 'x',
      isShut: () => true,
      cut: async () => {
        tries += 1
        throw new Error('out of order')
      },
      onFault: (fault) => void faults.push(fault),
      now: () => 1,
      log: quietLog,
    })
    thrower.add([closing('192.0.2.1')])
    await until('it threw', () => faults.length === 1)
    await Promise.all([thrower.stop(), thrower.idle(), lane.stop()])
    expect(tries).toBe(1)
    expect(faults).toEqual([{ code: 'unknown', text: 'Error: out of order', atMs: 1 }])
  })
})

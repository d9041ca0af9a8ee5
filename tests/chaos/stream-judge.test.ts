import { describe, expect, it } from 'vitest'
import { bounds } from './bounds.ts'
import { createPaths } from './path.ts'
import { createStreamJudge } from './stream-judge.ts'

const start = 1_000_000
const door = 'proxy'
const address = 'fd77::110'

/** One door with a stream through it, whose right the test sets; everything has worked for a while. */
function aCourt({ cuts = true } = {}) {
  const paths = createPaths(['edge'])
  paths.take({ type: 'agent.up', agent: 'edge' }, start - 60_000)
  paths.take({ type: 'agent.linked', agent: 'edge' }, start - 60_000)
  let until = start + 600_000
  let stalledMs = 0
  const judge = createStreamJudge({
    doors: [{ id: door, kind: 'haproxy', agent: 'edge', cuts }],
    rightOf: (_door, _address, at) => ({
      mayUntil: until,
      must: until > at,
      mustUntil: until,
      claims: [],
    }),
    mustSince: () => start - 60_000,
    pathOf: paths.stateOf,
    lossOf: paths.lossOf,
    stalledMs: () => stalledMs,
  })
  judge.opened(door, address, start)
  const look = (afterMs: number, state: 'open' | 'refused') =>
    judge.take({ door, address, startedAt: start + afterMs, endedAt: start + afterMs, state })
  return {
    judge,
    paths,
    look,
    endRight: (afterMs: number) => {
      until = start + afterMs
    },
    stall: (ms: number) => {
      stalledMs = ms
    },
    end: (afterMs: number) => judge.ended(door, address, start + afterMs),
    kinds: () => judge.faults().map(({ kind }) => kind),
  }
}

describe('the judge of streams', () => {
  it('finds nothing where one ends within a second of its door', () => {
    const court = aCourt()
    court.look(100, 'open')
    court.endRight(5_000)
    court.look(5_100, 'refused')
    court.look(5_100 + bounds.cutMs, 'refused')
    court.end(5_100 + bounds.cutMs)
    expect(court.kinds()).toEqual([])
    expect(court.judge.measures()).toEqual({
      streams: 1,
      streamsCut: 1,
      streamsLeft: 0,
      streamsLost: 0,
      longestCutMs: bounds.cutMs,
    })
  })

  it('finds one that outlives its door, once', () => {
    const court = aCourt()
    court.endRight(5_000)
    court.look(5_100, 'refused')
    court.look(5_101 + bounds.cutMs, 'refused')
    court.look(9_000, 'refused')
    expect(court.kinds()).toEqual(['streamLeft'])
  })

  it('takes off what the machine stood still', () => {
    const court = aCourt()
    court.endRight(5_000)
    court.look(5_100, 'refused')
    court.stall(3_000)
    court.look(8_100, 'refused')
    expect(court.kinds()).toEqual([])
  })

  it('asks nothing of a knoc that lets connections drain', () => {
    const court = aCourt({ cuts: false })
    court.endRight(5_000)
    court.look(5_100, 'refused')
    court.look(60_000, 'refused')
    expect(court.kinds()).toEqual([])
  })

  it('asks nothing of an agent that was dead when the door shut, or died before it could cut', () => {
    for (const downAt of [4_000, 5_500]) {
      const court = aCourt()
      court.endRight(5_000)
      if (downAt < 5_100) court.paths.take({ type: 'agent.down', agent: 'edge' }, start + downAt)
      court.look(5_100, 'refused')
      if (downAt > 5_100) court.paths.take({ type: 'agent.down', agent: 'edge' }, start + downAt)
      court.paths.take({ type: 'agent.up', agent: 'edge' }, start + 6_000)
      court.look(30_000, 'refused')
      expect(court.kinds()).toEqual([])
    }
  })

  it('asks it again once a door that had lost its entries was seen open', () => {
    const court = aCourt()
    court.paths.take({ type: 'door.back', door }, start + 1_000)
    court.look(2_000, 'open')
    court.endRight(5_000)
    court.look(5_100, 'refused')
    court.look(7_000, 'refused')
    expect(court.kinds()).toEqual(['streamLeft'])
  })

  it('finds one that ends although its door has to be open', () => {
    const court = aCourt()
    court.look(100, 'open')
    court.end(10_000)
    expect(court.kinds()).toEqual(['streamCut'])
    expect(court.judge.measures()).toMatchObject({ streamsCut: 0, streamsLost: 1 })
  })

  it('forgives an end when entries were taken away, the path had broken, or the right is about to end', () => {
    const lost = aCourt()
    lost.paths.take({ type: 'door.away', door }, start + 9_900)
    lost.end(10_000)
    const broken = aCourt()
    broken.paths.take({ type: 'agent.blind', agent: 'edge' }, start + 9_000)
    broken.paths.take({ type: 'agent.linked', agent: 'edge' }, start + 9_500)
    broken.end(10_000)
    const ending = aCourt()
    ending.endRight(10_050)
    ending.end(10_000)
    for (const court of [lost, broken, ending]) expect(court.kinds()).toEqual([])
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentFrame, agentFrameSchema, linkLimits } from '#machines/protocol.ts'
import type { Driver, Listing } from './drivers/driver.ts'
import { createListingAnswers } from './listing.ts'
import type { List } from './lists.ts'
import { anOrder, ipsetTarget, quietLog, until } from './testing/builders.ts'
import { composeAgent } from './testing/compose.ts'
import { createNamespace, hasKernelSets, type TestNamespace } from './testing/namespace.ts'
import { startWireServer, type WireServer } from './testing/wire-server.ts'

type Frame = Extract<AgentFrame, { type: 'listing' }>

/** The answering over a list that says what it is told to. */
function answering(list: Driver['list'], { rooms = [] as boolean[], isLinked = (): boolean => true } = {}) {
  const frames: Frame[] = []
  const answers = createListingAnswers({
    lists: { find: (id) => (id === known ? ({ driver: { list } } as List) : undefined) },
    nowOrWall: () => 1_000,
    send: (frame) => {
      if (!isLinked()) return false
      frames.push(agentFrameSchema.parse(frame) as Frame)
      return true
    },
    hasRoom: () => rooms.shift() ?? true,
    log: quietLog,
  })
  const ask = (request: number, targetId = known) =>
    answers.take({ type: 'listingRequest', request, targetId })
  return { frames, ask }
}
const known = '3f0c1b1e-0000-4000-8000-000000000001'
const unknown = '3f0c1b1e-0000-4000-8000-000000000002'
const many = (count: number): Listing =>
  new Map(Array.from({ length: count }, (_, n) => [`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, n % 100]))

describe('a list that is asked for', () => {
  it('is told in pieces of the agreed size, the last one marked, an empty one too', async () => {
    const { frames, ask } = answering(async () => many(2_500))
    ask(7)
    await until('all pieces', () => frames.at(-1)?.last === true)
    expect(frames.map(({ entries, last, request }) => [entries.length, last, request])).toEqual([
      [1_000, false, 7],
      [1_000, false, 7],
      [500, true, 7],
    ])
    const empty = answering(async () => new Map())
    empty.ask(8)
    await until('an answer', () => empty.frames.length > 0)
    expect(empty.frames).toMatchObject([{ state: 'listed', entries: [], last: true, checkedAtMs: 1_000 }])
  })

  it('waits until the link has room, and is given up with a link that is gone', async () => {
    const { frames, ask } = answering(async () => many(2_000), { rooms: [false, false, true] })
    const startedAt = performance.now()
    ask(1)
    await until('all pieces', () => frames.length === 2)
    expect(performance.now() - startedAt).toBeGreaterThan(30)
    let isLinked = true
    const gone = answering(async () => many(3_000), { isLinked: () => isLinked, rooms: [false] })
    gone.ask(2)
    await until('one piece', () => gone.frames.length === 1)
    isLinked = false
    gone.ask(3)
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(gone.frames).toHaveLength(1)
  })

  it('says why it can’t be told: nobody can look, no such list, an error, a fault, too much, no address', async () => {
    const huge = many(linkLimits.listingEntries * linkLimits.listingFrames + 1)
    const cases: [Driver['list'], string, Pick<Frame, 'state'> & { error: unknown }][] = [
      [async () => 'unlistable', known, { state: 'unlistable', error: null }],
      [async () => new Map(), unknown, { state: 'failed', error: 'the agent does not know this list' }],
      [
        async () => ({ code: 'setMissing', text: 'no such set' }),
        known,
        { state: 'failed', error: 'no such set' },
      ],
      [
        () => Promise.reject(new Error('no')),
        known,
        { state: 'failed', error: expect.stringContaining('log') },
      ],
      [async () => huge, known, { state: 'failed', error: expect.stringContaining('256000') }],
      [
        async () => new Map([['10.0.0.1,tcp:80', 5]]),
        known,
        { state: 'failed', error: expect.stringContaining('no address') },
      ],
    ]
    for (const [list, targetId, wanted] of cases) {
      const { frames, ask } = answering(list)
      ask(1, targetId)
      await until('an answer', () => frames.length > 0)
      expect(frames).toEqual([expect.objectContaining({ ...wanted, entries: [], last: true })])
    }
  })

  it('is read one at a time, and not more often than a server may ask', async () => {
    let reading = 0
    let most = 0
    const { frames, ask } = answering(async () => {
      most = Math.max(most, (reading += 1))
      await new Promise((resolve) => setTimeout(resolve, 1))
      reading -= 1
      return new Map()
    })
    for (let request = 0; request < 100; request += 1) ask(request)
    await until('answers', () => frames.length === 16)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect([frames.length, most]).toEqual([16, 1])
  })
})

describe.skipIf(!hasKernelSets())('the agent, on the real kernel', () => {
  const token = 'a-token-of-more-than-twenty-characters'
  const four = ipsetTarget('four', 4)
  let ns: TestNamespace
  let server: WireServer
  let made: ReturnType<typeof composeAgent>

  beforeEach(async () => {
    ns = createNamespace()
    ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
    server = await startWireServer({ token })
    server.targets.push(four)
    made = composeAgent({ dataFolder: `${ns.folder}/data`, ipset: ns.ipset, server: server.url.href, token })
    await made.agent.start()
    await until('a link', () => made.agent.isLinked())
  })
  afterEach(async () => {
    await made.stop()
    await server.goAway().catch(() => {})
    ns.remove()
  })

  it('tells what really stands there, whoever put it there, and speaks to a server of the older protocol', async () => {
    expect(server.ofType('hello')[0]?.protocol).toEqual({ min: 1, max: 3 })
    const order = anOrder(four, '192.0.2.7', 1, Date.now() + 60_000)
    server.order(order)
    await until('open', () => server.resultOf(order)?.outcome === 'verified')
    // This server said it speaks version 1: it never asks, and is told nothing it does not know.
    expect(server.ofType('listing')).toEqual([])
    ns.run('add', 'four', '203.0.113.5', 'timeout', '0')
    server.send({ type: 'listingRequest', request: 5, targetId: four.id })
    await until('told', () => server.ofType('listing').length > 0)
    const [listing] = server.ofType('listing')
    expect(listing).toMatchObject({ request: 5, targetId: four.id, state: 'listed', error: null, last: true })
    const ends = new Map(listing?.entries.map((entry) => [entry.address, entry.remainingSeconds]))
    expect([...ends.keys()].toSorted()).toEqual(['192.0.2.7', '203.0.113.5'])
    expect(ends.get('203.0.113.5')).toBe(0)
    expect(ends.get('192.0.2.7')).toBeGreaterThan(50)
    expect(Math.abs((listing?.checkedAtMs ?? 0) - Date.now())).toBeLessThan(5_000)
  })
})

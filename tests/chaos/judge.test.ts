import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bounds } from './bounds.ts'
import { createJudge, type Look } from './judge.ts'
import { createLedger, lingerMs } from './ledger.ts'
import { createPaths, type PathEvent } from './path.ts'

const start = 1_000_000
const address = '10.0.0.1'
const native = {
  kind: 'ipset',
  agent: 'edge',
  silenceSeconds: null,
  endsBy: 'kernel',
  backMs: 13_000,
} as const
const doors = [
  { ...native, id: 'plain' },
  { ...native, id: 'strict', silenceSeconds: 30 },
  { ...native, id: 'other' },
  { ...native, id: 'proxy', kind: 'haproxy', endsBy: 'agent', backMs: 5_000 },
  { ...native, id: 'told', kind: 'panos', endsBy: 'reader', pollMs: 8_000, backMs: 8_000 },
] as const

/** Books, path and judge of one person and one agent, on a clock that the test moves. */
function aCourt() {
  const paths = createPaths(['edge'])
  const ledger = createLedger({ onChange: (at) => judge.note(at, [address]) })
  const judge = createJudge({
    doors,
    rightOf: ledger.rightOf,
    pathOf: paths.stateOf,
    lossOf: paths.lossOf,
  })
  const now = () => Date.now()
  for (const id of ['plain', 'strict', 'proxy', 'told']) ledger.place(id, id, now())
  paths.take({ type: 'agent.up', agent: 'edge' }, now())
  paths.take({ type: 'agent.linked', agent: 'edge' }, now())

  const wait = (ms: number) => vi.setSystemTime(now() + ms)
  const act = (effect: Parameters<typeof ledger.begin>[0]['effect'], knoc = 'plain') => {
    ledger.claim({ person: 'alex', session: 'one', knoc, address }, now())
    return ledger.begin({ what: 'acts', scope: (claim) => claim.knoc === knoc, effect }, now())
  }
  const grant = (until: number, knoc?: string) =>
    act({ kind: 'open', latest: until }, knoc).end({ kind: 'done', until }, now())
  const revoke = (knoc?: string) => act({ kind: 'close' }, knoc).end({ kind: 'done' }, now())
  const look = (state: Look['state'], door = 'plain') =>
    judge.take({ door, address, startedAt: now(), endedAt: now(), state })
  /** Looks every 100 ms for a while. */
  const lookFor = (ms: number, state: Look['state'], door?: string) => {
    for (let waited = 0; waited < ms; waited += 100) {
      wait(100)
      look(state, door)
    }
  }
  const path = (type: Extract<PathEvent, { agent: string }>['type']) =>
    paths.take({ type, agent: 'edge' }, now())
  const lose = (type: 'door.away' | 'door.back', door: string) => paths.take({ type, door }, now())
  const kinds = () => judge.breaches().map(({ kind, limit }) => `${kind} ${limit}`)
  return { paths, ledger, judge, now, wait, act, grant, revoke, look, lookFor, path, lose, kinds }
}

describe('the judge of a storm', () => {
  beforeEach(() => void vi.useFakeTimers({ now: start }))
  afterEach(() => void vi.useRealTimers())

  it('finds nothing in a door that opens and shuts as it has to', () => {
    const court = aCourt()
    court.look('refused')
    court.grant(start + 60_000)
    court.lookFor(1_000, 'refused')
    court.lookFor(5_000, 'open')
    court.revoke()
    court.lookFor(1_000, 'open')
    court.lookFor(20_000, 'refused')
    expect(court.kinds()).toEqual([])
    expect(court.judge.measures()).toMatchObject({ slowestCloseMs: 1_000, longestLockOutMs: 1_000 })
  })

  it('finds a door open that nobody ever might use', () => {
    const court = aCourt()
    court.look('refused')
    court.lookFor(200, 'open')
    expect(court.kinds()).toEqual(['overstay end'])
  })

  it('finds a close that was dropped', () => {
    const court = aCourt()
    court.grant(start + 600_000)
    court.lookFor(1_000, 'open')
    court.revoke()
    court.lookFor(bounds.closeMs + 1_000, 'open')
    expect(court.kinds()).toEqual(['leftOpen path'])
    expect(court.judge.breaches()[0]).toMatchObject({ door: 'plain', address, persons: ['alex'] })
  })

  it('finds a door that was shut and opens again by an old order', () => {
    const court = aCourt()
    court.grant(start + 600_000)
    court.lookFor(1_000, 'open')
    court.revoke()
    court.lookFor(bounds.closeMs + 1_000, 'refused')
    court.lookFor(200, 'open')
    expect(court.kinds()).toContain('leftOpen path')
  })

  it('lets a door stand whose revoke cannot come through, to its end and no longer', () => {
    const court = aCourt()
    const end = start + 20_000
    court.grant(end)
    court.lookFor(1_000, 'open')
    court.path('agent.unlinked')
    court.revoke()
    court.lookFor(end - court.now() + bounds.agentEndMs, 'open')
    expect(court.kinds()).toEqual([])
    court.lookFor(400, 'open')
    expect(court.kinds()).toEqual(['overstay end'])
  })

  it('gives a dead agent’s door to the kernel, which counts whole seconds', () => {
    const court = aCourt()
    const end = start + 20_000
    court.grant(end)
    court.path('agent.down')
    court.lookFor(end - court.now() + bounds.kernelEndMs, 'open')
    expect(court.kinds()).toEqual([])
    court.lookFor(400, 'open')
    expect(court.kinds()).toEqual(['overstay end'])
  })

  it('counts a revoke from when the path is whole again', () => {
    const court = aCourt()
    court.grant(start + 600_000)
    court.path('agent.unlinked')
    court.revoke()
    court.lookFor(20_000, 'open')
    court.path('agent.linked')
    court.lookFor(bounds.closeMs, 'open')
    expect(court.kinds()).toEqual([])
    court.lookFor(400, 'open')
    expect(court.kinds()).toEqual(['leftOpen path'])
  })

  it('finds somebody locked out who may come in, but not before the path is whole', () => {
    const court = aCourt()
    court.path('agent.unlinked')
    court.grant(start + 600_000)
    court.lookFor(30_000, 'refused')
    court.path('agent.linked')
    court.lookFor(bounds.openMs, 'refused')
    expect(court.kinds()).toEqual([])
    court.lookFor(400, 'refused')
    expect(court.kinds()).toEqual(['lockOut open'])
  })

  it('gives an end that is put off in its last moment the time of any order, and no more', () => {
    const court = aCourt()
    court.grant(start + 20_000)
    court.lookFor(19_900, 'open')
    court.grant(start + 60_000)
    court.grant(start + 90_000)
    // Up to the former end it stands by the former order.
    expect(court.judge.mustSince('plain', address, start + 19_999)).toBe(start)
    court.lookFor(bounds.openMs, 'refused')
    expect(court.judge.mustSince('plain', address, court.now())).toBe(start + 19_900)
    expect(court.kinds()).toEqual([])
    court.lookFor(100, 'refused')
    expect(court.kinds()).toEqual(['lockOut open'])
  })

  it('finds nobody locked out while the truth is away', () => {
    const court = aCourt()
    court.grant(start + 600_000)
    court.paths.take({ type: 'truth.away' }, court.now())
    court.lookFor(30_000, 'refused')
    expect(court.kinds()).toEqual([])
  })

  it('finds a strict door that outlasts the silence, and a plain one may', () => {
    const court = aCourt()
    court.grant(start + 600_000)
    court.grant(start + 600_000, 'strict')
    court.lookFor(1_000, 'open', 'strict')
    court.path('agent.unlinked')
    court.path('agent.silenced')
    court.lookFor(30_000 + bounds.silenceMs, 'open', 'strict')
    court.lookFor(1_000, 'open', 'plain')
    court.wait(-1_000)
    expect(court.kinds()).toEqual([])
    court.wait(1_000)
    court.look('open', 'strict')
    expect(court.kinds()).toEqual(['overstay silence'])
  })

  describe('where nothing but the agent ends an entry', () => {
    /** A door of a dead agent, 10 s past its end. */
    const aDeadAgentsDoor = () => {
      const court = aCourt()
      court.grant(start + 20_000, 'proxy')
      court.lookFor(1_000, 'open', 'proxy')
      court.path('agent.down')
      court.lookFor(29_000, 'open', 'proxy')
      return court
    }

    it('lets it stand while the agent is dead, and not a bound longer than that', () => {
      const court = aDeadAgentsDoor()
      expect(court.kinds()).toEqual([])
      court.path('agent.up')
      court.lookFor(bounds.agentEndMs, 'open', 'proxy')
      expect(court.kinds()).toEqual([])
      court.lookFor(200, 'open', 'proxy')
      expect(court.kinds()).toEqual(['overstay end'])
      expect(court.judge.kinds().get('haproxy')?.longestOverstayMs).toBeGreaterThan(bounds.agentEndMs)
    })

    it('ends it on time where the agent lives', () => {
      const court = aCourt()
      court.grant(start + 5_000, 'proxy')
      court.path('agent.unlinked')
      court.lookFor(5_000 + bounds.agentEndMs, 'open', 'proxy')
      expect(court.kinds()).toEqual([])
      court.lookFor(200, 'open', 'proxy')
      expect(court.kinds()).toEqual(['overstay end'])
    })

    it('waits for the server’s word where the agent has forgotten what it opened', () => {
      const court = aDeadAgentsDoor()
      court.path('agent.forgot')
      court.path('agent.up')
      court.lookFor(5_000, 'open', 'proxy')
      court.path('agent.linked')
      court.lookFor(bounds.closeMs, 'open', 'proxy')
      expect(court.kinds()).toEqual([])
      court.lookFor(bounds.agentEndMs + 200, 'open', 'proxy')
      expect(court.kinds()).toContain('leftOpen path')
      expect(court.kinds()).toContain('overstay end')
    })

    it('remembers again once everything has worked for long enough', () => {
      const court = aCourt()
      court.path('agent.down')
      court.path('agent.forgot')
      court.path('agent.up')
      court.path('agent.linked')
      court.wait(bounds.closeMs)
      court.grant(start + 10_000, 'proxy')
      court.path('agent.unlinked')
      court.lookFor(7_000 + bounds.agentEndMs + 200, 'open', 'proxy')
      expect(court.kinds()).toEqual(['overstay end'])
    })

    it('finds a door open that nobody ever might use, however dead its agent', () => {
      const court = aCourt()
      court.path('agent.down')
      court.look('refused', 'proxy')
      court.lookFor(200, 'open', 'proxy')
      expect(court.kinds()).toEqual(['overstay end'])
    })
  })

  describe('where a firewall is told to fetch its list, and looks by itself', () => {
    it('has what changed while everything worked at once', () => {
      const court = aCourt()
      court.wait(60_000)
      court.grant(court.now() + 10_000, 'told')
      court.lookFor(10_000 + bounds.closeMs, 'open', 'told')
      expect(court.kinds()).toEqual([])
      court.lookFor(200, 'open', 'told')
      expect(court.kinds()).toEqual(['leftOpen path'])
    })

    it('may miss what changed while something was broken until it looks, and no longer', () => {
      const court = aCourt()
      court.wait(60_000)
      court.grant(court.now() + 10_000, 'told')
      court.path('agent.unlinked')
      court.lookFor(60_000, 'open', 'told')
      court.path('agent.linked')
      court.lookFor(8_000 + bounds.closeMs, 'open', 'told')
      expect(court.kinds()).toEqual([])
      court.lookFor(200, 'open', 'told')
      expect(court.kinds()).toEqual(['leftOpen path'])
    })

    it('may let somebody in as late as that', () => {
      const court = aCourt()
      court.wait(60_000)
      court.lose('door.away', 'told')
      court.grant(court.now() + 600_000, 'told')
      court.lose('door.back', 'told')
      court.lookFor(8_000 + bounds.openMs, 'refused', 'told')
      expect(court.kinds()).toEqual([])
      court.lookFor(200, 'refused', 'told')
      expect(court.kinds()).toEqual(['lockOut open'])
    })
  })

  it('leaves what was just being ordered when all was lost to the agent’s next look', () => {
    const court = aCourt()
    court.wait(60_000)
    court.lose('door.away', 'proxy')
    court.grant(start + 600_000, 'proxy')
    court.lose('door.back', 'proxy')
    court.lookFor(bounds.driftMs, 'refused', 'proxy')
    expect(court.kinds()).toEqual([])
    court.lookFor(100, 'refused', 'proxy')
    expect(court.kinds()).toEqual(['lockOut open'])
  })

  it('gives a door that lost its entries the time of its kind to have them back, and no more', () => {
    const court = aCourt()
    court.grant(start + 600_000, 'proxy')
    court.lookFor(10_000, 'open', 'proxy')
    court.lose('door.away', 'proxy')
    court.lookFor(10_000, 'refused', 'proxy')
    court.lose('door.back', 'proxy')
    court.lookFor(5_000, 'refused', 'proxy')
    expect(court.kinds()).toEqual([])
    expect(court.judge.kinds().get('haproxy')?.longestPutBackMs).toBe(5_000)
    court.lookFor(100, 'refused', 'proxy')
    expect(court.judge.breaches()).toMatchObject([
      { kind: 'lockOut', doorKind: 'haproxy', persons: ['alex'] },
    ])
  })

  it('takes off what the machine itself stood still', () => {
    const paths = createPaths(['edge'])
    paths.take({ type: 'agent.up', agent: 'edge' }, start)
    const judge = createJudge({
      doors,
      rightOf: () => ({ mayUntil: start, must: false, mustUntil: -Infinity, claims: [] }),
      pathOf: paths.stateOf,
      stalledMs: () => 5_000,
    })
    const at = start + 5_000 + bounds.agentEndMs
    vi.setSystemTime(at)
    judge.take({ door: 'plain', address, startedAt: at, endedAt: at, state: 'open' })
    expect(judge.breaches()).toEqual([])
  })
})

describe('the books of a storm', () => {
  beforeEach(() => void vi.useFakeTimers({ now: start }))
  afterEach(() => void vi.useRealTimers())
  const rightNow = ({ ledger, now }: ReturnType<typeof aCourt>, door = 'plain') => {
    const { mayUntil, must } = ledger.rightOf(door, address, now())
    return { may: mayUntil > now(), must }
  }

  it('allow what a question may lead to, and are sure with its answer', () => {
    const court = aCourt()
    const flying = court.act({ kind: 'open', latest: start + 60_000 })
    expect(rightNow(court)).toEqual({ may: true, must: false })
    flying.end({ kind: 'done', until: start + 60_000 }, court.now())
    expect(rightNow(court)).toEqual({ may: true, must: true })
  })

  it('are as they were after a refusal', () => {
    const court = aCourt()
    court.act({ kind: 'open', latest: start + 60_000 }).end({ kind: 'refused' }, court.now())
    expect(rightNow(court)).toEqual({ may: false, must: false })
    court.grant(start + 60_000)
    court.act({ kind: 'close' }).end({ kind: 'refused' }, court.now())
    expect(rightNow(court)).toEqual({ may: true, must: true })
  })

  it('leave both legal after a lost answer, until an answer that comes after all of it', () => {
    const court = aCourt()
    court.act({ kind: 'open', latest: start + 600_000 }).end({ kind: 'lost', lingerMs }, court.now())
    expect(rightNow(court)).toEqual({ may: true, must: false })
    court.revoke()
    expect(rightNow(court)).toEqual({ may: true, must: false })
    court.wait(lingerMs + 1)
    court.revoke()
    expect(rightNow(court)).toEqual({ may: false, must: false })
  })

  it('leave both legal when two acts on the same claim overlap', () => {
    const court = aCourt()
    const grant = court.act({ kind: 'open', latest: start + 600_000 })
    const disable = court.act({ kind: 'close' })
    disable.end({ kind: 'done' }, court.now())
    grant.end({ kind: 'done', until: start + 600_000 }, court.now())
    expect(rightNow(court)).toEqual({ may: true, must: false })
    court.wait(1)
    court.revoke()
    expect(rightNow(court)).toEqual({ may: false, must: false })
  })

  it('keep somebody in who was in when a click is not taken, and nobody else', () => {
    const court = aCourt()
    court.act({ kind: 'open', latest: start + 60_000 }).end({ kind: 'done' }, court.now())
    expect(rightNow(court)).toEqual({ may: false, must: false })
    court.grant(start + 60_000)
    court.act({ kind: 'open', latest: start + 60_000 }).end({ kind: 'done' }, court.now())
    expect(rightNow(court)).toEqual({ may: true, must: true })
  })

  it('know a knoc at both doors while it moves, and at one when that was answered', () => {
    const court = aCourt()
    court.grant(start + 60_000)
    court.ledger.place('plain', 'other', court.now(), 'plain')
    for (const door of ['plain', 'other']) expect(rightNow(court, door)).toEqual({ may: true, must: false })
    court.ledger.place('plain', 'other', court.now())
    expect(rightNow(court, 'plain')).toEqual({ may: false, must: false })
    expect(rightNow(court, 'other')).toEqual({ may: true, must: true })
  })

  it('are sure again by learning how it is', () => {
    const court = aCourt()
    court.act({ kind: 'open', latest: start + 600_000 }).end({ kind: 'lost', lingerMs }, court.now())
    court.wait(lingerMs + 1)
    court.act({ kind: 'learn' }).end({ kind: 'done' }, court.now())
    expect(rightNow(court)).toEqual({ may: false, must: false })
    court.act({ kind: 'learn' }).end({ kind: 'done', until: start + 600_000 }, court.now())
    expect(rightNow(court)).toEqual({ may: true, must: true })
  })

  it('shorten what ends sooner', () => {
    const court = aCourt()
    court.grant(start + 60_000)
    court.act({ kind: 'end', at: start + 5_000 }).end({ kind: 'done' }, court.now())
    expect(rightNow(court)).toEqual({ may: true, must: true })
    court.wait(5_000)
    expect(rightNow(court)).toEqual({ may: false, must: false })
  })
})

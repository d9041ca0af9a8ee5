import { type Bounds, bounds } from './bounds.ts'
import type { Look } from './judge.ts'
import type { Right } from './ledger.ts'
import type { LossState, PathState } from './path.ts'

/** A door whose streams are judged; `cuts`: they are promised to end as it closes. */
export type StreamDoor = { id: string; kind: string; agent: string; cuts: boolean }

/** A connection through a door, kept for as long as it goes. Unix ms. */
type Stream = {
  door: StreamDoor
  address: string
  openedAt: number
  /** When its door was last seen open. */
  seenOpenAt: number
  /** When its door was first seen shut for good; null: it is open, or nobody promises anything. */
  shutAt: number | null
  isTold: boolean
}

/** A stream that outlived its door, or one that ended although its door had to be open. */
export type StreamFault = { kind: 'streamLeft' | 'streamCut'; door: string; address: string; at: number }

/** What was seen of streams. */
export type StreamMeasures = {
  streams: number
  /** Ended because their doors closed, and those that outlived their doors. */
  streamsCut: number
  streamsLeft: number
  /** Ended although their doors had to be open. */
  streamsLost: number
  /** From a door seen shut to the end of its stream, ms. */
  longestCutMs: number
}

/** A right and a path that have stood for so long are no news to anybody. */
const steadyMs = bounds.closeMs

/**
 * Holds connections that go through doors against the books: one ends within the promised second when its door closes
 * and its knoc says so, and never while somebody has to find the door open. Whoever cuts is the agent: an end that it
 * did not live to see, and entries that were taken away behind its back, say nothing.
 */
export function createStreamJudge(deps: {
  doors: readonly StreamDoor[]
  rightOf: (door: string, address: string, at: number) => Right
  mustSince: (door: string, address: string, at: number) => number | null
  pathOf: (agent: string) => PathState
  lossOf: (door: string) => LossState
  stalledMs?: (from: number, to: number) => number
  bounds?: Pick<Bounds, 'cutMs'>
}) {
  const { cutMs } = deps.bounds ?? bounds
  const stalledMs = deps.stalledMs ?? (() => 0)
  const doors = new Map(deps.doors.map((door) => [door.id, door]))
  const streams = new Map<string, Stream>()
  const faults: StreamFault[] = []
  const measures: StreamMeasures = {
    streams: 0,
    streamsCut: 0,
    streamsLeft: 0,
    streamsLost: 0,
    longestCutMs: 0,
  }

  /** One stream a door and address, so the pair is its name. */
  const keyOf = (door: string, address: string): string => `${door} ${address}`

  function opened(doorId: string, address: string, openedAt: number): void {
    const door = doors.get(doorId)
    if (door === undefined) throw new Error(`no door ${doorId}`)
    measures.streams += 1
    streams.set(keyOf(doorId, address), {
      ...{ door, address, openedAt },
      ...{ seenOpenAt: openedAt, shutAt: null, isTold: false },
    })
  }

  function ended(doorId: string, address: string, endedAt: number): void {
    const key = keyOf(doorId, address)
    const stream = streams.get(key)
    if (stream === undefined) return
    streams.delete(key)
    if (isOver(stream, endedAt)) {
      measures.streamsCut += 1
      const { shutAt } = stream
      if (shutAt !== null) noteCut(endedAt - shutAt - stalledMs(shutAt, endedAt))
    } else if (isDue(stream, endedAt)) {
      measures.streamsLost += 1
      faults.push({ kind: 'streamCut', door: doorId, address, at: endedAt })
    }
  }

  const noteCut = (ms: number) => {
    measures.longestCutMs = Math.max(measures.longestCutMs, ms)
  }

  const isOver = ({ door, address }: Stream, at: number): boolean =>
    deps.rightOf(door.id, address, at).mayUntil <= at

  /** Whether its door had to be open all the while, with nothing broken on the way and nothing taken away. */
  function isDue({ door, address, openedAt }: Stream, at: number): boolean {
    const { wholeSince } = deps.pathOf(door.agent)
    const { isAway, backAt } = deps.lossOf(door.id)
    const mustSince = deps.mustSince(door.id, address, at + cutMs)
    const isSteady = (since: number | null) => since !== null && since < at - steadyMs
    // An end that is near may come a moment early: ends that come nearer are told before those that move away.
    const isMeant = deps.rightOf(door.id, address, at + cutMs).must
    return isMeant && isSteady(mustSince) && isSteady(wholeSince) && !isAway && backAt < openedAt
  }

  /** To be told each look, after the other judge. */
  function take({ door: doorId, address, startedAt, state }: Look): void {
    const stream = streams.get(keyOf(doorId, address))
    if (stream === undefined || startedAt < stream.openedAt) return
    if (state === 'open') stream.seenOpenAt = startedAt
    if (state === 'open' || !isOver(stream, startedAt)) stream.shutAt = null
    else if (state === 'refused' && isWatched(stream, startedAt)) stream.shutAt ??= startedAt
    else stream.shutAt = null
    const { shutAt } = stream
    if (shutAt === null || stream.isTold) return
    const lateBy = startedAt - shutAt - stalledMs(shutAt, startedAt)
    if (lateBy <= cutMs) return
    stream.isTold = true
    measures.streamsLeft += 1
    faults.push({ kind: 'streamLeft', door: doorId, address, at: startedAt })
  }

  /** The agent lives to see the door shut, and shut it itself: nothing was taken away since it was last open. */
  function isWatched({ door, openedAt, seenOpenAt }: Stream, at: number): boolean {
    if (!door.cuts) return false
    const { upSince } = deps.pathOf(door.agent)
    const { isAway, backAt } = deps.lossOf(door.id)
    return upSince !== null && upSince < Math.min(openedAt, at) && !isAway && backAt < seenOpenAt
  }

  return {
    opened,
    ended,
    take,
    faults: (): readonly StreamFault[] => faults,
    measures: (): StreamMeasures => ({ ...measures }),
  }
}

import { type Bounds, bounds } from './bounds.ts'
import type { DoorKind } from './doors/door-kind.ts'
import type { Right } from './ledger.ts'
import type { LossState, PathState } from './path.ts'

/** One look at a door from an address, from outside. Unix ms; the door was as seen at some instant between the two. */
export type Look = {
  door: string
  address: string
  startedAt: number
  endedAt: number
  state: 'open' | 'refused' | 'silent'
}

/** A door that is watched: who keeps it, what is promised of its kind, and after how long without the server it closes. */
export type Door = Pick<DoorKind, 'endsBy' | 'backMs' | 'pollMs'> & {
  id: string
  kind: string
  agent: string
  silenceSeconds: number | null
}

/** Something that must not have been seen. `byMs`: how far beyond what was allowed. */
export type Breach = {
  kind: 'overstay' | 'leftOpen' | 'lockOut'
  door: string
  doorKind: string
  address: string
  at: number
  byMs: number
  limit: 'end' | 'path' | 'silence' | 'open'
  /** Whose claims concern the door and the address. */
  persons: string[]
}

/** What the judge measured, ms. */
export type Measures = {
  looks: number
  /** Those of them at which it was certain what the door had to be, and the path to it was whole. */
  certain: number
  /** Doors whose last right ended by time while they were open. */
  ends: number
  /** Past the latest end that the agent can have heard of, whatever was up. */
  longestOverstayMs: number
  /** From a loss of the right, or the path's being whole, to the last time the door was seen open. */
  slowestCloseMs: number
  /** Somebody entitled before a shut door while everything he needed was up; from the right or the whole path on. */
  longestLockOutMs: number
  /** The same from when a door that had lost its entries could have them again. */
  longestPutBackMs: number
  /** Doors that stood open in a silence, so that it had something to close. */
  heldInSilence: number
  /** Past the N seconds of a silent server. */
  longestSilenceMs: number
}

/** What was measured at the doors of one kind, in ms. */
export type KindMeasures = { longestOverstayMs: number; longestLockOutMs: number; longestPutBackMs: number }

type Pair = {
  /** When the last right ended; null while somebody may be in. */
  overSince: number | null
  lastMayUntil: number
  /** The latest end that the agent may hold for it. */
  heldEnd: number
  changedAt: number
  mustSince: number | null
  mustUntil: number
  /** The end it had before that was put off, and when it was: from that end on it stands by that order. */
  formerEnd: number
  putOffAt: number
  wasOpen: boolean
  /** Seen shut since the last right ended, with a whole path: nothing may open it again. */
  wasSeenShut: boolean
}

/**
 * Holds looks from outside against the books. It knows neither database nor agent: a right is what was answered, the
 * path what the storm itself broke and the links that came back.
 *
 * `stalledMs` says for how long the machine itself stood still between two instants: nobody's fault.
 */
export function createJudge(deps: {
  doors: readonly Door[]
  rightOf: (door: string, address: string, at: number) => Right
  pathOf: (agent: string) => PathState
  lossOf?: (door: string) => LossState
  stalledMs?: (from: number, to: number) => number
  bounds?: Bounds
}) {
  const limits = deps.bounds ?? bounds
  const stalledMs = deps.stalledMs ?? (() => 0)
  const lossOf = deps.lossOf ?? (() => ({ isAway: false, awayAt: 0, backAt: 0 }))
  const doors = new Map(deps.doors.map((door) => [door.id, door]))
  const pairs = new Map<string, Pair>()
  const breaches: Breach[] = []
  const held = new Set<string>()
  const worst: Partial<Record<'lockOut' | 'close', Look & { byMs: number }>> = {}
  const measures: Measures = {
    looks: 0,
    certain: 0,
    ends: 0,
    longestOverstayMs: 0,
    slowestCloseMs: 0,
    longestLockOutMs: 0,
    longestPutBackMs: 0,
    heldInSilence: 0,
    longestSilenceMs: 0,
  }

  const kinds = new Map(deps.doors.map(({ kind }) => [kind, noKindMeasures()]))

  function measure(door: Door, what: keyof KindMeasures, ms: number): void {
    const kind = kinds.get(door.kind) ?? noKindMeasures()
    kinds.set(door.kind, kind)
    kind[what] = Math.max(kind[what], ms)
    measures[what] = Math.max(measures[what], ms)
  }

  /** To be called whenever the books change, and before each look. */
  function refresh(door: Door, address: string, at: number): { pair: Pair; right: Right } {
    const right = deps.rightOf(door.id, address, at)
    const key = `${door.id} ${address}`
    const pair = pairs.get(key) ?? newPair()
    pairs.set(key, pair)
    if (right.mayUntil !== pair.lastMayUntil) pair.changedAt = at
    if (right.mayUntil > at) {
      pair.overSince = null
      pair.wasSeenShut = false
      pair.heldEnd = isKnownToAgent(door, pair, at) ? right.mayUntil : Math.max(pair.heldEnd, right.mayUntil)
    } else if (pair.overSince === null) {
      pair.overSince = Math.min(at, pair.lastMayUntil === -Infinity ? at : pair.lastMayUntil)
      if (pair.wasOpen && pair.overSince === pair.lastMayUntil) measures.ends += 1
    }
    pair.lastMayUntil = right.mayUntil
    noteMust(pair, right, at)
    return { pair, right }
  }

  function noteMust(pair: Pair, { must, mustUntil }: Right, at: number): void {
    const isPutOff = must && pair.mustUntil > at && mustUntil > pair.mustUntil
    if (isPutOff) {
      pair.formerEnd = pair.formerEnd < at ? pair.mustUntil : Math.min(pair.formerEnd, pair.mustUntil)
      pair.putOffAt = at
    }
    pair.mustUntil = mustUntil
    pair.mustSince = must ? mustSinceAt({ ...pair, mustSince: pair.mustSince ?? at }, at) : null
  }

  /** A whole path for long enough after the last change: the agent holds no older, later end. */
  function isKnownToAgent(door: Door, pair: Pair, at: number): boolean {
    const { wholeSince } = deps.pathOf(door.agent)
    return wholeSince !== null && at - Math.max(wholeSince, pair.changedAt) > limits.closeMs
  }

  function take(look: Look): void {
    const door = doors.get(look.door)
    if (door === undefined) throw new Error(`no door ${look.door}`)
    measures.looks += 1
    const { pair, right } = refresh(door, look.address, Date.now())
    const path = deps.pathOf(door.agent)
    const isCertain = right.must || right.mayUntil <= look.startedAt
    if (isCertain && path.wholeSince !== null) measures.certain += 1
    pair.wasOpen = look.state === 'open'
    if (look.state === 'open') judgeOpen(look, { door, pair, path, right })
    else if (look.state === 'refused') judgeShut(look, { door, pair, path, right })
  }

  type Case = { door: Door; pair: Pair; path: PathState; right: Right }

  function judgeOpen(look: Look, { door, pair, path, right }: Case): void {
    const at = look.startedAt
    judgeSilence(look, { door, pair, path, right })
    if (pair.overSince === null || at <= pair.overSince) return
    const late = (since: number) => at - since - stalledMs(since, at)
    const end = endOf(door, pair, path)
    if (end !== null) {
      const pastEnd = late(end.at)
      if (end.at > -Infinity) measure(door, 'longestOverstayMs', pastEnd)
      if (pastEnd > end.boundMs) blame('overstay', 'end', look, right, pastEnd - end.boundMs)
    }
    if (path.wholeSince === null) return
    const since = Math.max(pair.overSince, path.wholeSince)
    if (at < since) return
    const lateBy = late(since)
    if (pair.wasSeenShut) blame('leftOpen', 'path', look, right, late(pair.overSince))
    if (lateBy > measures.slowestCloseMs) {
      measures.slowestCloseMs = lateBy
      worst.close = { ...look, byMs: lateBy }
    }
    const boundMs = limits.closeMs + pollOf(door, path, pair.overSince)
    if (lateBy > boundMs) blame('leftOpen', 'path', look, right, lateBy - boundMs)
  }

  /**
   * From when on nothing may hold it open, and how much longer it may be seen so; null while nothing promises that.
   * What nobody ever might use has no end to wait for.
   */
  function endOf(door: Door, { heldEnd }: Pair, path: PathState): { at: number; boundMs: number } | null {
    if (door.endsBy === 'reader') return null
    if (heldEnd === -Infinity) return { at: heldEnd, boundMs: limits.agentEndMs }
    if (door.endsBy === 'agent') {
      if (path.knowsSince === null) return null
      return { at: Math.max(heldEnd, path.knowsSince), boundMs: limits.agentEndMs }
    }
    const wasAlive = path.upSince !== null && path.upSince < heldEnd
    return { at: heldEnd, boundMs: wasAlive ? limits.agentEndMs : limits.kernelEndMs }
  }

  /**
   * How long a change may wait for a door that looks by itself, in ms. It is told of what changed while everything
   * worked; of nothing else anybody can be sure that it was.
   */
  function pollOf(door: Door, { wholeSince }: PathState, changedAt: number): number {
    if (door.pollMs === undefined) return 0
    const { isAway, backAt } = lossOf(door.id)
    const workedSince = Math.max(wholeSince ?? Infinity, backAt)
    return !isAway && workedSince < changedAt - steadyMs ? 0 : door.pollMs
  }

  function judgeSilence(look: Look, { door, path, right }: Case): void {
    if (door.silenceSeconds === null || path.silentSince === null || path.upSince === null) return
    const closesAt = Math.max(path.silentSince + door.silenceSeconds * 1000, path.upSince)
    if (look.startedAt <= closesAt) {
      held.add(`${look.door} ${look.address} ${path.silentSince}`)
      measures.heldInSilence = held.size
      return
    }
    const late = look.startedAt - closesAt - stalledMs(closesAt, look.startedAt)
    measures.longestSilenceMs = Math.max(measures.longestSilenceMs, late)
    if (late > limits.silenceMs) blame('overstay', 'silence', look, right, late - limits.silenceMs)
  }

  function judgeShut(look: Look, { door, pair, path, right }: Case): void {
    const at = look.startedAt
    const { wholeSince } = path
    if (pair.overSince !== null && at > pair.overSince && wholeSince !== null) {
      const since = Math.max(pair.overSince, wholeSince)
      if (at - since > limits.closeMs + pollOf(door, path, pair.overSince)) {
        pair.wasSeenShut = true
        pair.heldEnd = Math.min(pair.heldEnd, at)
      }
    }
    const { isAway, awayAt, backAt } = lossOf(door.id)
    if (pair.mustSince === null || wholeSince === null || isAway) return
    const late = (from: number) => at - from - stalledMs(from, at)
    const since = Math.max(pair.mustSince, wholeSince)
    const lockOut = late(since)
    const putBack = late(backAt)
    // What was lost lately is put back by one promise, what was granted lately is opened by the other. What was just
    // being ordered when everything was lost is left to the agent's next look, as what is lost from a set.
    const isStanding = since < awayAt - limits.closeMs
    const backMs = isStanding ? door.backMs : Math.max(door.backMs, limits.driftMs)
    if (putBack <= backMs) {
      if (since <= backAt) measure(door, 'longestPutBackMs', putBack)
      return
    }
    if (lockOut > measures.longestLockOutMs) worst.lockOut = { ...look, byMs: lockOut }
    measure(door, 'longestLockOutMs', lockOut)
    const boundMs = limits.openMs + pollOf(door, path, pair.mustSince)
    if (lockOut <= boundMs) return
    blame('lockOut', 'open', look, right, Math.min(lockOut - boundMs, putBack - backMs))
  }

  function blame(
    kind: Breach['kind'],
    limit: Breach['limit'],
    { door, address, startedAt }: Look,
    right: Right,
    byMs: number,
  ): void {
    const known = breaches.findLast(
      (breach) => breach.kind === kind && breach.door === door && breach.address === address,
    )
    if (known !== undefined && startedAt - known.at < sameBreachMs) {
      Object.assign(known, { byMs: Math.max(known.byMs, byMs) })
      return
    }
    const persons = [...new Set(right.claims.map(({ person }) => person))]
    const doorKind = doors.get(door)?.kind ?? ''
    breaches.push({ kind, limit, door, doorKind, address, at: startedAt, byMs, persons })
  }

  return {
    /** The books have changed. */
    note: (at: number, addresses: Iterable<string>) => {
      for (const address of addresses) for (const door of doors.values()) refresh(door, address, at)
    },
    take,
    breaches: (): readonly Breach[] => breaches,
    measures: (): Measures => ({ ...measures }),
    /** The same for each kind of door. */
    kinds: (): ReadonlyMap<string, KindMeasures> => kinds,
    /** Since when somebody has had to find a door open without a break; null: nobody. */
    mustSince: (door: string, address: string, at: number): number | null => {
      const pair = pairs.get(`${door} ${address}`)
      return pair === undefined ? null : mustSinceAt(pair, at)
    },
    /** The looks at which the slowest of the legal was seen. */
    worst: () => ({ ...worst }),
  }
}

/** A way that has worked for so long has told all there was to tell. */
const steadyMs = 1_000

/** Since when it has had to be open by what was ordered; an end that is put off in its last moment is an order too. */
const mustSinceAt = ({ mustSince, formerEnd, putOffAt }: Pair, at: number): number | null =>
  mustSince === null || at < formerEnd ? mustSince : Math.max(mustSince, putOffAt)

/** Looks at the same thing within this time are one breach. */
const sameBreachMs = 10_000

const noKindMeasures = (): KindMeasures => ({
  longestOverstayMs: 0,
  longestLockOutMs: 0,
  longestPutBackMs: 0,
})

const newPair = (): Pair => ({
  overSince: null,
  lastMayUntil: -Infinity,
  heldEnd: -Infinity,
  changedAt: 0,
  mustSince: null,
  mustUntil: -Infinity,
  formerEnd: -Infinity,
  putOffAt: -Infinity,
  wasOpen: false,
  wasSeenShut: false,
})

import { bounds } from './bounds.ts'

/** What has happened to the way between a right and its door, told by whoever made or saw it. Unix ms. */
export type PathEvent = AgentEvent | TruthEvent | DoorEvent

type AgentEvent =
  | { type: 'agent.up' | 'agent.down' | 'agent.linked' | 'agent.unlinked'; agent: string }
  /** The link is gone, or is held up, without its ends knowing: only a new one counts. */
  | { type: 'agent.blind'; agent: string }
  /** Its journal was taken away while it was dead: until the server has answered, it knows of nothing it opened. */
  | { type: 'agent.forgot'; agent: string }
  /** From now on nothing of the server's truth can come through to the agent; and from now on it can. */
  | { type: 'agent.silenced' | 'agent.heard'; agent: string }

/** The truth can't be read or written, by all replicas or by some; and everybody can again. */
type TruthEvent = { type: 'truth.away' | 'truth.back' }

/** A door's entries are being taken away, or what holds them is not there; and from then on they can be put back. */
type DoorEvent = { type: 'door.away' | 'door.back'; door: string }

/** What a door has lost. */
export type LossState = {
  isAway: boolean
  /** When it last lost them, and what holds them. */
  awayAt: number
  /** When its entries could last be put back after a loss; 0: it has lost nothing. */
  backAt: number
}

/** How the way to one agent's doors is. */
export type PathState = {
  /** Since when everything between the right and the door has worked, and nobody has interfered; null: it doesn't. */
  wholeSince: number | null
  /** Since when the agent's process has been running; null: it is dead. */
  upSince: number | null
  /** Since when it can't have heard any truth; null: it may have. */
  silentSince: number | null
  /** Since when its process has been running and knows what it opened; null: it is dead, or has forgotten. */
  knowsSince: number | null
}

/** Once everything has worked for so long, an agent knows again what it had forgotten: a close's bound. */
const toldWithinMs = bounds.closeMs

/** Follows the ways to the agents by what happens to them. */
export function createPaths(agents: readonly string[]) {
  const facts = new Map(
    agents.map((name) => [
      name,
      {
        upSince: null as number | null,
        linkedSince: null as number | null,
        blockedAt: null as number | null,
        silencedAt: null as number | null,
        hasForgotten: false,
        toldAt: 0,
      },
    ]),
  )
  const losses = new Map<string, LossState>()
  let awaySince: number | null = null
  let backSince = 0
  let away = 0

  function take(event: PathEvent, at: number): void {
    for (const name of facts.keys()) noteTold(name, at)
    if ('agent' in event) return takeAgent(event, at)
    if ('door' in event) return takeDoor(event, at)
    away += event.type === 'truth.away' ? 1 : -1
    if (away > 0) awaySince ??= at
    else {
      awaySince = null
      backSince = at
    }
  }

  const lossOf = (door: string): LossState => losses.get(door) ?? { isAway: false, awayAt: 0, backAt: 0 }

  function takeDoor({ type, door }: DoorEvent, at: number): void {
    const isAway = type === 'door.away'
    losses.set(door, { isAway, awayAt: isAway ? at : lossOf(door).awayAt, backAt: at })
  }

  /** It has been told again what stands, if it had forgotten. */
  function noteTold(agent: string, at: number): void {
    const fact = factOf(agent)
    const { wholeSince } = stateOf(agent)
    if (!fact.hasForgotten || wholeSince === null || at < wholeSince + toldWithinMs) return
    Object.assign(fact, { hasForgotten: false, toldAt: wholeSince + toldWithinMs })
  }

  function factOf(agent: string) {
    const fact = facts.get(agent)
    if (fact === undefined) throw new Error(`no agent ${agent}`)
    return fact
  }

  function takeAgent(event: AgentEvent, at: number): void {
    const fact = factOf(event.agent)
    if (event.type === 'agent.up') fact.upSince = at
    else if (event.type === 'agent.down') Object.assign(fact, { upSince: null, linkedSince: null })
    else if (event.type === 'agent.linked') fact.linkedSince ??= at
    else if (event.type === 'agent.unlinked' || event.type === 'agent.blind') fact.linkedSince = null
    else if (event.type === 'agent.forgot') fact.hasForgotten = true
    else if (event.type === 'agent.silenced') fact.silencedAt ??= at
    else {
      fact.silencedAt = null
      if (fact.linkedSince !== null) fact.linkedSince = at
    }
  }

  function stateOf(agent: string): PathState {
    const { upSince, linkedSince, silencedAt, hasForgotten, toldAt } = factOf(agent)
    const isWhole = upSince !== null && linkedSince !== null && awaySince === null && silencedAt === null
    const wholeSince = isWhole ? Math.max(linkedSince, backSince) : null
    const toldSince = wholeSince === null ? null : wholeSince + toldWithinMs
    return {
      wholeSince,
      upSince,
      silentSince: silencedAt,
      knowsSince: hasForgotten ? toldSince : upSince === null ? null : Math.max(upSince, toldAt),
    }
  }

  return {
    take,
    stateOf,
    lossOf,
  }
}

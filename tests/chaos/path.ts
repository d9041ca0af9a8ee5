/** What has happened to the way between a right and its door, told by whoever made or saw it. Unix ms. */
export type PathEvent = AgentEvent | TruthEvent

type AgentEvent =
  | { type: 'agent.up' | 'agent.down' | 'agent.linked' | 'agent.unlinked'; agent: string }
  /** The link is gone, or is held up, without its ends knowing: only a new one counts. */
  | { type: 'agent.blind'; agent: string }
  /** Somebody changed the agent's lists behind its back. */
  | { type: 'agent.drifted'; agent: string }
  /** From now on nothing of the server's truth can come through to the agent; and from now on it can. */
  | { type: 'agent.silenced' | 'agent.heard'; agent: string }

/** The truth can't be read or written, by all replicas or by some; and everybody can again. */
type TruthEvent = { type: 'truth.away' | 'truth.back' }

/** How the way to one agent's doors is. */
export type PathState = {
  /** Since when everything between the right and the door has worked, and nobody has interfered; null: it doesn't. */
  wholeSince: number | null
  /** Since when the agent's process has been running; null: it is dead. */
  upSince: number | null
  /** Since when it can't have heard any truth; null: it may have. */
  silentSince: number | null
  /** Until when nothing was known to be wrong with its lists. */
  driftedAt: number
}

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
        driftedAt: 0,
      },
    ]),
  )
  let awaySince: number | null = null
  let backSince = 0
  let away = 0

  function take(event: PathEvent, at: number): void {
    if ('agent' in event) return takeAgent(event, at)
    away += event.type === 'truth.away' ? 1 : -1
    if (away > 0) awaySince ??= at
    else {
      awaySince = null
      backSince = at
    }
  }

  function takeAgent(event: AgentEvent, at: number): void {
    const fact = facts.get(event.agent)
    if (fact === undefined) throw new Error(`no agent ${event.agent}`)
    if (event.type === 'agent.up') fact.upSince = at
    else if (event.type === 'agent.down') Object.assign(fact, { upSince: null, linkedSince: null })
    else if (event.type === 'agent.linked') fact.linkedSince ??= at
    else if (event.type === 'agent.unlinked' || event.type === 'agent.blind') fact.linkedSince = null
    else if (event.type === 'agent.drifted') fact.driftedAt = at
    else if (event.type === 'agent.silenced') fact.silencedAt ??= at
    else {
      fact.silencedAt = null
      if (fact.linkedSince !== null) fact.linkedSince = at
    }
  }

  function stateOf(agent: string): PathState {
    const fact = facts.get(agent)
    if (fact === undefined) throw new Error(`no agent ${agent}`)
    const { upSince, linkedSince, silencedAt, driftedAt } = fact
    const isWhole = upSince !== null && linkedSince !== null && awaySince === null && silencedAt === null
    return {
      wholeSince: isWhole ? Math.max(linkedSince, backSince) : null,
      upSince,
      silentSince: silencedAt,
      driftedAt,
    }
  }

  return { take, stateOf, isTruthAway: () => awaySince !== null }
}

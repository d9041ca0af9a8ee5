import { performance } from 'node:perf_hooks'
import type { List } from './lists.ts'
import { createTurns } from './turns.ts'

const everyMs = 5_000
/** A look may take this share of the time at most (decision 12: 5 % CPU), unless it is one that only waits. */
const idleFactor = 20
const longestWaitMs = 60_000

/** Whose turn it is to be looked at. */
export type DriftRounds = {
  /** One look at all lists. */
  lookAtAll: () => Promise<void>
  /** One list before its turn. */
  lookAtOne: (list: List) => Promise<void>
  start: () => void
  stop: () => void
}

/**
 * Builds the rounds. The lists of the host's kernel and scripts are looked at one after the other; each list behind
 * a connection has a round of its own, because one that hangs must not make the others wait. Looks at one list
 * don't overlap.
 */
export function createDriftRounds(deps: {
  lists: () => Iterable<List>
  look: (lists: readonly List[]) => Promise<void>
  onFailure: (error: unknown) => void
}): DriftRounds {
  const turns = new Map<string, ReturnType<typeof createTurns>>()
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  let isStopped = false

  const inTurn = (round: string, look: () => Promise<void>): Promise<void> => {
    const turn = turns.get(round) ?? createTurns()
    turns.set(round, turn)
    return turn(look)
  }

  const membersOf = (round: string) => Array.from(deps.lists()).filter((list) => roundOf(list) === round)

  const lookAtRound = (round: string) => inTurn(round, () => deps.look(membersOf(round)))

  const loop = (round: string) => {
    const startedAt = performance.now()
    void lookAtRound(round)
      .catch(deps.onFailure)
      .finally(() => {
        const wait = Math.min(longestWaitMs, (performance.now() - startedAt) * idleFactor)
        again(round, Math.max(everyMs, wait))
      })
  }

  const again = (round: string, wait: number) => {
    if (isStopped) return
    if (membersOf(round).length === 0) {
      timers.delete(round)
      turns.delete(round)
    } else
      timers.set(
        round,
        setTimeout(() => loop(round), wait),
      )
  }

  /** Rounds begin with the first list of theirs. */
  const findNew = () => {
    for (const list of deps.lists()) {
      const round = roundOf(list)
      if (!timers.has(round)) again(round, everyMs / 2)
    }
    timers.set('', setTimeout(findNew, everyMs / 2))
  }

  return {
    lookAtAll: async () => {
      const rounds = new Set(Array.from(deps.lists(), roundOf))
      await Promise.all(Array.from(rounds, lookAtRound))
    },
    lookAtOne: (list) =>
      inTurn(roundOf(list), async () => {
        if (Array.from(deps.lists()).includes(list)) await deps.look([list])
      }).catch(deps.onFailure),
    start: findNew,
    stop: () => {
      isStopped = true
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

const roundOf = ({ driver, key }: List): string => (driver.onReplaced === undefined ? 'host' : `list ${key}`)

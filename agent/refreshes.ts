import type { AgentFrame, ServerFrame } from '#machines/protocol.ts'
import type { DriverError } from './drivers/driver.ts'
import type { List, Lists } from './lists.ts'
import type { AgentLog } from './log.ts'

type Request = Extract<ServerFrame, { type: 'refresh' }>

/**
 * Has devices fetch their lists from the server when it says that something on them changed (Passive+).
 *
 * Nothing is written down: the server asks again until it is answered. Done by agents that may only close, too,
 * because a refresh is how a door behind such a list is closed.
 */
export type Refreshes = {
  take: (request: Request) => void
  /** Forgets what waits and answers nothing of what is under way: its generations are those of another epoch. */
  drop: () => void
}

/** One list's turn: the generation under way and the newest that waits, by the target each was asked for. */
type Turn = { running: Map<string, number>; waiting: Map<string, number> }

/** Builds it. Lists don't wait for each other, nor for opens and closes; a list has one refresh at a time. */
export function createRefreshes(deps: {
  lists: Pick<Lists, 'find'>
  nowOrWall: () => number
  send: (frame: AgentFrame) => void
  log: AgentLog
}): Refreshes {
  const turns = new Map<string, Turn>()

  const answer = ({ targetId, generation }: Omit<Request, 'type'>, error: DriverError | null) =>
    deps.send({
      type: 'refreshed',
      targetId,
      generation,
      atMs: deps.nowOrWall(),
      error: error && { code: error.code, text: error.text.slice(0, 1000) },
    })

  /** Whoever means the list asks for the same thing: one call to the device answers them all. */
  const work = async (list: List, turn: Turn) => {
    while (turn.waiting.size > 0) {
      turn.running = turn.waiting
      turn.waiting = new Map()
      const error = await refresh(list)
      for (const [targetId, generation] of turn.running) answer({ targetId, generation }, error)
    }
    turns.delete(list.key)
  }

  const refresh = async ({ key, driver }: List): Promise<DriverError | null> => {
    if (driver.refresh === undefined)
      return { code: 'badTarget', text: 'a list of this kind is not fetched from the server' }
    try {
      const error = await driver.refresh()
      if (error !== null)
        deps.log.warn({ list: key, code: error.code, text: error.text }, 'a list was not refreshed')
      return error
    } catch (fault) {
      deps.log.error({ list: key, fault: String(fault) }, 'a driver failed unexpectedly')
      return { code: 'unknown', text: 'the agent’s driver failed; see its log' }
    }
  }

  return {
    take: (request) => {
      const { targetId, generation } = request
      const list = deps.lists.find(targetId)
      if (list === undefined)
        return answer(request, { code: 'unknownTarget', text: 'the agent does not know this list' })
      const turn = turns.get(list.key) ?? { running: new Map(), waiting: new Map() }
      // Asked again while it is being done, or something newer is: the answer is on its way.
      const known = Math.max(turn.running.get(targetId) ?? 0, turn.waiting.get(targetId) ?? 0)
      if (generation <= known) return
      turn.waiting.set(targetId, generation)
      if (turns.has(list.key)) return
      turns.set(list.key, turn)
      void work(list, turn)
    },
    drop: () => {
      for (const { running, waiting } of turns.values()) {
        running.clear()
        waiting.clear()
      }
    },
  }
}

/** Why a round of lookups is asked for. */
export type Reason = 'start' | 'moved' | 'network' | 'returned' | 'regular'

export type Rounds = { ask(reason: Reason): void; stop(): void }

/** While the page is open there is a round so often, in milliseconds. */
export const regularMs = 3 * 60_000

/** What is asked sooner than this after the last round is left out, or waits (decision 14: no flapping). */
const gapMs: Readonly<Record<Reason, number>> = {
  start: 0,
  moved: 5_000,
  network: 15_000,
  returned: 60_000,
  regular: 0,
}
/** After a move, what has not answered is asked once more in time: it is dropped after a minute. */
const againMs = 20_000

/**
 * Runs rounds when they are asked for and every few minutes, in idle time, one at a time. `round` never fails, and
 * answers whether everybody it asked has answered.
 */
export function createRounds(round: () => Promise<boolean>): Rounds {
  let isRunning = false
  let isStopped = false
  let wanted: Reason | null = null
  let lastAt = -Infinity
  let timer: ReturnType<typeof setTimeout> | undefined
  let dueAt = Infinity

  const schedule = (reason: Reason, waitMs: number) => {
    clearTimeout(timer)
    dueAt = Date.now() + waitMs
    timer = setTimeout(() => whenIdle(() => void run(reason)), Math.max(waitMs, 0))
  }
  const run = async (reason: Reason) => {
    if (isStopped || isRunning) return
    isRunning = true
    lastAt = Date.now()
    wanted = null
    const isWhole = await round()
    isRunning = false
    if (isStopped) return
    if (wanted !== null) schedule(wanted, lastAt + gapMs[wanted] - Date.now())
    else if (reason === 'moved' && !isWhole) schedule('regular', againMs)
    else schedule('regular', regularMs)
  }
  schedule('start', 0)
  return {
    ask(reason) {
      const waitMs = lastAt + gapMs[reason] - Date.now()
      if (reason === 'returned' && waitMs > 0) return
      if (isRunning) wanted = wanted === 'moved' ? wanted : reason
      // Whatever comes sooner anyway looks for this as well.
      else if (Date.now() + waitMs < dueAt) schedule(reason, waitMs)
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** When the page has nothing better to do, at the latest in two seconds. */
function whenIdle(act: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(act, { timeout: 2_000 })
  else act()
}

/** One look at the status; a re-validation lets access follow the address. */
export type Look = (how: { isRevalidation: boolean; signal: AbortSignal }) => Promise<void>

export type Looks = {
  /** Re-validates as soon as it may. On a new network what is under way is given up: it left from the old one. */
  revalidate(options?: { isNewNetwork?: boolean }): void
  /** Reads the status as it stands. */
  refresh(): void
  stop(): void
}

/** At most one re-validation in so many milliseconds, whatever the browser reports. */
const revalidateGapMs = 2_000
/** Hints come in bursts: the status is read at most so often. */
const refreshGapMs = 200

/** Puts looks in order: one at a time, and whoever asks while one is under way gets one after it. */
export function createLooks(look: Look): Looks {
  let running: AbortController | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  const wants = { revalidation: false, refresh: false }
  const last = { revalidation: -Infinity, refresh: -Infinity }

  const next = () => {
    clearTimeout(timer)
    if (isStopped || running) return
    const now = Date.now()
    const waits = {
      revalidation: wants.revalidation ? last.revalidation + revalidateGapMs - now : Infinity,
      refresh: wants.refresh ? Math.max(last.refresh, last.revalidation) + refreshGapMs - now : Infinity,
    }
    const waitMs = Math.min(waits.revalidation, waits.refresh)
    if (waitMs === Infinity) return
    if (waitMs > 0) timer = setTimeout(next, waitMs)
    else void run(waits.revalidation <= 0)
  }
  const run = async (isRevalidation: boolean) => {
    const mine = new AbortController()
    running = mine
    last[isRevalidation ? 'revalidation' : 'refresh'] = Date.now()
    // A re-validation answers with the status as well.
    wants.refresh = false
    if (isRevalidation) wants.revalidation = false
    try {
      await look({ isRevalidation, signal: mine.signal })
    } finally {
      if (running === mine) {
        running = null
        next()
      }
    }
  }
  return {
    revalidate({ isNewNetwork = false } = {}) {
      wants.revalidation = true
      if (isNewNetwork && running) {
        running.abort()
        running = null
      }
      next()
    },
    refresh() {
      wants.refresh = true
      next()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
      running?.abort()
    },
  }
}

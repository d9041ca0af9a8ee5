/** The one line of work of a list: one act at a time, closes before opens, others' devices never waited for. */
export type Lane = {
  /** Queues addresses to be brought to what they should be when their turn comes; a queued one is not queued twice. */
  add: (addresses: Iterable<string>) => void
  /** Whether an address is queued or being worked on. */
  isBusy: (address: string) => boolean
  /** Resolves when nothing is queued, worked on, or waiting for another try. */
  idle: () => Promise<void>
  /** Finishes the batch at hand and takes no more. */
  stop: () => Promise<void>
}

/** First wait before closes that failed are tried again, and the longest; milliseconds. Closes never give up. */
const retryWaits = { firstMs: 250, longestMs: 30_000 } as const

/**
 * Builds a lane. `settle` acts on a batch and answers the addresses that must be tried again;
 * it decides what each address is to be at that moment, so a newer order that came meanwhile simply counts.
 */
export function createLane(deps: {
  batchSize: number
  isClose: (address: string) => boolean
  settle: (addresses: string[]) => Promise<string[]>
}): Lane {
  const closes = new Set<string>()
  const opens = new Set<string>()
  let working = new Set<string>()
  let retries = new Set<string>()
  let failures = 0
  let retryTimer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  let loop: Promise<void> | undefined
  let watchers: (() => void)[] = []

  const takeBatch = (): string[] => {
    const batch: string[] = []
    if (isStopped) return batch
    for (const queue of [closes, opens]) {
      for (const address of queue) {
        if (batch.length >= deps.batchSize) return batch
        queue.delete(address)
        batch.push(address)
      }
      // Closes are never made to wait for an open, not even one in the same batch.
      if (batch.length > 0) return batch
    }
    return batch
  }

  const work = async () => {
    for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) {
      working = new Set(batch)
      const failed = await deps.settle(batch)
      working = new Set()
      failures = failed.length === 0 ? 0 : failures + 1
      retryLater(failed)
    }
    loop = undefined
    tellIdle()
  }

  const retryLater = (failed: readonly string[]) => {
    for (const address of failed) retries.add(address)
    if (retries.size === 0 || retryTimer !== undefined || isStopped) return
    retryTimer = setTimeout(
      () => {
        retryTimer = undefined
        const again = retries
        retries = new Set()
        add(again)
      },
      Math.min(retryWaits.longestMs, retryWaits.firstMs * 2 ** Math.min(failures, 10)),
    )
  }

  const tellIdle = () => {
    if (loop !== undefined || (retries.size > 0 && !isStopped)) return
    const told = watchers
    watchers = []
    for (const watcher of told) watcher()
  }

  const add = (addresses: Iterable<string>) => {
    for (const address of addresses) {
      const isClose = deps.isClose(address)
      ;(isClose ? opens : closes).delete(address)
      ;(isClose ? closes : opens).add(address)
    }
    if (!isStopped && closes.size + opens.size > 0) loop ??= work()
  }

  return {
    add,
    isBusy: (address) => working.has(address) || closes.has(address) || opens.has(address),
    idle: () =>
      new Promise((resolve) => {
        watchers.push(resolve)
        tellIdle()
      }),
    stop: async () => {
      isStopped = true
      clearTimeout(retryTimer)
      await loop
      tellIdle()
    },
  }
}

import type { Closing, DriverError } from '../drivers/driver.ts'
import type { AgentLog } from '../log.ts'

/** Ends the connections of a list's closed entries, beside the lane that closes them, which never waits for it. */
export type CutLane = {
  add: (entries: Iterable<Closing>) => void
  /** Resolves when nothing is queued, worked on, or waiting for another try. */
  idle: () => Promise<void>
  /** Finishes the batch at hand and takes no more. */
  stop: () => Promise<void>
}

/** What went wrong last with a list's connections; null when the last try went well. */
export type CutFault = { code: string; text: string; atMs: number } | null

/** Waits before another try, milliseconds; after the last the connections are left to the rules. */
const retryWaitsMs = [250, 1_000, 4_000] as const
const batchSize = 1_000

/**
 * Builds it. `isShut` is asked when an entry's turn has come, and by `cut` while it works: who is let in again
 * meanwhile keeps what he has.
 */
export function createCutLane(deps: {
  list: string
  isShut: (address: string) => boolean
  cut: (entries: readonly Closing[], isShut: (address: string) => boolean) => Promise<DriverError | null>
  onFault: (fault: CutFault) => void
  now: () => number
  log: AgentLog
}): CutLane {
  const queue = new Map<string, { entry: Closing; failures: number }>()
  const timers = new Set<ReturnType<typeof setTimeout>>()
  let told: string | null = null
  let loop: Promise<void> | undefined
  let isStopped = false
  let watchers: (() => void)[] = []

  const work = async () => {
    // A turn of the loop first: what is closed in one go is cut in one go.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.size > 0 && !isStopped) {
      const batch = [...queue.values()].slice(0, batchSize)
      for (const { entry } of batch) queue.delete(entry.address)
      const due = batch.filter(({ entry }) => deps.isShut(entry.address))
      if (due.length > 0) conclude(due, await act(due.map(({ entry }) => entry)))
    }
    loop = undefined
    tellIdle()
  }

  const act = async (entries: readonly Closing[]): Promise<DriverError | null> => {
    try {
      return await deps.cut(entries, deps.isShut)
    } catch (error) {
      return { code: 'unknown', text: String(error).slice(0, 300) }
    }
  }

  const conclude = (batch: readonly { entry: Closing; failures: number }[], error: DriverError | null) => {
    if (error === null) {
      if (told !== null) deps.onFault(null)
      told = null
      return
    }
    const { code, text } = error
    if (told !== `${code} ${text}`) {
      told = `${code} ${text}`
      deps.log.warn({ list: deps.list, code, text }, 'connections of closed entries could not be ended')
      deps.onFault({ code, text, atMs: deps.now() })
    }
    for (const [failures, group] of Map.groupBy(batch, (one) => one.failures)) retryLater(group, failures)
  }

  const retryLater = (group: readonly { entry: Closing }[], failures: number) => {
    const wait = retryWaitsMs[failures]
    if (wait === undefined || isStopped) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      take(group.map(({ entry }) => ({ entry, failures: failures + 1 })))
    }, wait)
    timers.add(timer)
  }

  const take = (entries: Iterable<{ entry: Closing; failures: number }>) => {
    for (const one of entries) queue.set(one.entry.address, one)
    if (queue.size > 0 && !isStopped) loop ??= work()
  }

  const tellIdle = () => {
    if (loop !== undefined || (timers.size > 0 && !isStopped)) return
    const idle = watchers
    watchers = []
    for (const watcher of idle) watcher()
  }

  return {
    add: (entries) => take(Array.from(entries, (entry) => ({ entry, failures: 0 }))),
    idle: () =>
      new Promise((resolve) => {
        watchers.push(resolve)
        tellIdle()
      }),
    stop: async () => {
      isStopped = true
      for (const timer of timers) clearTimeout(timer)
      await loop
      tellIdle()
    },
  }
}

import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'

/** The clock of the entries ticks so often, in milliseconds. Portal §9. */
const tickMs = 1_000

/** The server's time, told to whoever asks once a second. */
export type EntryClock = {
  now: () => number
  /** `offsetMs` = server's clock − browser's. */
  setOffset: (offsetMs: number) => void
  subscribe: (onTick: () => void) => () => void
}

/** One timer for all entries, running while somebody listens; `now` stands still between two ticks. */
export function createEntryClock(offsetMs: number, readTime: () => number = Date.now): EntryClock {
  const listeners = new Set<() => void>()
  let offset = offsetMs
  let now = readTime() + offset
  let timer: ReturnType<typeof setInterval> | undefined
  const tick = () => {
    now = readTime() + offset
    for (const listener of [...listeners]) listener()
  }
  return {
    now: () => now,
    setOffset: (next) => {
      offset = next
      tick()
    },
    subscribe: (onTick) => {
      listeners.add(onTick)
      if (timer === undefined) {
        now = readTime() + offset
        timer = setInterval(tick, tickMs)
      }
      return () => {
        listeners.delete(onTick)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}

const ClockContext = createContext<EntryClock | null>(null)

/** Gives everything inside the server's time. */
export function EntryClockProvider({ offsetMs, children }: { offsetMs: number; children: ReactNode }) {
  const [clock] = useState(() => createEntryClock(offsetMs))
  useEffect(() => clock.setOffset(offsetMs), [clock, offsetMs])
  useEffect(() => {
    // A page that slept has missed ticks.
    const onReturn = () => clock.setOffset(offsetMs)
    document.addEventListener('visibilitychange', onReturn)
    return () => document.removeEventListener('visibilitychange', onReturn)
  }, [clock, offsetMs])
  return <ClockContext value={clock}>{children}</ClockContext>
}

/**
 * What `read` makes of the server's time. Drawn anew only when that changes, not at each tick: 200 entries cost
 * nothing while their minutes stand still. `read` answers a number or null, and is cheap.
 */
export function useByClock<Value extends number | null>(read: (now: number) => Value): Value {
  const clock = useContext(ClockContext)
  if (clock === null) throw new Error('No clock: EntryClockProvider is missing.')
  const snapshot = useCallback(() => read(clock.now()), [clock, read])
  return useSyncExternalStore(clock.subscribe, snapshot)
}

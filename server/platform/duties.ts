import type { Log } from './log.ts'

/** Something a replica does over and over; `run` answers true when there is more to do at once. */
export type Duty = { name: string; everyMs: number; run: () => Promise<unknown> }

/**
 * Runs each duty at its interval, never twice at once, and goes on whatever one of them throws: the next round
 * comes anyway. A failing duty is logged when it begins to fail and when it is well again.
 *
 * @returns stops them; resolves when the running ones are done.
 */
export function startDuties(duties: readonly Duty[], log: Log): () => Promise<void> {
  const stopping = new AbortController()
  const loops = duties.map((duty) => repeat(duty, stopping.signal, log))
  return async function stop() {
    stopping.abort()
    await Promise.all(loops)
  }
}

async function repeat({ name, everyMs, run }: Duty, signal: AbortSignal, log: Log): Promise<void> {
  let isFailing = false
  while (!signal.aborted) {
    let more = false
    try {
      more = (await run()) === true
      if (isFailing) log.info({ duty: name }, 'works again')
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn({ duty: name, err: error }, 'failed, and will be tried again')
      isFailing = true
    }
    if (!more) await pause(everyMs, signal)
  }
}

/** Waits, but not past the stop, also when that came while the duty ran. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}

import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from './log.ts'
import type { Handle, QueueBackend } from './queue-backend.ts'
import { withinMilliseconds } from './within.ts'

const retryMilliseconds = 500
const closeMilliseconds = 5000

/**
 * Keeps one worker running. BullMQ remembers a failed first connection for ever and, on PostgreSQL, asks again
 * without a pause while the database is away; so after any error of its own the worker is given up, and a new
 * one made as soon as the backend answers. A job it was at is done again, which must not matter.
 */
export function superviseWorker({
  backend,
  name,
  prepare,
  handle,
  log,
}: {
  backend: QueueBackend
  name: string
  /** Done before each start of a worker. */
  prepare: () => Promise<void>
  handle: Handle
  log: Log
}): { close: () => Promise<void> } {
  const closing = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      if ((await backend.isUp()) && (await isPrepared())) await runOne()
      await wait(retryMilliseconds, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  function isPrepared(): Promise<boolean> {
    return prepare().then(
      () => true,
      () => false,
    )
  }

  /** Runs a worker until it fails or the queue closes. */
  async function runOne(): Promise<void> {
    const { worker, release } = backend.openWorker(name, handle)
    const ended = new Promise<Error | undefined>((resolve) => {
      worker.on('error', resolve)
      closing.signal.addEventListener('abort', () => resolve(undefined), { once: true })
      if (closing.signal.aborted) resolve(undefined)
    })
    worker.on('failed', (job, err) => log.warn({ job: job?.name, err }, 'a nudge failed; it is tried again'))
    const failure = await ended
    if (failure) log.warn({ err: failure.message }, 'the queue was lost; reconnecting')
    const closed = withinMilliseconds(worker.close(failure !== undefined), closeMilliseconds)
      .catch(() => undefined)
      .then(release)
    if (!failure) await closed
  }

  return {
    close: async () => {
      closing.abort()
      await running
    },
  }
}

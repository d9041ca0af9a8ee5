import { performance } from 'node:perf_hooks'
import type { OrderResult } from '#machines/protocol.ts'

/** Collects outcomes and sends them together: at once after a pause, else after 5 ms, or when 200 are there. */
export type Results = {
  add: (result: OrderResult) => void
  flush: () => void
}

const pauseMs = 5
const flushAt = 200

/** Builds the collector. `beforeSend` writes what must be in the journal before the server is told. */
export function createResults(deps: {
  beforeSend: () => void
  send: (results: OrderResult[]) => void
}): Results {
  let waiting: OrderResult[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let sentAt = 0

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    const results = waiting
    waiting = []
    sentAt = performance.now()
    deps.beforeSend()
    deps.send(results)
  }

  return {
    add: (result) => {
      waiting.push(result)
      if (waiting.length >= flushAt) flush()
      // A lone click is not made to wait; the outcomes of one batch come in one turn of the loop and go together.
      else timer ??= setTimeout(flush, performance.now() - sentAt >= pauseMs ? 0 : pauseMs)
    },
    flush,
  }
}

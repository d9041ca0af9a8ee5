import { fileURLToPath } from 'node:url'
import type { StreamCall, StreamState } from './stream-worker.ts'
import { startWorkerCalls } from './worker-calls.ts'

/** One end of TCP streams, inside of a network namespace. */
export type Streams = ReturnType<typeof startStreams>

/** Starts the worker; `place` puts a command into the namespace. Call `stop` in the end. */
export function startStreams(place: (command: readonly string[]) => readonly string[]) {
  const worker = fileURLToPath(new URL('./stream-worker.ts', import.meta.url))
  const { ask, stop } = startWorkerCalls<StreamCall>(worker, place)

  return {
    /** A TCP service that greets, echoes, and pushes to those who want it. */
    serve: (port: number) => ask<void>({ act: 'serve', port }),
    /** Opens a stream that says nothing until told to; a pushed one hears the service every 10 ms. */
    open: async (
      host: string,
      port: number,
      { isPushed = false, ...origin }: { from?: string; fromPort?: number; isPushed?: boolean } = {},
    ) => {
      const number = await ask<number>({ act: 'open', host, port, isPushed, ...origin })
      return {
        /** Sends one packet; when, in Unix milliseconds. */
        talk: () => ask<number>({ act: 'talk', number }),
        look: () => ask<StreamState>({ act: 'look', number }),
      }
    },
    stop,
  }
}

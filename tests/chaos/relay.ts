import { fileURLToPath } from 'node:url'
import { startWorkerCalls } from '#tests/support/worker-calls.ts'
import type { Muddled } from './muddle.ts'

export type RelayCall =
  | { act: 'open'; port: number; to: number }
  | { act: 'muddle'; seed: number | null }
  | { act: 'counts' }

export type Relay = Awaited<ReturnType<typeof openRelay>>

/**
 * A relay on a host's loopback between an agent and its proxy that knows WebSocket frames. `place` puts it on the
 * host. While it muddles, orders come twice, late and out of order; everything else passes as it is.
 */
export async function openRelay(
  place: (command: readonly string[]) => readonly string[],
  { port, to }: { port: number; to: number },
) {
  const worker = fileURLToPath(new URL('./relay-worker.ts', import.meta.url))
  const { ask, stop } = startWorkerCalls<RelayCall>(worker, place)
  return {
    /** Where it listens: as asked for, or the free one that 0 asks for. */
    port: await ask<number>({ act: 'open', port, to }),
    /** Muddles by this seed, or no more; what is under way still comes late. */
    muddle: (seed: number | null) => ask<void>({ act: 'muddle', seed }),
    counts: () => ask<Muddled>({ act: 'counts' }),
    stop,
  }
}

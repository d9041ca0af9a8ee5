import { fileURLToPath } from 'node:url'
import { startWorkerCalls } from './worker-calls.ts'

/** What can be asked of a fake firewall that runs elsewhere. */
export type FirewallCall =
  | { act: 'place' }
  | { act: 'aim'; source: { url: string; key: string } }
  | { act: 'look' }
  | { act: 'fetchNow' }

/** What a firewall has: the addresses it lets in, how each fetch of its list ended, how often its API was called. */
export type FirewallLook = { enforced: string[]; fetches: number[]; calls: number }

/** A fake PAN-OS in a network namespace; its one list is fetched when it is told to, and at no other time. */
export async function aFirewall(place: (command: readonly string[]) => readonly string[]) {
  const file = fileURLToPath(new URL('./fake-panos-worker.ts', import.meta.url))
  const { ask, stop } = startWorkerCalls<FirewallCall>(file, place)
  const { hostname, edl } = await ask<{ hostname: string; edl: string }>({ act: 'place' })
  return {
    hostname,
    edl,
    /** Where its list is, and the key to it. */
    aim: (source: { url: string; key: string }) => ask<null>({ act: 'aim', source }),
    look: () => ask<FirewallLook>({ act: 'look' }),
    /** As an administrator of the firewall does it. */
    fetchNow: () => ask<null>({ act: 'fetchNow' }),
    stop,
  }
}

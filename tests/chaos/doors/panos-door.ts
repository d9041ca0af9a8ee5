import { fileURLToPath } from 'node:url'
import { panosKey } from '#tests/support/fake-panos.ts'
import { startWorkerCalls } from '#tests/support/worker-calls.ts'
import { type DoorKind, setsOf } from './door-kind.ts'
import { standingIn } from './ipset-door.ts'

/** The list on the firewall. */
export const edlName = 'storm'

/** How often it fetches by itself. A real one does each 5 minutes at most; a storm is shorter. */
const pollMs = 8_000

export type PanosCall =
  | { act: 'start'; set4: string; set6: string; everyMs: number }
  | { act: 'fetchFrom'; urls: string[]; key: string }
  | { act: 'goAway' | 'comeBack' }

/**
 * Passive+: a firewall that fetches a list when an agent tells it to, and at its own interval. What changes while
 * everything works is there within a second or two; what changed while something was broken, at the next interval at
 * the latest. It is on the servers' host, as is its agent.
 */
export const panosDoor: DoorKind = {
  share: 0,
  families: [4, 6],
  endsBy: 'reader',
  pollMs,
  canCut: false,
  backMs: pollMs,
  build: async (host, plan) => {
    const sets = setsOf(plan)
    await host.door(plan.port, sets)
    const worker = fileURLToPath(new URL('../panos-worker.ts', import.meta.url))
    const { ask, stop } = startWorkerCalls<PanosCall>(worker, host.place)
    const Hostname = await ask<string>({ act: 'start', ...sets, everyMs: pollMs })
    return {
      config: {
        backend: { allowlist: {} },
        acl: { allowlist: {} },
        child: {
          backend: { panos: { Hostname, ApiKey: panosKey, VSys: 'vsys1', Insecure: true } },
          acl: { panos: { EDLName: edlName } },
        },
      },
      agentFile: {},
      publish: (list) => ask<void>({ act: 'fetchFrom', ...list }),
      standing: () => standingIn(host, Object.values(sets)),
      boot: async () => undefined,
      // Nobody can tell it anything meanwhile; its own interval goes on.
      program: {
        kill: () => ask<void>({ act: 'goAway' }),
        start: () => ask<void>({ act: 'comeBack' }),
      },
      close: async () => stop(),
    }
  },
}

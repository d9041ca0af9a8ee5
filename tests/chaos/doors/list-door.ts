import { type DoorKind, setsOf } from './door-kind.ts'
import { standingIn } from './ipset-door.ts'

/** A passive list: a foreign firewall fetches it and keeps what it read last, past any end. See firewall.ts. */
export const listDoor: DoorKind = {
  share: 0,
  families: [4, 6],
  endsBy: 'reader',
  canCut: false,
  backMs: 0,
  build: async (host, plan) => {
    const sets = setsOf(plan)
    await host.door(plan.port, sets)
    return {
      config: { backend: { allowlist: {} }, acl: { allowlist: {} } },
      agentFile: {},
      standing: () => standingIn(host, Object.values(sets)),
      boot: async () => undefined,
      close: async () => undefined,
    }
  },
}

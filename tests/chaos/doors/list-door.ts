import { type DoorKind, setsOf } from './door-kind.ts'

/** A passive list: a foreign firewall fetches it and keeps what it read last, past any end. See firewall.ts. */
export const listDoor: DoorKind = {
  share: 0,
  families: [4],
  endsBy: 'reader',
  canCut: false,
  backMs: 0,
  build: async (host, plan) => {
    const { set4 } = setsOf(plan)
    await host.door(plan.port, { set4 })
    return {
      config: { backend: { allowlist: {} }, acl: { allowlist: {} } },
      agentFile: {},
      standing: () => host.entries(set4),
      boot: async () => undefined,
      close: async () => undefined,
    }
  },
}

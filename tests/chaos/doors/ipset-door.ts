import type { TestHost } from '#tests/support/host.ts'
import { bounds } from '../bounds.ts'
import { type BuiltDoor, type DoorKind, setsOf } from './door-kind.ts'

/** One set of IPv4 addresses, which the kernel empties by itself. */
export const ipsetDoor: DoorKind = {
  share: 0,
  families: [4],
  endsBy: 'kernel',
  canCut: true,
  backMs: bounds.driftMs + bounds.openMs,
  build: async (host, plan) => {
    const { set4 } = setsOf(plan)
    await host.door(plan.port, { set4 })
    return setDoor(host, { V4SetName: set4 })
  },
}

/** A set of each family: what one knoc opens for people who have both. */
export const ipset6Door: DoorKind = {
  ...ipsetDoor,
  share: 3,
  families: [4, 6],
  build: async (host, plan) => {
    const { set4, set6 } = setsOf(plan)
    await host.door(plan.port, { set4, set6 })
    return setDoor(host, { V4SetName: set4, V6SetName: set6 })
  },
}

function setDoor(host: TestHost, acl: Record<string, string>): BuiltDoor {
  const sets = Object.values(acl)
  const flush = async () => {
    for (const set of sets) await host.exec('ipset', 'flush', set)
  }
  return {
    config: { backend: { ipset: {} }, acl: { ipset: acl } },
    agentFile: {},
    standing: () => standingIn(host, sets),
    boot: flush,
    lose: flush,
    close: async () => undefined,
  }
}

/** Everything that stands in some sets. */
export async function standingIn(host: TestHost, sets: readonly string[]): Promise<Map<string, number>> {
  const lists = await Promise.all(sets.map((set) => host.entries(set)))
  return new Map(lists.flatMap((list) => [...list]))
}

import type { DriverError } from '../drivers/driver.ts'
import type { FlowForgetter } from './flows.ts'
import type { RulesCache } from './host-rules.ts'
import type { HostRules } from './read-rules.ts'
import { type CutWay, isStillLetIn, judgeDoor, weakestWay } from './rules/cut-way.ts'
import { type Door, sharePorts } from './rules/doors.ts'
import type { PortRange } from './rules/rule.ts'
import { allPorts, joinPorts, splitPorts } from './rules/split-ports.ts'
import type { SocketEnder } from './sockets.ts'

/** Addresses that have left a set, seen gone; `isShut` says no of who is let in again meanwhile. */
export type Departed = {
  set: string
  family: 4 | 6
  addresses: readonly string[]
  isShut: (address: string) => boolean
}

/** Some of the departed, and the ports they are shut out of. */
type Part = { addresses: readonly string[]; ports: readonly PortRange[] }

/** So many are forgotten within half a second or so. */
const fewAddresses = 16

/** Ends established flows on this host. */
export type Connections = {
  /**
   * Ends what these addresses still have through the doors of their set, by what works for each door. Null when
   * all was done that can be. Acts go on beside each other, their programs run in turn; nothing of it runs for entries
   * whose rules cut by themselves but `ss -K`, which a silent flow needs.
   */
  end: (departed: Departed) => Promise<DriverError | null>
  /** What ends flows when an address leaves a set; reads the rules. */
  ways: (sets: readonly { name: string; references: number }[]) => Promise<Map<string, CutWay>>
}

/** Builds it. */
export function createConnections(deps: {
  rules: RulesCache
  sockets: SocketEnder
  flows: FlowForgetter
  /** Which of these sets hold which of these addresses. */
  membersOf: (
    sets: readonly string[],
    addresses: readonly string[],
  ) => Promise<Map<string, ReadonlySet<string>>>
  /** Whether any rule or other set uses a set. */
  isReferenced: (set: string) => Promise<boolean>
  /** Sets the agent looks after. */
  managedSets: () => readonly string[]
}): Connections {
  const end = async (departed: Departed): Promise<DriverError | null> => {
    const { rules, isRecent } = await deps.rules.known()
    const error = await endBy(rules, departed)
    if (isRecent) return error
    const now = await deps.rules.fresh()
    return now.signature === rules.signature ? error : endBy(now, departed)
  }

  const endBy = async (rules: HostRules, departed: Departed): Promise<DriverError | null> => {
    const family = departed.family === 4 ? 'inet' : 'inet6'
    const all = rules.doors.filter(({ ruleset }) => ruleset.family === family)
    const doors = all.filter(({ set }) => set === departed.set)
    if (doors.length === 0) return endUnknown(departed)
    const errors: (DriverError | null)[] = []
    for (const door of doors) {
      for (const part of await stillShut(door, { departed, rules, others: all })) {
        errors.push(await endAtDoor(door, part, { departed, rules }))
      }
    }
    const error = errors.find((one) => one !== null) ?? null
    if (error !== null) deps.rules.forget()
    return error
  }

  /** Who is shut out of which of a door's ports: what another set opens to somebody he goes on using. */
  const stillShut = async (
    door: Door,
    { departed, rules, others }: { departed: Departed; rules: HostRules; others: readonly Door[] },
  ): Promise<Part[]> => {
    const near = others.filter(
      (other) => other.set !== door.set && other.hook === door.hook && sharePorts(other, door),
    )
    const { addresses } = departed
    const whole = [{ addresses, ports: door.ports ?? (await widestPorts(door)) }]
    const sets = [...new Set(near.map(({ set }) => set))]
    if (sets.length === 0) return whole
    const members = await deps.membersOf(sets, addresses)
    const pieces = splitPorts(
      whole.flatMap(({ ports }) => ports),
      near.flatMap(({ ports }) => ports ?? []),
    )
    const portsOf = (address: string): PortRange[] => {
      const isIn = (set: string) => members.get(set)?.has(address) ?? false
      if (!sets.some(isIn)) return joinPorts(pieces)
      return joinPorts(pieces.filter(([port]) => !isStillLetIn(door, port, rules.rulesets, isIn)))
    }
    const groups = Map.groupBy(addresses, (address) => JSON.stringify(portsOf(address)))
    return Array.from(groups, ([text, group]) => ({
      addresses: group,
      ports: JSON.parse(text) as PortRange[],
    }))
  }

  /** A door without ports: on this host those that are listened on, as flows it opened itself go from others. */
  const widestPorts = async ({ hook, protocol }: Door): Promise<readonly PortRange[]> =>
    hook === 'INPUT' && protocol === 'tcp' ? deps.sockets.listening() : allPorts

  /**
   * A socket that ends tells its peer, and the kernel counts that flow as established for ten seconds more: whoever
   * comes again from the same port would pass the rule for established connections. So the flow is forgotten first.
   * Of many that takes a while, so what they have ends at once, and what they opened in between ends after it.
   */
  const endAtDoor = async (
    door: Door,
    { addresses, ports }: Part,
    { departed, rules }: { departed: Departed; rules: HostRules },
  ): Promise<DriverError | null> => {
    if (ports.length === 0) return null
    const { way } = judgeDoor(door, rules)
    const { protocol, hook } = door
    const { family, isShut } = departed
    const forget = () => deps.flows.forget({ family, protocol, addresses, ports, isShut })
    const endSockets = () => deps.sockets.end(addresses, ports, isShut)
    if (way === 'conntrack') return forget()
    if (hook !== 'INPUT' || protocol !== 'tcp') return way === 'rules' ? null : nothingWorks(departed.set)
    if (way === 'rules' || (rules.hasConntrack && addresses.length > fewAddresses)) {
      const error = await endSockets()
      // Without ss the next packet is refused all the same.
      if (way === 'rules') return null
      if (error !== null) return error
    }
    const forgotten = rules.hasConntrack ? await forget() : null
    return (await endSockets()) ?? forgotten
  }

  /** No rule tells the ports: only somebody who has no other door here can be cut off without harm. */
  const endUnknown = async (departed: Departed): Promise<DriverError | null> => {
    if (!(await deps.isReferenced(departed.set))) return null
    const others = deps.managedSets().filter((name) => name !== departed.set)
    const members = await deps.membersOf(others, departed.addresses)
    const alone = departed.addresses.filter((address) =>
      others.every((set) => !members.get(set)?.has(address)),
    )
    if (alone.length === 0) return null
    return deps.sockets.end(alone, await deps.sockets.listening(), departed.isShut)
  }

  return {
    end,
    ways: async (sets) => {
      const rules = await deps.rules.fresh()
      const facts = Map.groupBy(
        rules.doors.map((door) => judgeDoor(door, rules)),
        ({ door }) => door.set,
      )
      return new Map(
        sets.map(({ name, references }) => {
          const known = weakestWay(facts.get(name) ?? [])
          const guess = references > 0 && rules.canEndSockets ? 'sockets' : 'none'
          return [name, known ?? guess] as const
        }),
      )
    },
  }
}

const nothingWorks = (set: string): DriverError => ({
  code: 'unknown',
  text: `no way to end flows through the doors of ${set}; knoc-agent doctor says which rule to add`,
})

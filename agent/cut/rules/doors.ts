import type { Chain, Condition, PortRange, Rule, Ruleset } from './rule.ts'
import { conditionKey, hookPaths } from './verdict.ts'

/** A place where the rules ask whether somebody is in a set. */
export type Door = {
  set: string
  /** INPUT: the service is on this host; FORWARD: this host is a router before it. */
  hook: 'INPUT' | 'FORWARD'
  protocol: 'tcp' | 'udp'
  /** The service's ports; null for all. */
  ports: readonly PortRange[] | null
  /** Whether members are let in by it, or everybody else is shut out. */
  kind: 'lets in' | 'shuts out'
  ruleset: Ruleset
  table: string
  rule: Rule
  /** What else its rules ask for, so that a packet for it is known to have that. */
  given: ReadonlySet<string>
}

/** All doors of all sets, in the order of the rules. Rules that use a set in other ways are left out. */
export function findDoors(rulesets: readonly Ruleset[]): Door[] {
  const doors = new Map<string, Door>()
  for (const door of rulesets.flatMap(doorsOfRuleset)) {
    const { set, hook, protocol, ports, kind, ruleset } = door
    const key = JSON.stringify([
      set,
      hook,
      protocol,
      ports,
      kind,
      ruleset.kind,
      ruleset.family,
      [...door.given],
    ])
    if (!doors.has(key)) doors.set(key, door)
  }
  return [...doors.values()]
}

function doorsOfRuleset(ruleset: Ruleset): Door[] {
  return (['INPUT', 'FORWARD'] as const).flatMap((hook) =>
    hookPaths[hook].flatMap((place) => {
      const [table = '', name = ''] = place.split(' ')
      const chains = ruleset.tables.get(table)
      const chain = chains?.get(name)
      // What stands before the routing is counted once, for the host itself.
      if (chains === undefined || chain === undefined) return []
      if (hook === 'FORWARD' && name === 'PREROUTING') return []
      return doorsOfChain(chains, chain, []).map((door) => ({ ...door, hook, ruleset, table }))
    }),
  )
}

type Path = readonly Condition[]

function doorsOfChain(
  chains: ReadonlyMap<string, Chain>,
  chain: Chain,
  path: Path,
  above: readonly string[] = [],
): Omit<Door, 'hook' | 'ruleset' | 'table'>[] {
  if (above.includes(chain.name)) return []
  return chain.rules.flatMap((rule) => {
    const conditions = [...path, ...rule.conditions]
    const own = rule.conditions.flatMap((condition) => toDoor(condition, { rule, conditions }))
    const next = rule.target === null ? undefined : chains.get(rule.target)
    const below = next === undefined ? [] : doorsOfChain(chains, next, conditions, [...above, chain.name])
    return [...own, ...below]
  })
}

function toDoor(
  condition: Condition,
  { rule, conditions }: { rule: Rule; conditions: Path },
): Omit<Door, 'hook' | 'ruleset' | 'table'>[] {
  if (condition.kind !== 'set' || condition.side !== 'src') return []
  if (rule.target === null || passingTargets.has(rule.target)) return []
  const protocol = conditions.findLast((one) => one.kind === 'protocol' && !one.not)
  const value = protocol?.kind === 'protocol' ? protocol.value : 'tcp'
  if (value !== 'tcp' && value !== 'udp') return []
  const isShut = rule.target === 'DROP' || rule.target === 'REJECT'
  return [
    {
      set: condition.name,
      protocol: value,
      ports: portsOf(conditions),
      kind: isShut && condition.not ? 'shuts out' : 'lets in',
      rule,
      given: new Set(conditions.filter(isGiven).map(conditionKey)),
    },
  ]
}

/** Targets after which the next rule is asked. */
const passingTargets = new Set([
  'LOG',
  'NFLOG',
  'MARK',
  'CONNMARK',
  'TRACE',
  'SET',
  'CONNSECMARK',
  'DSCP',
  'TOS',
])

/** What belongs to the way to a door, and isn't asked of each packet anew. */
const isGiven = ({ kind }: Condition): boolean => kind === 'interface' || kind === 'other'

function portsOf(conditions: Path): readonly PortRange[] | null {
  const nearest = conditions.findLast((one) => one.kind === 'ports' && one.side === 'destination' && !one.not)
  return nearest?.kind === 'ports' ? nearest.ranges : null
}

/** Whether two doors have a port in common. */
export function sharePorts(
  a: Pick<Door, 'ports' | 'protocol'>,
  b: Pick<Door, 'ports' | 'protocol'>,
): boolean {
  if (a.protocol !== b.protocol) return false
  const [these, those] = [a.ports, b.ports]
  if (these === null || those === null) return true
  return these.some(([from, to]) => those.some(([low, high]) => from <= high && low <= to))
}

/** `22`, `80:90`, or `any port`. */
export const portsText = (ports: readonly PortRange[] | null): string =>
  ports === null
    ? 'any port'
    : ports.map(([from, to]) => (from === to ? `${from}` : `${from}:${to}`)).join(',')

import type { Chain, Condition, Rule, Ruleset } from './rule.ts'

/** A packet between somebody outside and a service, as far as rules look at it. */
export type Packet = {
  protocol: string
  /** The service's port; null stands for any. */
  port: number | null
  /** False for what the service sends back. */
  toServer: boolean
  state: 'NEW' | 'ESTABLISHED' | 'INVALID'
  /** The first packet of a TCP connection. */
  isOpening: boolean
  /** Whether the one outside is in a set. */
  isIn: (set: string) => boolean
  /** Conditions that hold for this packet, by their text: those of the door it is meant for. */
  given: ReadonlySet<string>
}

/** What becomes of a packet. */
export type Verdict = {
  verdict: 'accept' | 'drop'
  /** The rule that said so; null where a chain's policy did, or nothing. */
  by: Rule | null
  /** The rule of the built-in chain through which it came to that. */
  through: Rule | null
  table: string
}

/** Tables and chains a packet passes, in the kernel's order. Those of `nat` see first packets only. */
export const hookPaths = {
  INPUT: ['raw PREROUTING', 'mangle PREROUTING', 'mangle INPUT', 'filter INPUT', 'security INPUT'],
  FORWARD: ['raw PREROUTING', 'mangle PREROUTING', 'mangle FORWARD', 'filter FORWARD', 'security FORWARD'],
  OUTPUT: ['raw OUTPUT', 'mangle OUTPUT', 'filter OUTPUT', 'security OUTPUT'],
} as const
export type Hook = keyof typeof hookPaths

/**
 * Carries a packet through all rulesets of its family: what one accepts the others still look at, what one drops is
 * gone. Where nobody can say whether a rule holds, the careful answer is taken: a drop that may not hold doesn't
 * count, an accept for established connections that may hold does.
 */
export function judge(rulesets: readonly Ruleset[], hook: Hook, packet: Packet): Verdict {
  let accepted: Verdict = { verdict: 'accept', by: null, through: null, table: 'filter' }
  for (const ruleset of rulesets) {
    for (const place of hookPaths[hook]) {
      const [table = '', name = ''] = place.split(' ')
      const chains = ruleset.tables.get(table)
      const chain = chains?.get(name)
      if (chains === undefined || chain === undefined) continue
      const found = walk(chains, chain, { packet, isSure: true, depth: 0 })
      const verdict = found?.verdict ?? (chain.policy === 'DROP' ? 'drop' : 'accept')
      const seen = { verdict, by: found?.by ?? null, through: found?.through ?? null, table }
      if (verdict === 'drop') return seen
      if (accepted.by === null || seen.by?.conditions.some(isState)) accepted = seen
    }
  }
  return accepted
}

type Step = { packet: Packet; isSure: boolean; depth: number }
type Found = { verdict: 'accept' | 'drop' | 'pass'; by: Rule; through: Rule }

/** Undefined when the chain's end is reached. */
function walk(
  chains: ReadonlyMap<string, Chain>,
  chain: Chain,
  step: Step,
): (Found & { verdict: 'accept' | 'drop' }) | undefined {
  const found = walkRules(chains, chain, step)
  return found === undefined || found.verdict === 'pass' ? undefined : { ...found, verdict: found.verdict }
}

function walkRules(chains: ReadonlyMap<string, Chain>, chain: Chain, step: Step): Found | undefined {
  for (const rule of chain.rules) {
    const holds = holdsAll(rule, step.packet)
    if (holds === false || rule.target === null) continue
    const isSure = step.isSure && holds === true
    const verdict = verdictOf(rule, isSure, step.packet)
    if (verdict !== undefined) return { verdict, by: rule, through: rule }
    const next = chains.get(rule.target)
    if (next === undefined || step.depth > 32) continue
    const found = walk(chains, next, { ...step, isSure, depth: step.depth + 1 })
    if (found !== undefined) return { ...found, through: rule }
    if (rule.isGoto && isSure) return { verdict: 'pass', by: rule, through: rule }
  }
  return undefined
}

function verdictOf(rule: Rule, isSure: boolean, { state }: Packet): Found['verdict'] | undefined {
  const isForEstablished = state === 'ESTABLISHED' && rule.conditions.some(isState)
  if (rule.target === 'ACCEPT') return isSure || isForEstablished ? 'accept' : undefined
  if (rule.target === 'DROP' || rule.target === 'REJECT') return isSure ? 'drop' : undefined
  if (rule.target === 'RETURN') return isSure ? 'pass' : undefined
  return undefined
}

const isState = ({ kind, not }: Condition): boolean => kind === 'state' && !not

/** Undefined where nobody can say. */
function holdsAll({ conditions }: Rule, packet: Packet): boolean | undefined {
  let isSure = true
  for (const condition of conditions) {
    const holds = holdsOne(condition, packet)
    if (holds === false) return false
    if (holds === undefined) isSure = false
  }
  return isSure ? true : undefined
}

function holdsOne(condition: Condition, packet: Packet): boolean | undefined {
  if (packet.given.has(conditionKey(condition))) return true
  const plain = holdsPlainly(condition, packet)
  // Without a connection there is no direction, asked for or excluded.
  if (condition.kind === 'direction' && packet.state === 'INVALID') return false
  return plain === undefined || !condition.not ? plain : !plain
}

function holdsPlainly(condition: Condition, packet: Packet): boolean | undefined {
  const ask = questions[condition.kind] as (asked: Condition, of: Packet) => boolean | undefined
  return ask(condition, packet)
}

type Questions = {
  [Kind in Condition['kind']]: (
    condition: Extract<Condition, { kind: Kind }>,
    packet: Packet,
  ) => boolean | undefined
}

const questions: Questions = {
  protocol: ({ value }, { protocol }) => value === protocol,
  ports: ({ side, ranges }, { toServer, port }) => {
    if ((side === 'destination') !== toServer || port === null) return undefined
    return ranges.some(([from, to]) => from <= port && port <= to)
  },
  set: ({ side, name }, { toServer, isIn }) => (side === (toServer ? 'src' : 'dst') ? isIn(name) : undefined),
  state: ({ values }, { state }) => values.includes(state),
  direction: ({ value }, { toServer }) => value === (toServer ? 'ORIGINAL' : 'REPLY'),
  opening: (_, { isOpening }) => isOpening,
  // Nobody outside comes over loopback.
  interface: ({ name }) => (name === 'lo' ? false : undefined),
  other: () => undefined,
}

/** How a condition is named among those that are given. */
export const conditionKey = ({ not, text }: Condition): string => `${not ? '! ' : ''}${text}`

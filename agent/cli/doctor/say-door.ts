import type { HostRules } from '../../cut/read-rules.ts'
import { acceptsFirst, type DoorFacts } from '../../cut/rules/cut-way.ts'
import { portsText, sharePorts } from '../../cut/rules/doors.ts'
import type { Rule } from '../../cut/rules/rule.ts'
import type { Finding } from './finding.ts'

/** Says of one door whether a revoke cuts, talking flows and silent ones, and which rule makes it so. */
export function sayDoor(facts: DoorFacts, rules: HostRules): Finding {
  const { door, way, opening } = facts
  const place = `set ${door.set}, ${door.hook} ${door.protocol} ${portsText(door.ports)}`
  const remedy = ruleToAdd(facts, rules)
  if (opening.verdict === 'accept')
    return { ok: false, text: `${place}: protects nothing: ${whyOpen(facts)}`, remedy }
  if (way === 'rules') return sayRules(place, facts, rules)
  const passes = whyPassing(facts, rules)
  if (way === 'none')
    return { ok: false, text: `${place}: a revoke doesn’t end established flows: ${passes}`, remedy }
  if (way === 'sockets' && !rules.hasConntrack) {
    const text = `${place}: a revoke ends flows by ss -K, but who comes again from the same port within 10 s gets in, as ${passes}`
    return {
      ok: false,
      text,
      remedy: `install conntrack (package conntrack), or by the rules alone: ${remedy}`,
    }
  }
  const means =
    way === 'sockets'
      ? 'a revoke ends talking and silent flows by ss -K'
      : `a revoke cuts at the next packet, by conntrack -D; a silent flow stays until then`
  return {
    ok: true,
    text: `${place}: ${means}, though ${passes}`,
    remedy: `surer, by the rules alone: ${remedy}`,
  }
}

function sayRules(place: string, facts: DoorFacts, rules: HostRules): Finding {
  const { door, passesInvalid } = facts
  const { rule } = door
  if (passesInvalid && rule.conditions.some(({ kind }) => kind === 'direction')) {
    const text = `${place}: its rule asks for a direction (--ctdir): packets of a flow that conntrack has forgotten have none and pass`
    return { ok: false, text, remedy: `take --ctdir out of: ${rule.text}` }
  }
  const isEnded = door.hook === 'INPUT' && door.protocol === 'tcp' && rules.canEndSockets
  const silent = isEnded ? 'ss -K ends it' : 'it stays until then'
  const text = `${place}: a revoke cuts at the next packet, by the rules; a silent flow: ${silent}`
  const isHanging = rule.target === 'DROP' && door.protocol === 'tcp' && door.kind === 'shuts out'
  const remedy =
    'with -j REJECT --reject-with tcp-reset instead of DROP both ends would be told, and not hang'
  return isHanging && !isEnded ? { ok: true, text, remedy } : { ok: true, text }
}

const whyOpen = ({ opening: { by } }: DoorFacts): string => {
  const name =
    by === null
      ? 'the policy is ACCEPT and no rule refuses others'
      : `others get in as well by ${ruleName(by)}`
  return `who isn’t in the set connects all the same; ${name}`
}

function whyPassing(facts: DoorFacts, rules: HostRules): string {
  const { door, established } = facts
  if (established.verdict === 'drop' && rules.hasFlowTable) {
    return 'a flow table of nft takes established flows past all rules'
  }
  const first = acceptsFirst(facts)
  if (first !== null) return `${ruleName(first)} accepts them before the set is asked: ${first.text}`
  const isNewOnly = door.rule.conditions.some(({ kind }) => kind === 'state')
  return isNewOnly ? `its rule looks at new connections only: ${door.rule.text}` : 'no rule refuses them'
}

const ruleName = ({ position, chain }: Rule): string => `rule ${position} of ${chain}`

/** The rule that refuses everybody who is in none of the sets of a port, at the place where it works. */
function ruleToAdd({ door, established }: DoorFacts, rules: HostRules): string {
  const { ruleset, hook, protocol, ports } = door
  const isBeside = ruleset.kind === 'legacy' && rules.rulesets.some(({ kind }) => kind === 'nft')
  const program = `${ruleset.family === 'inet' ? 'iptables' : 'ip6tables'}${isBeside ? '-legacy' : ''}`
  const same = rules.doors.filter(
    (other) =>
      other.kind === 'lets in' &&
      other.ruleset.family === ruleset.family &&
      other.hook === hook &&
      sharePorts(other, door),
  )
  const sets = [...new Set([door.set, ...same.map(({ set }) => set)])]
  const asks = sets.map((set) => `-m set ! --match-set ${set} src`).join(' ')
  const through =
    established.verdict === 'accept' && established.table === 'filter' ? established.through : null
  const target = protocol === 'tcp' ? '-j REJECT --reject-with tcp-reset' : '-j REJECT'
  const rule = `${program} -I ${hook} ${through?.position ?? 1} -p ${protocol} ${portWords(ports)} ${asks} ${target}`
  return through === null ? rule : `${rule}   (above: ${through.text})`
}

function portWords(ports: DoorFacts['door']['ports']): string {
  if (ports === null) return '--dport PORT'
  const text = portsText(ports)
  return text.includes(',') ? `-m multiport --dports ${text}` : `--dport ${text}`
}

import { judgeDoor } from '../../cut/rules/cut-way.ts'
import type { Finding } from './finding.ts'
import type { Host } from './host.ts'
import { sayDoor } from './say-door.ts'

/** Whether a revoke ends established flows, door by door, and what about the rules could mislead. */
export function checkConnections({ rules, managed, cutFaults }: Host): Finding[] {
  const doors = rules.doors.filter(({ set }) => managed.includes(set)).map((door) => judgeDoor(door, rules))
  return [
    ...sayRules({ rules, managed }),
    ...doors.map((facts) => sayDoor(facts, rules)),
    ...cutFaults.map(sayFault),
  ]
}

function sayRules({ rules, managed }: Pick<Host, 'rules' | 'managed'>): Finding[] {
  const findings: Finding[] = []
  if (managed.length === 0) return findings
  if (rules.unreadable !== null) {
    const remedy =
      'run it as root; the agent’s service needs AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW to read rules that name sets'
    findings.push({ ok: false, text: `not all rules can be read: ${rules.unreadable}`, remedy })
  }
  const kinds = new Set(rules.rulesets.filter(hasRules).map(({ kind }) => kind))
  if (kinds.size > 1) {
    const text =
      'rules stand in iptables (nf_tables) and in iptables-legacy: every packet has to pass both, and neither tool shows the other’s'
    findings.push({ ok: true, text, remedy: 'keep them in one place, so that one listing tells all' })
  }
  if (rules.ownNftTables.length > 0) {
    const names = rules.ownNftTables.join(', ')
    const text = `nft has tables of its own (${names}): what they accept still has to pass iptables’ rules, and they can’t ask for an ipset`
    findings.push({ ok: true, text })
  }
  return findings
}

const hasRules = ({ tables }: Host['rules']['rulesets'][number]): boolean =>
  [...tables.values()].some((chains) => [...chains.values()].some(({ rules }) => rules.length > 0))

const sayFault = ({ list, text }: Host['cutFaults'][number]): Finding => ({
  ok: false,
  text: `connections through ${list} could not be ended: ${text}`,
})

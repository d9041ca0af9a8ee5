import type { SetFacts } from '../../drivers/ipset-set.ts'
import type { Finding } from './finding.ts'
import type { Host } from './host.ts'

/** Whether ipset works, and whether every managed set is there, takes ends, and is used. */
export function checkSets({ sets, managed, rules }: Host): Finding[] {
  if (sets === null) return [{ ok: false, text: 'ipset is not installed', remedy: 'apt install ipset' }]
  if (!Array.isArray(sets)) {
    const remedy = 'run it as root, or give the agent’s service AmbientCapabilities=CAP_NET_ADMIN'
    return [{ ok: false, text: `ipset: ${sets.text}`, remedy }]
  }
  if (managed.length === 0) {
    return [
      { ok: true, text: 'ipset works; no set is managed yet (a set becomes managed with its first order)' },
    ]
  }
  const known = new Set(rules.doors.map(({ set }) => set))
  return managed.map((name) =>
    judgeSet(
      name,
      sets.find((set) => set.name === name),
      known.has(name),
    ),
  )
}

function judgeSet(name: string, set: SetFacts | undefined, isNamed: boolean): Finding {
  if (set === undefined) {
    const remedy = 'knoc-agent sets; then load the firewall’s rules again'
    return { ok: false, text: `set ${name} is missing`, remedy }
  }
  if (!set.timeouts) {
    const remedy = `make it again with timeouts: ipset create ${name} ${set.type} family ${set.family} timeout 0`
    return { ok: false, text: `set ${name} was made without timeouts`, remedy }
  }
  const program = set.family === 'inet' ? 'iptables' : 'ip6tables'
  const rule = `${program} -I INPUT 1 -p tcp --dport PORT -m set ! --match-set ${name} src -j REJECT --reject-with tcp-reset`
  if (set.references === 0) {
    return { ok: false, text: `set ${name} is used by no rule: it protects nothing`, remedy: rule }
  }
  const note = isNamed ? '' : ' (by another set, or by rules that can’t be judged)'
  return { ok: true, text: `set ${name}: ${set.family}, timeouts, ${set.references} references${note}` }
}

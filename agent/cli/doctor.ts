import { join } from 'node:path'
import { run } from '../command.ts'
import type { AgentConfig } from '../config.ts'
import { readSets, type SetFacts } from '../drivers/ipset-set.ts'
import { listScripts } from '../drivers/script.ts'
import { openManagedSets } from '../managed-sets.ts'
import { findProgram, type ProgramName } from '../programs.ts'
import type { ExitCode } from './command-line.ts'

/** One thing looked at: how it is, and what to do when it is not right. */
type Finding = { ok: boolean; text: string; remedy?: string }

/** Services that load rulesets; each must come after the sets are made. */
const rulesetUnits = ['netfilter-persistent.service', 'nftables.service', 'firewalld.service']

/** `knoc-agent doctor`: looks at this host and says what keeps doors from opening, or holds them open. */
export async function doctor(config: AgentConfig): Promise<ExitCode> {
  const findings = [...(await checkSets(config)), ...(await checkBoot()), checkScripts(config)]
  for (const { ok, text, remedy } of findings) {
    console.log(`${ok ? 'ok   ' : 'WRONG'} ${text}`)
    if (!ok && remedy !== undefined) console.log(`      → ${remedy}`)
  }
  return findings.every(({ ok }) => ok) ? 0 : 1
}

async function checkSets(config: AgentConfig): Promise<Finding[]> {
  const ipset = findProgram('ipset')
  if (ipset === undefined) return [{ ok: false, text: 'ipset is not installed', remedy: 'apt install ipset' }]
  const sets = await readSets(ipset)
  if (!Array.isArray(sets)) {
    const remedy = 'run it as root, or give the agent’s service AmbientCapabilities=CAP_NET_ADMIN'
    return [{ ok: false, text: `ipset: ${sets.text}`, remedy }]
  }
  const managed = openManagedSets(join(config.dataFolder, 'sets.json'), config.managedSets).all()
  const rulesets = await readRulesets()
  if (managed.length === 0) {
    return [
      { ok: true, text: 'ipset works; no set is managed yet (a set becomes managed with its first order)' },
    ]
  }
  return managed.map(({ name }) =>
    judgeSet(
      name,
      sets.find((set) => set.name === name),
      rulesets,
    ),
  )
}

function judgeSet(name: string, set: SetFacts | undefined, rulesets: string): Finding {
  if (set === undefined) {
    return {
      ok: false,
      text: `set ${name} is missing`,
      remedy: 'knoc-agent sets; then load the firewall’s rules again',
    }
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
  const isNamed = new RegExp(`--match-set ${name.replaceAll('.', '\\.')}\\b`).test(rulesets)
  const note = isNamed ? '' : ' (by another set, or in a namespace of its own)'
  return { ok: true, text: `set ${name}: ${set.family}, timeouts, ${set.references} references${note}` }
}

/** All rules, of legacy and of nft iptables alike: the two don't see each other. */
async function readRulesets(): Promise<string> {
  const texts: string[] = []
  const programs: [ProgramName, string[]][] = [
    ['iptables-save', []],
    ['ip6tables-save', []],
    ['iptables-legacy-save', []],
    ['ip6tables-legacy-save', []],
    ['nft', ['list', 'ruleset']],
  ]
  for (const [name, args] of programs) {
    const program = findProgram(name)
    if (program === undefined) continue
    const { stdout } = await run(program, args, { timeoutMs: 10_000, maxOutputBytes: 33_554_432 })
    texts.push(stdout)
  }
  return texts.join('\n')
}

/** Whether the sets are made before any ruleset is loaded at boot. */
async function checkBoot(): Promise<Finding[]> {
  const systemctl = findProgram('systemctl')
  const shown =
    systemctl &&
    (await run(systemctl, ['show', 'knoc-sets.service', '-p', 'UnitFileState,Before'], { timeoutMs: 10_000 }))
  if (!shown || !shown.ok) {
    return [{ ok: true, text: 'boot order not looked at: this host is not run by systemd' }]
  }
  const remedy = 'install deploy/agent/knoc-sets.service, then: systemctl enable knoc-sets.service'
  if (!/^UnitFileState=enabled/m.test(shown.stdout)) {
    return [
      {
        ok: false,
        text: 'knoc-sets.service is not enabled: after a reboot rules that name a set are refused',
        remedy,
      },
    ]
  }
  const before = /^Before=(.*)$/m.exec(shown.stdout)?.[1]?.split(' ') ?? []
  const late = rulesetUnits.filter((unit) => !before.includes(unit))
  if (late.length > 0)
    return [{ ok: false, text: `knoc-sets.service doesn’t come before ${late.join(', ')}`, remedy }]
  return [{ ok: true, text: 'knoc-sets.service comes before the firewall’s services' }]
}

function checkScripts(config: AgentConfig): Finding {
  if (config.scriptFolder === undefined) return { ok: true, text: 'scripts are off' }
  const scripts = listScripts(config.scriptFolder)
  if (scripts.length > 0) return { ok: true, text: `scripts: ${scripts.join(', ')}` }
  const remedy = `put executable files there that only their owner may change, and start the agent again`
  return { ok: false, text: `no usable script in ${config.scriptFolder}`, remedy }
}

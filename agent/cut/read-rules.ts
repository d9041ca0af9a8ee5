import { run } from '../command.ts'
import type { ProgramName } from '../programs.ts'
import type { CutMeans } from './rules/cut-way.ts'
import { type Door, findDoors } from './rules/doors.ts'
import { parseIptablesSave } from './rules/iptables-save.ts'
import { parseNftRuleset } from './rules/nft.ts'
import type { Ruleset } from './rules/rule.ts'

/** Where a system program is; undefined where it is not installed. */
export type FindProgram = (name: ProgramName) => string | undefined

/** What is known of this host's rules, and of what it has for ending flows. */
export type HostRules = CutMeans & {
  doors: Door[]
  /** Why some rules could not be read; null when all were. */
  unreadable: string | null
  /** Two readings with the same one say the same. */
  signature: string
  /** Tables of nft's own beside those of iptables. */
  ownNftTables: string[]
}

const limits = { timeoutMs: 10_000, maxOutputBytes: 33_554_432 } as const

/**
 * Reads all rules, of legacy and of nft iptables alike, as the two don't see each other. Takes some milliseconds, with
 * tens of thousands of rules some hundred. Needs CAP_NET_ADMIN and, as iptables itself does, CAP_NET_RAW.
 */
export async function readHostRules(deps: {
  find: FindProgram
  /** Whether `ss -K` was seen to work; null when nobody has tried yet. */
  canEndSockets: boolean | null
}): Promise<HostRules> {
  const [saves, nft, isLoose] = await Promise.all([
    Promise.all(savePrograms(deps.find).map(readSave)),
    readNft(deps.find('nft')),
    readIsLoose(deps.find('sysctl')),
  ])
  const rulesets = saves.flatMap(({ ruleset }) => ruleset ?? [])
  const faults = saves.flatMap(({ fault }) => fault ?? [])
  const hasFlowTable = nft?.hasFlowTable ?? false
  return {
    signature: JSON.stringify([rulesets.map(toText), faults, isLoose, hasFlowTable]),
    rulesets,
    doors: findDoors(rulesets),
    unreadable: faults[0] ?? (saves.length === 0 ? 'iptables is not installed' : null),
    canEndSockets: deps.find('ss') !== undefined && deps.canEndSockets !== false,
    hasConntrack: deps.find('conntrack') !== undefined,
    isLoose,
    hasFlowTable,
    ownNftTables: nft?.ownTables ?? [],
  }
}

/** Policies and rules, without the counters that change with every packet. */
const toText = ({ kind, family, tables }: Ruleset): string =>
  JSON.stringify([
    kind,
    family,
    Array.from(tables, ([table, chains]) => [
      table,
      Array.from(chains.values(), ({ name, policy, rules }) => [name, policy, rules.map(({ text }) => text)]),
    ]),
  ])

type Save = { path: string; family: Ruleset['family']; kind: Ruleset['kind'] | null }

/** The two kinds by name where the host has them, else the one it has: its output then says which it is. */
function savePrograms(find: FindProgram): Save[] {
  return (['inet', 'inet6'] as const).flatMap((family) => {
    const stem = family === 'inet' ? 'iptables' : 'ip6tables'
    const nft = find(`${stem}-nft-save`)
    const legacy = find(`${stem}-legacy-save`)
    const plain = nft === undefined ? find(`${stem}-save`) : undefined
    const found: Save[] = []
    if (nft !== undefined) found.push({ path: nft, family, kind: 'nft' })
    if (plain !== undefined) found.push({ path: plain, family, kind: null })
    if (legacy !== undefined) found.push({ path: legacy, family, kind: 'legacy' })
    return found
  })
}

async function readSave({ path, family, kind }: Save): Promise<{ ruleset?: Ruleset; fault?: string }> {
  const { ok, stdout, stderr } = await run(path, [], limits)
  if (ok) {
    const seen = kind ?? (stdout.includes('(nf_tables)') ? 'nft' : 'legacy')
    return { ruleset: parseIptablesSave(stdout, { family, kind: seen }) }
  }
  const said = stderr.trim().split('\n')[0] ?? ''
  const isRight = /permi|socket to ipset|must be root/i.test(said)
  return {
    fault: `${path}: ${said.slice(0, 200)}${isRight ? ' (CAP_NET_ADMIN and CAP_NET_RAW are needed)' : ''}`,
  }
}

async function readNft(path: string | undefined) {
  if (path === undefined) return null
  const { ok, stdout } = await run(path, ['-j', 'list', 'ruleset'], limits)
  return ok ? parseNftRuleset(stdout) : null
}

/** The kernel's default is to be loose. */
async function readIsLoose(sysctl: string | undefined): Promise<boolean> {
  if (sysctl === undefined) return true
  const { ok, stdout } = await run(sysctl, ['-n', 'net.netfilter.nf_conntrack_tcp_loose'], {
    timeoutMs: 5_000,
  })
  return !ok || stdout.trim() !== '0'
}

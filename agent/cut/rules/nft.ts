import { z } from 'zod'

/** What `nft -j list ruleset` says beyond the rules that iptables-save prints as well. */
export type NftFacts = {
  /** Tables of nft's own, which iptables-save does not show: `inet firewall`. */
  ownTables: string[]
  /** Some rule hands established flows to a flow table: they then pass by every later rule. */
  hasFlowTable: boolean
}

const rulesetSchema = z.object({ nftables: z.array(z.record(z.string(), z.unknown())) })
const tableSchema = z.object({ table: z.object({ family: z.string(), name: z.string() }) })
const ruleSchema = z.object({ rule: z.object({ expr: z.array(z.record(z.string(), z.unknown())) }) })

/** Tables that iptables makes in nf_tables. */
const iptablesTables = new Set(
  ['ip', 'ip6'].flatMap((family) =>
    ['filter', 'nat', 'mangle', 'raw', 'security'].map((name) => `${family} ${name}`),
  ),
)

/**
 * Reads the JSON of nft; null when it isn't that. Rules of nft can't ask for an ipset, and what they accept iptables'
 * rules still look at, so only what passes by all rules matters here.
 */
export function parseNftRuleset(text: string): NftFacts | null {
  const items = readItems(text)
  if (items === null) return null
  const tables = items.flatMap((item) => tableSchema.safeParse(item).data ?? [])
  const rules = items.flatMap((item) => ruleSchema.safeParse(item).data ?? [])
  return {
    ownTables: tables
      .map(({ table }) => `${table.family} ${table.name}`)
      .filter((name) => !iptablesTables.has(name)),
    hasFlowTable: rules.some(({ rule }) => rule.expr.some((expression) => 'flow' in expression)),
  }
}

function readItems(text: string): Record<string, unknown>[] | null {
  try {
    return rulesetSchema.parse(JSON.parse(text)).nftables
  } catch {
    return null
  }
}

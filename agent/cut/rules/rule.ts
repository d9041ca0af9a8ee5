/** Ports from and to, both included. */
export type PortRange = readonly [from: number, to: number]

/** One condition of a rule. `text` is how it was written, without its `!`. */
export type Condition = { text: string; not: boolean } & (
  | { kind: 'protocol'; value: string }
  | { kind: 'ports'; side: 'source' | 'destination'; ranges: readonly PortRange[] }
  | { kind: 'set'; name: string; side: 'src' | 'dst' | 'other' }
  | { kind: 'state'; values: readonly string[] }
  | { kind: 'direction'; value: string }
  /** Only the first packet of a TCP connection (`--syn`). */
  | { kind: 'opening' }
  | { kind: 'interface'; name: string }
  /** Anything else: nobody can say here whether it holds. */
  | { kind: 'other' }
)

export type Rule = {
  chain: string
  /** From 1, as `iptables -I CHAIN N` counts. */
  position: number
  conditions: readonly Condition[]
  /** The verdict or chain; null for a rule that only counts. */
  target: string | null
  isGoto: boolean
  text: string
}

export type Chain = { name: string; policy: 'ACCEPT' | 'DROP' | null; rules: Rule[] }

/** The rules of one family in one of the two places that don't see each other. */
export type Ruleset = {
  family: 'inet' | 'inet6'
  /** Whose they are: of iptables on nf_tables, or of the old iptables. */
  kind: 'nft' | 'legacy'
  /** Table → chain → rules. */
  tables: ReadonlyMap<string, ReadonlyMap<string, Chain>>
}

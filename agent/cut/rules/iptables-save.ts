import type { Chain, Condition, PortRange, Ruleset } from './rule.ts'

/** Reads what `iptables-save` and its kin print. Lines it doesn't know are left out; it never throws. */
export function parseIptablesSave(text: string, of: Pick<Ruleset, 'family' | 'kind'>): Ruleset {
  const tables = new Map<string, Map<string, Chain>>()
  let chains = new Map<string, Chain>()
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) {
      chains = new Map()
      tables.set(line.slice(1).trim(), chains)
    } else if (line.startsWith(':')) {
      const [name = '', policy] = line.slice(1).split(' ')
      chains.set(name, { name, policy: policy === 'ACCEPT' || policy === 'DROP' ? policy : null, rules: [] })
    } else if (line.startsWith('-A ')) takeRule(chains, line)
  }
  return { ...of, tables }
}

function takeRule(chains: Map<string, Chain>, line: string): void {
  const words = toWords(line)
  const chain = chains.get(words[1] ?? '')
  if (chain === undefined) return
  const at = words.findIndex((word) => word === '-j' || word === '-g')
  chain.rules.push({
    chain: chain.name,
    position: chain.rules.length + 1,
    conditions: toConditions(at < 0 ? words.slice(2) : words.slice(2, at)),
    target: at < 0 ? null : (words[at + 1] ?? null),
    isGoto: words[at] === '-g',
    text: line,
  })
}

/** What an option says of a packet; `null` for one that says nothing, such as a comment. */
type Reader = (value: string, more: string) => Reading | null
type Reading = OmitText<Condition>
type OmitText<Kind> = Kind extends Condition ? Omit<Kind, 'text' | 'not'> : never

const ports =
  (side: 'source' | 'destination'): Reader =>
  (value) => ({ kind: 'ports', side, ranges: value.split(',').map(toRange) })
const state: Reader = (value) => ({ kind: 'state', values: value.split(',') })

/** Options with one value; `--match-set` and `--tcp-flags` have two, see `twoValues`. */
const readers: Readonly<Record<string, Reader>> = {
  '-p': (value) => (value === 'all' ? null : { kind: 'protocol', value }),
  '-i': (name) => ({ kind: 'interface', name }),
  '-m': () => null,
  '--comment': () => null,
  '--dport': ports('destination'),
  '--dports': ports('destination'),
  '--sport': ports('source'),
  '--sports': ports('source'),
  '--ctstate': state,
  '--state': state,
  '--ctdir': (value) => ({ kind: 'direction', value }),
  '--match-set': (name, side) => ({
    kind: 'set',
    name,
    side: side === 'src' || side === 'dst' ? side : 'other',
  }),
  '--tcp-flags': (_mask, flags) => ({ kind: flags === 'SYN' ? 'opening' : 'other' }),
}
const twoValues = new Set(['--match-set', '--tcp-flags'])

function toConditions(words: readonly string[]): Condition[] {
  const conditions: Condition[] = []
  let not = false
  for (let index = 0; index < words.length; ) {
    const option = words[index] ?? ''
    if (option === '!') {
      not = true
      index += 1
      continue
    }
    const count = twoValues.has(option) ? 2 : countValues(words, index)
    const values = words.slice(index + 1, index + 1 + count)
    const read = readers[option]
    const reading = read === undefined ? { kind: 'other' as const } : read(values[0] ?? '', values[1] ?? '')
    if (reading !== null) conditions.push({ ...reading, text: [option, ...values].join(' '), not })
    not = false
    index += 1 + count
  }
  return conditions
}

/** An option's values reach to the next option. */
function countValues(words: readonly string[], at: number): number {
  const next = words.findIndex((word, index) => index > at && (word === '!' || /^--?[a-z]/.test(word)))
  return (next < 0 ? words.length : next) - at - 1
}

function toRange(text: string): PortRange {
  const [from = 0, to = from] = text.split(':').map(Number)
  return [from, to]
}

/** Words apart by blanks; quoted ones hold blanks, as comments do. */
function toWords(line: string): string[] {
  return Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? '')
}

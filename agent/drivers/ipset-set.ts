import { run } from '../command.ts'
import type { DriverError } from './driver.ts'

/** Names ipset takes and no shell, pipe or file would ever stumble over; 31 is the kernel's limit. */
const setNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,30}$/

/** Whether a text is fit to be the name of a set. */
export const isSetName = (text: unknown): text is string =>
  typeof text === 'string' && setNamePattern.test(text)

/** What is known of one set of the kernel. */
export type SetFacts = {
  name: string
  type: string
  family: 'inet' | 'inet6'
  timeouts: boolean
  /** Rules and sets that use it. */
  references: number
  entries: number
  /** What to give `ipset create` to make it again as it is. */
  options: string[]
}

/** Words of a set's header that make it what it is, and whether a value follows; the rest are the kernel's own. */
const keptOptions: Readonly<Record<string, boolean>> = {
  family: true,
  hashsize: true,
  maxelem: true,
  netmask: true,
  timeout: true,
  counters: false,
  comment: false,
  skbinfo: false,
  forceadd: false,
}

/** One set or, without a name, all of them, by `ipset list -t`. */
export async function readSets(ipset: string, name?: string): Promise<SetFacts[] | DriverError> {
  const args = name === undefined ? ['list', '-t'] : ['list', name, '-t']
  const result = await run(ipset, args, { timeoutMs: 5_000, maxOutputBytes: 4_194_304 })
  return result.ok ? parseSets(result.stdout) : toIpsetError(result)
}

/** Reads the plain output of `ipset list -t`, as of ipset 6 and 7. */
export function parseSets(text: string): SetFacts[] {
  return text
    .split(/\n(?=Name: )/)
    .map(parseSet)
    .filter((set) => set !== undefined)
}

/** Makes an empty set. Making one that is there already with the same properties succeeds. */
export async function createSet(
  ipset: string,
  set: { name: string; type: string; options: readonly string[] },
): Promise<DriverError | null> {
  const result = await run(ipset, ['create', set.name, set.type, ...set.options, '-exist'], {
    timeoutMs: 5_000,
  })
  return result.ok ? null : toIpsetError(result)
}

/** What ipset's own words mean. Matched on the parts that ipset 6 and 7 share. */
export function toIpsetError(said: { stderr: string; fault?: string | null }): DriverError {
  const text = said.stderr
    .trim()
    .replace(/^ipset v[\d.]+: /, '')
    .slice(0, 500)
  if (said.fault === 'timeout') return { code: 'timeout', text: 'ipset did not answer in time' }
  if (said.fault === 'start') return { code: 'programMissing', text: 'ipset could not be started' }
  const known = errorWords.find(([words]) => words.test(text))
  return { code: known?.[1] ?? 'unknown', text: text === '' ? 'ipset failed without a word' : text }
}

const errorWords: readonly (readonly [RegExp, DriverError['code']])[] = [
  [/set with the given name does not exist/i, 'setMissing'],
  [/is full/i, 'setFull'],
  [/without timeout support/i, 'noTimeouts'],
  [/not permitted|permission denied/i, 'permission'],
  [/same name already exists/i, 'setUnfit'],
]

function parseSet(block: string): SetFacts | undefined {
  const read = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(block)?.[1]?.trim()
  const [name, type, header] = [read('Name'), read('Type'), read('Header')]
  if (name === undefined || type === undefined || header === undefined) return undefined
  const options = keepOptions(header.split(' '))
  return {
    name,
    type,
    family: options.includes('inet6') ? 'inet6' : 'inet',
    timeouts: options.includes('timeout'),
    references: Number(read('References') ?? 0),
    entries: Number(read('Number of entries') ?? 0),
    options,
  }
}

function keepOptions(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const hasValue = keptOptions[word]
    if (hasValue === undefined) return []
    const value = words[index + 1]
    return hasValue && value !== undefined ? [word, value] : [word]
  })
}

import type { TargetDescription } from '#machines/protocol.ts'
import { parseAddress } from '../address.ts'
import { run } from '../command.ts'
import type { Connections } from '../cut/connections.ts'
import type { ManagedSets } from '../managed-sets.ts'
import { brokenDriver } from './broken.ts'
import {
  type Driver,
  type DriverError,
  failAll,
  type Health,
  isDriverError,
  type Listing,
  type Outcome,
} from './driver.ts'
import { type IpsetPipe, PipeFault } from './ipset-pipe.ts'
import { createSet, isSetName, readSets, type SetFacts, toIpsetError } from './ipset-set.ts'

/** What all sets of this host share. `ipset` is undefined where the program is not installed. */
export type IpsetDeps = {
  ipset: string | undefined
  pipe: IpsetPipe
  sets: ManagedSets
  connections: Pick<Connections, 'end'>
}

type Command = { address: string; text: string; lines: string[] }

/**
 * One ipset of the kernel, of one family, `hash:ip` or `hash:net`, made with `timeout`.
 *
 * Each change goes down the open pipe and is read back by `test` in the same breath. `add -exist` sets the end
 * that is given, longer or shorter: which end is right is decided before, in the journal.
 */
export function ipsetDriver(deps: IpsetDeps, target: TargetDescription): Driver {
  const { ipset } = deps
  const name = target.list['SetName']
  const family = target.family
  if (ipset === undefined) return brokenDriver({ code: 'programMissing', text: 'ipset is not installed' })
  if (!isSetName(name) || family === null) {
    return brokenDriver({ code: 'badTarget', text: 'the order names no usable set' })
  }
  let facts: SetFacts | undefined

  const ensure = async (): Promise<Health> => {
    let found = await readSets(ipset, name)
    if (isDriverError2(found) && found.code === 'setMissing') {
      const managed = deps.sets.find(name)
      if (managed === undefined) return found
      const failed = await createSet(ipset, managed)
      if (failed !== null) return failed
      found = await readSets(ipset, name)
    }
    if (isDriverError2(found)) return found
    facts = found[0]
    const health =
      facts === undefined ? { code: 'setMissing' as const, text: 'no such set' } : judge(facts, family)
    if (health === null && facts !== undefined) deps.sets.remember(facts)
    return health
  }

  const list = () => listSet(ipset, name)

  /** Gives the commands, once more if the pipe broke: all of them may be given twice. */
  const give = async (commands: Command[]): Promise<Map<string, string[]> | DriverError> => {
    for (const attempt of [1, 2]) {
      try {
        const answers = await deps.pipe.run(commands.map((command) => command.lines))
        return new Map(commands.map((command, index) => [command.address, answers[index] ?? []]))
      } catch (error) {
        if (!(error instanceof PipeFault)) throw error
        if (attempt === 2 || error.reason === 'timeout') {
          return { code: error.reason === 'timeout' ? 'timeout' : 'unknown', text: error.message }
        }
      }
    }
    throw new Error('unreachable: the second attempt answers')
  }

  const act = async (
    entries: readonly { address: string }[],
    toLines: (text: string, index: number) => string[],
    judgeAnswer: (command: Command, lines: string[]) => Outcome,
  ): Promise<Outcome[]> => {
    const refused: Outcome[] = []
    const commands: Command[] = []
    for (const [index, { address }] of entries.entries()) {
      const parsed = parseAddress(address)
      const wrong = refuse(parsed, family, facts)
      if (parsed === undefined || wrong !== null) {
        refused.push({ address, outcome: 'failed', error: wrong ?? badAddress })
      } else commands.push({ address, text: parsed.text, lines: toLines(parsed.text, index) })
    }
    if (commands.length === 0) return refused
    const answers = await give(commands)
    if (!(answers instanceof Map)) return [...refused, ...failAll(commands, answers)]
    return [
      ...refused,
      ...commands.map((command) => judgeAnswer(command, answers.get(command.address) ?? [])),
    ]
  }

  const openOnce: Driver['open'] = (entries) =>
    act(
      entries,
      (text, index) => [
        `add ${name} ${text} timeout ${entries[index]?.timeoutSeconds ?? 1} -exist`,
        `test ${name} ${text}`,
      ],
      ({ address }, lines) => {
        const errors = lines.filter((line) => !isTestAnswer(line))
        if (errors[0] !== undefined) {
          return { address, outcome: 'failed', error: toIpsetError({ stderr: errors[0] }) }
        }
        return lines.some(saysMember) ? verified(address) : { address, outcome: 'failed', error: notSeen }
      },
    )

  const close: Driver['close'] = async (entries) => {
    const outcomes = await act(
      entries,
      (text) => [`del ${name} ${text} -exist`, `test ${name} ${text}`],
      ({ address }, lines) => {
        if (lines.some(saysNoMember)) return verified(address)
        const error = toIpsetError({ stderr: lines.find((line) => !isTestAnswer(line)) ?? '' })
        // What is in no set is in nobody's way.
        if (error.code === 'setMissing') return verified(address)
        return { address, outcome: 'failed', error: lines.some(saysMember) ? stillThere : error }
      },
    )
    const doubtful = outcomes.filter((outcome) => outcome.error === stillThere)
    if (doubtful.length === 0) return outcomes
    // In a hash:net, `test` also says yes for an address inside a wider network: only the list tells.
    const standing = await list()
    if (isDriverError(standing)) return outcomes
    return outcomes.map((outcome) =>
      outcome.error === stillThere && !standing.has(parseAddress(outcome.address)?.text ?? '')
        ? verified(outcome.address)
        : outcome,
    )
  }

  const open: Driver['open'] = async (entries) => {
    if (facts === undefined) {
      const health = await ensure()
      if (health !== null) return failAll(entries, health)
    }
    const outcomes = await openOnce(entries)
    const missing = outcomes.filter((outcome) => outcome.error?.code === 'setMissing')
    if (missing.length === 0) return outcomes
    facts = undefined
    const health = await ensure()
    if (health !== null) return outcomes
    const again = new Set(missing.map(({ address }) => address))
    const retried = await openOnce(entries.filter(({ address }) => again.has(address)))
    return [...outcomes.filter(({ address }) => !again.has(address)), ...retried]
  }

  const cut: Driver['cut'] = async (entries, isShut = () => true) => {
    const named = new Map(entries.map(({ address }) => [parseAddress(address)?.text, address]))
    const addresses = [...named.keys()].filter((text) => text !== undefined)
    const isTextShut = (text: string) => isShut(named.get(text) ?? text)
    return deps.connections.end({ set: name, family, addresses, isShut: isTextShut })
  }

  return { batchSize: 500, open, close, list, ensure, empty: () => emptySet(ipset, name), cut }
}

const badAddress: DriverError = {
  code: 'badAddress',
  text: 'not an address or network in its plain form, or not of this set’s family',
}
const notSeen: DriverError = { code: 'notVerified', text: 'added, but not in the set afterwards' }
const stillThere: DriverError = { code: 'notVerified', text: 'deleted, but still in the set afterwards' }

const verified = (address: string): Outcome => ({ address, outcome: 'verified', error: null })
const saysMember = (line: string): boolean => / is in set /.test(line)
const saysNoMember = (line: string): boolean => / is NOT in set /.test(line)
const isTestAnswer = (line: string): boolean => saysMember(line) || saysNoMember(line)
const isDriverError2 = (answer: SetFacts[] | DriverError): answer is DriverError => !Array.isArray(answer)

function refuse(
  parsed: ReturnType<typeof parseAddress>,
  family: 4 | 6,
  facts: SetFacts | undefined,
): DriverError | null {
  if (parsed?.family !== family) return badAddress
  if (parsed.isNetwork && facts?.type === 'hash:ip') {
    return { code: 'setUnfit', text: 'the set holds single addresses; a network needs one of type hash:net' }
  }
  return null
}

/** Whether a set can hold addresses of this family, with their ends. */
function judge(facts: SetFacts, family: 4 | 6): Health {
  if (facts.type !== 'hash:ip' && facts.type !== 'hash:net') {
    return { code: 'setUnfit', text: `the set is of type ${facts.type}; hash:ip or hash:net is needed` }
  }
  if (facts.family !== (family === 4 ? 'inet' : 'inet6')) {
    return { code: 'setUnfit', text: `the set is of family ${facts.family}` }
  }
  if (!facts.timeouts) {
    return { code: 'noTimeouts', text: 'the set was made without timeout; make it again with `timeout 0`' }
  }
  return null
}

/** What stands in a set. */
async function listSet(ipset: string, name: string): Promise<Listing | DriverError> {
  const result = await run(ipset, ['save', name], { timeoutMs: 20_000, maxOutputBytes: 67_108_864 })
  return result.ok ? parseSave(result.stdout) : toIpsetError(result)
}

/** Deletes every entry with an end from a set; those without one are not the agent's. A missing set is empty. */
export async function emptySet(ipset: string, name: string): Promise<Health> {
  const standing = await listSet(ipset, name)
  if (isDriverError(standing)) return standing.code === 'setMissing' ? null : standing
  const ours = [...standing].filter(([, seconds]) => seconds > 0).map(([address]) => address)
  if (ours.length === 0) return null
  const input = ours.map((address) => `del ${name} ${address}\n`).join('')
  const result = await run(ipset, ['restore', '-exist'], { timeoutMs: 20_000, input })
  return result.ok ? null : toIpsetError(result)
}

/** `add NAME 10.0.0.1 timeout 9 …` lines of `ipset save`. */
export function parseSave(text: string): Map<string, number> {
  const standing = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [verb, , address, ...rest] = line.split(' ')
    if (verb !== 'add' || address === undefined) continue
    const at = rest.indexOf('timeout')
    standing.set(toCanonical(address), at < 0 ? 0 : Number(rest[at + 1]))
  }
  return standing
}

/** ipset prints addresses in canonical text, but for IPv4 inside IPv6; parsing each of 100,000 would cost too much. */
const toCanonical = (text: string): string =>
  text.includes(':') && text.includes('.') ? (parseAddress(text)?.text ?? text) : text

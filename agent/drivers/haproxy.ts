import type { TargetDescription } from '#machines/protocol.ts'
import { placeText, readPlace } from '#server/backends/definitions/haproxy.ts'
import { definitions } from '#server/backends/definitions/index.ts'
import { parseAddress } from '../address.ts'
import { brokenDriver } from './broken.ts'
import { type Closing, type Driver, type DriverError, failAll, type Outcome } from './driver.ts'
import { aclQuestions, faultError, readEntries, readMatch, toHaproxyError } from './haproxy-acl.ts'
import { cutSessions } from './haproxy-cut.ts'
import type { HaproxySockets } from './haproxy-socket.ts'

/** What all ACLs of this host share. `allowed` are the sockets that the agent's own configuration lets it use. */
export type HaproxyDeps = { sockets: HaproxySockets; allowed: readonly string[] }

/** Told an address that is in no ACL's list: asks what type an ACL is of. From the documentation's network. */
const probe = '192.0.2.1'

/**
 * One ACL of a HAProxy, by its number, over the runtime socket; both families in one list.
 *
 * HAProxy answers nothing to success, so each change is read back. It takes the same address twice and keeps no
 * ends: what stands is asked before anything is added, and the agent's clock closes. A restart or reload loses
 * every entry; whoever listens on `onReplaced` hears of it within a second.
 */
export function haproxyDriver(deps: HaproxyDeps, target: TargetDescription): Driver {
  const settings = readSettings(target, deps.allowed)
  if ('code' in settings) return brokenDriver(settings)
  const { aclId } = settings
  const socket = deps.sockets.at(settings.place)
  const questions = aclQuestions(aclId)

  /** All entries; an error also where the number is now that of an ACL for something else than addresses. */
  const readAll = async () => {
    const [type = [], entries = []] = await socket.ask([questions.match(probe), questions.list()])
    return readType(type) ?? readEntries(entries)
  }

  /** Which of these stand, each exactly: an address inside a wider network of the ACL does not. */
  const findStanding = async (names: readonly string[]): Promise<Set<string> | DriverError> => {
    const single = names.filter((name) => parseAddress(name)?.isNetwork === false)
    const answers = await socket.ask(single.map(questions.match))
    const standing = new Set<string>()
    let isDoubtful = single.length < names.length
    for (const [index, name] of single.entries()) {
      const failed = readType(answers[index] ?? [])
      if (failed !== null) return failed
      const match = readMatch(answers[index] ?? [])
      if (match.is !== 'match') continue
      if (match.name === name) standing.add(name)
      else isDoubtful = true
    }
    if (!isDoubtful) return standing
    const entries = await readAll()
    if ('code' in entries) return entries
    const listed = new Set(entries.map(({ name }) => name))
    return new Set(names.filter((name) => listed.has(name)))
  }

  const open = async (entries: readonly { address: string }[]): Promise<Outcome[]> => {
    socket.note(aclId)
    const [fit, refused] = sortOut(entries)
    const before = await findStanding([...fit.values()])
    if ('code' in before) return [...refused, ...failAll(entries.filter(isFit), before)]
    const missing = [...fit.values()].filter((name) => !before.has(name))
    const answers = await socket.ask(missing.map(questions.add))
    const said = new Map(missing.map((name, index) => [name, answers[index] ?? []]))
    const after = await findStanding(missing)
    if ('code' in after) return [...refused, ...failAll(entries.filter(isFit), after)]
    const opened = [...fit].map(([address, name]): Outcome => {
      if (before.has(name) || after.has(name)) return verified(address)
      const words = said.get(name) ?? []
      return { address, outcome: 'failed', error: words.length > 0 ? toHaproxyError(words) : notSeen }
    })
    return [...refused, ...opened]
  }

  const close = async (entries: readonly { address: string }[]): Promise<Outcome[]> => {
    const names = new Map(entries.map(({ address }) => [address, parseAddress(address)?.text ?? address]))
    const plain = [...names.values()].filter((name) => parseAddress(name) !== undefined)
    const answers = await socket.ask(plain.map(questions.remove))
    const standing = await findStanding([...names.values()])
    if ('code' in standing) {
      // What is in no list for addresses is in nobody's way.
      const isGone = standing.code === 'setMissing' || standing.code === 'setUnfit'
      return isGone ? entries.map(({ address }) => verified(address)) : failAll(entries, standing)
    }
    const left = standing.size === 0 ? standing : await removeOtherSpellings(standing)
    if ('code' in left) return failAll(entries, left)
    const refusal = answers.find(([line]) => line !== undefined && !line.startsWith('Key not found'))
    const error = refusal === undefined ? stillThere : toHaproxyError(refusal)
    return [...names].map(([address, name]) =>
      left.has(name) ? { address, outcome: 'failed', error } : verified(address),
    )
  }

  /** Takes entries away that mean these addresses in other words, such as `10.0.0.1/32`; answers what is left. */
  const removeOtherSpellings = async (names: ReadonlySet<string>): Promise<Set<string> | DriverError> => {
    const entries = await readAll()
    if ('code' in entries) return entries
    const ours = entries.filter(({ name }) => names.has(name))
    await socket.ask(ours.map(({ reference }) => questions.removeReference(reference)))
    return findStanding([...names])
  }

  const ensure = async (): Promise<DriverError | null> => {
    const [type = []] = await socket.ask([questions.match(probe)])
    return readType(type)
  }

  const cut = (entries: readonly Closing[], isShut: (address: string) => boolean = () => true) => {
    const aclIds = [...new Set([aclId, ...socket.lists()])]
    return socket.apart(async (serving) => {
      const shut = entries.filter(({ address }) => isShut(address))
      const addresses = shut.flatMap(({ address }) => parseAddress(address)?.text ?? [])
      return cutSessions(serving, { formers: socket.formers(), addresses, aclIds })
    })
  }

  return {
    batchSize: 500,
    keepsEnds: false,
    open: (entries) => open(entries).catch((fault: unknown) => failAll(entries, faultError(fault))),
    close: (entries) => close(entries).catch((fault: unknown) => failAll(entries, faultError(fault))),
    list: async () => {
      socket.note(aclId)
      const entries = await readAll().catch(faultError)
      return 'code' in entries ? entries : new Map(entries.map(({ name }) => [name, 0]))
    },
    ensure: () => ensure().catch(faultError),
    // No entry says whose it is: those in the journal are closed one by one, the others are not the agent's.
    empty: async () => null,
    cut: (entries, isShut) => cut(entries, isShut).catch(faultError),
    onReplaced: (listener) => socket.onReplaced(aclId, listener),
  }
}

const badAddress: DriverError = { code: 'badAddress', text: 'not an address or network in its plain form' }
const notSeen: DriverError = { code: 'notVerified', text: 'added, but not in the ACL afterwards' }
const stillThere: DriverError = { code: 'notVerified', text: 'deleted, but still in the ACL afterwards' }

const verified = (address: string): Outcome => ({ address, outcome: 'verified', error: null })
const isFit = ({ address }: { address: string }): boolean => parseAddress(address) !== undefined

/** Addresses by what they are called in the ACL, and the refusals of what is no address. */
function sortOut(entries: readonly { address: string }[]): [Map<string, string>, Outcome[]] {
  const fit = entries.flatMap(({ address }) => {
    const name = parseAddress(address)?.text
    return name === undefined ? [] : [[address, name] as const]
  })
  return [
    new Map(fit),
    failAll(
      entries.filter((entry) => !isFit(entry)),
      badAddress,
    ),
  ]
}

/** Why an ACL can't hold addresses; null when it can. */
function readType(lines: readonly string[]): DriverError | null {
  const match = readMatch(lines)
  if (match.is === 'error') return match.error
  return match.is === 'unfit'
    ? { code: 'setUnfit', text: 'the ACL of this number does not hold addresses (`src`)' }
    : null
}

type Settings = { place: Parameters<HaproxySockets['at']>[0]; aclId: number }

/** The server's own schemas read the settings; and the host says which sockets the agent may use. */
function readSettings(target: TargetDescription, allowed: readonly string[]): Settings | DriverError {
  const backend = definitions.haproxy.backend.safeParse(target.backend)
  const acl = definitions.haproxy.acl.safeParse(target.list)
  const place = backend.success ? readPlace(backend.data.Address) : undefined
  if (!backend.success || !acl.success || place === undefined) {
    return { code: 'badTarget', text: 'the order names no usable socket or ACL' }
  }
  // As this host writes it: that is what the agent has the right to open.
  const own = allowed.map(readPlace).find((one) => one !== undefined && placeText(one) === placeText(place))
  if (own === undefined) {
    return {
      code: 'permission',
      text: `the agent may use ${allowed.join(', ')} only; \`"haproxySocket"\` or \`"haproxyAddresses"\` in agent.json names others`,
    }
  }
  return { place: own, aclId: acl.data.ID }
}

import ipaddr from 'ipaddr.js'
import { parseAddress } from '../address.ts'
import type { DriverError } from './driver.ts'
import { aclQuestions, readMatch, toHaproxyError } from './haproxy-acl.ts'
import { type HaproxyConnection, HaproxyFault } from './haproxy-connection.ts'

/** A connection through HAProxy: its handle, and who it comes from. */
type Session = { handle: string; from: string; address: string }

/** Connections that one cut ends at most; a shared address with more keeps the rest until the next. */
const sessionsAtOnce = 10_000
/** HAProxy ends a connection a moment after it was told. */
const goneWithinMs = 500

/**
 * Ends the connections that come from these addresses, in the process that serves and in those that reloads have
 * left behind (`formers`), which keep the connections they had.
 *
 * HAProxy can't tell which frontends an ACL guards, so all of the address's connections go, but only when none of
 * the agent's ACLs on this HAProxy lets the address in any more; otherwise none do, and the answer says so. An HTTP
 * connection that waits between two requests is no session to HAProxy: its next request is checked anew where the
 * configuration checks requests (`http-request deny`).
 *
 * @throws HaproxyFault
 */
export async function cutSessions(
  serving: HaproxyConnection,
  parts: { formers: readonly HaproxyConnection[]; addresses: readonly string[]; aclIds: readonly number[] },
): Promise<DriverError | null> {
  const isClosed = createClosedTest(parts.addresses)
  const places = [
    { connection: serving, sessions: await listSessions(serving, isClosed) },
    ...(await Promise.all(
      parts.formers.map(async (connection) => ({
        connection,
        sessions: await ifThere(listSessions(connection, isClosed), []),
      })),
    )),
  ]
  const addresses = new Set(places.flatMap(({ sessions }) => sessions.map(({ address }) => address)))
  const kept = await findLetIn(serving, { addresses, aclIds: parts.aclIds })
  if ('code' in kept) return kept
  for (const { connection, sessions } of places) {
    const ending = sessions.filter(({ address }) => !kept.has(address))
    const error = await ifThere(endSessions(connection, { ending, isClosed }), null, connection === serving)
    if (error !== null) return error
  }
  return kept.size === 0 ? null : toKept(kept)
}

/** A process that a reload left behind ends when its last connection does; then nothing is left to end. */
const ifThere = <Value>(asked: Promise<Value>, ended: Value, isServing = false): Promise<Value> =>
  asked.catch((error: unknown) => {
    if (!isServing && error instanceof HaproxyFault && error.reason === 'gone') return ended
    throw error
  })

async function endSessions(
  connection: HaproxyConnection,
  { ending, isClosed }: { ending: readonly Session[]; isClosed: (address: string) => boolean },
): Promise<DriverError | null> {
  if (ending.length === 0) return null
  const answers = await connection.ask(ending.map(({ handle }) => ({ text: `shutdown session ${handle}` })))
  const refused = answers.find((lines) => lines.length > 0 && !lines[0]?.startsWith('No such session'))
  if (refused !== undefined) return toHaproxyError(refused)
  const left = await waitUntilGone(connection, { ending, isClosed })
  return left === 0
    ? null
    : { code: 'notVerified', text: `${left} connections were told to end and still stand` }
}

const toKept = (kept: ReadonlyMap<string, number>): DriverError => {
  const said = [...kept].slice(0, 5).map(([address, aclId]) => `${address} (ACL #${aclId})`)
  return {
    code: 'notVerified',
    text: `connections were left as they are, because another list of this HAProxy lets their address in: ${said.join(', ')}`,
  }
}

/** Reads `0x55…: proto=tcpv4 src=10.0.0.1:4711 fe=web …`, a line at a time: only what is to go is kept. */
async function listSessions(
  connection: HaproxyConnection,
  isClosed: (address: string) => boolean,
): Promise<Session[]> {
  const sessions: Session[] = []
  const keep = (line: string) => {
    const session = sessions.length < sessionsAtOnce ? readSession(line) : undefined
    if (session !== undefined && isClosed(session.address)) sessions.push(session)
    return false
  }
  await connection.ask([{ text: 'show sess', keep }])
  return sessions
}

/** A session with a client; the agent's own talk with HAProxy is none. */
export function readSession(line: string): Session | undefined {
  const [, handle, from, frontend] =
    /^(0x[0-9a-f]{1,16}): proto=\S+ src=(\S+:\d{1,5}) fe=(\S+)/.exec(line) ?? []
  if (handle === undefined || from === undefined || frontend === 'GLOBAL') return undefined
  const host = from.slice(0, from.lastIndexOf(':')).replace(/^\[|\]$/g, '')
  const address = ipaddr.isValid(host) ? parseAddress(ipaddr.process(host).toString())?.text : undefined
  return address === undefined ? undefined : { handle, from, address }
}

/** Whether an address is one of these, or inside one of these networks. */
function createClosedTest(closed: readonly string[]): (address: string) => boolean {
  const singles = new Set(closed)
  const networks = closed.filter((text) => text.includes('/')).map((text) => ipaddr.parseCIDR(text))
  return (text) => {
    if (singles.has(text)) return true
    if (networks.length === 0) return false
    const address = ipaddr.parse(text)
    return networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    )
  }
}

/** Addresses that an ACL still lets in, and which. */
async function findLetIn(
  connection: HaproxyConnection,
  { addresses, aclIds }: { addresses: ReadonlySet<string>; aclIds: readonly number[] },
): Promise<Map<string, number> | DriverError> {
  const asked = [...addresses].flatMap((address) => aclIds.map((aclId) => ({ address, aclId })))
  const answers = await connection.ask(asked.map(({ address, aclId }) => aclQuestions(aclId).match(address)))
  const letIn = new Map<string, number>()
  for (const [index, { address, aclId }] of asked.entries()) {
    const match = readMatch(answers[index] ?? [])
    if (match.is === 'match') letIn.set(address, aclId)
    else if (match.is === 'error' && match.error.code !== 'setMissing') return match.error
  }
  return letIn
}

async function waitUntilGone(
  connection: HaproxyConnection,
  { ending, isClosed }: { ending: readonly Session[]; isClosed: (address: string) => boolean },
): Promise<number> {
  // A handle is used again for other connections; with where it comes from it is the same one.
  const told = new Set(ending.map(({ handle, from }) => `${handle} ${from}`))
  for (let waitedMs = 0; ; waitedMs += 50) {
    const standing = await listSessions(connection, isClosed)
    const left = standing.filter(({ handle, from }) => told.has(`${handle} ${from}`)).length
    if (left === 0 || waitedMs >= goneWithinMs) return left
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

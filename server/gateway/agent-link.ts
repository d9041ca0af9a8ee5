import type { Kysely } from 'kysely'
import {
  type AgentFrame,
  agentFrameSchema,
  closeCodes,
  linkLimits,
  type OrderResult,
  protocolVersions,
  type ServerFrame,
} from '#machines/protocol.ts'
import type { EventHub } from '../events/event-hub.ts'
import type { DeliveryMetrics } from '../metrics/metrics.ts'
import type { DB } from '../platform/database.types.ts'
import type { Log } from '../platform/log.ts'
import { takeAnswer } from '../refreshes/refresh.service.ts'
import { createLane } from './lane.ts'
import { dropLink, renewEpoch, saveCapabilities, takeLink } from './link.store.ts'
import { createLinkListings } from './link-listings.ts'
import { createOrderSender } from './link-orders.ts'
import { createRefreshSender } from './link-refreshes.ts'
import { createResync } from './link-resync.ts'
import { saveDrift, saveTargetReports } from './report.store.ts'
import { applyResults } from './result.store.ts'

/** The socket as a link needs it. */
export type LinkSocket = {
  send(text: string): void
  close(code: number, reason: string): void
  terminate(): void
  readonly bufferedAmount: number
}

/** What links are made with. */
export type LinkDeps = {
  db: Kysely<DB>
  events: Pick<EventHub, 'publish'>
  log: Log
  metrics: DeliveryMetrics
  replica: string
  serverVersion: string
  /** The database's clock, in milliseconds: ends are its instants, and agents measure their offset to it. */
  now: () => number
  /** Null when an agent of this version may open; else the version it needs: below it, it may only close. */
  neededVersion: (version: string) => string | null
  /** At most so many resyncs run at once on a replica (decision 29). */
  limitResync: <Result>(task: () => Promise<Result>) => Promise<Result>
}

/** What the last good look at the database said of a link. */
export type LinkLook = {
  atMs: number
  linkEpoch: number
  deleted: boolean
  /** The link's own epoch when the look began: a look that is older than the link says nothing about it. */
  askedEpoch: number
}

type Hello = Extract<AgentFrame, { type: 'hello' }>

/** A link that says no hello is closed after this time. */
const helloMs = 5_000

/** The reason given to a link that another one of the same agent took over. */
export const superseded = 'superseded'

export type AgentLink = ReturnType<typeof createAgentLink>

/**
 * One agent's link on the replica that holds it, and the only writer of its socket.
 *
 * Everything that reads state and sends it runs in one lane, so no order overtakes the state it builds on
 * (decision 7). Results are written in a lane of their own. Whatever this process forgets when it dies is in the
 * table, and the next link starts from there.
 */
export function createAgentLink(
  deps: LinkDeps,
  { agentId, externalIp, socket }: { agentId: string; externalIp: string; socket: LinkSocket },
) {
  const log = deps.log.child({ agentId })
  const outLane = createLane(fail)
  const inLane = createLane(fail)
  const helloTimer = setTimeout(() => end(closeCodes.badFrame, 'no hello'), helloMs)

  let phase: 'new' | 'linked' | 'closed' = 'new'
  let linkEpoch = 0
  /** The version both ends speak; known with the hello. */
  let protocol = 0
  let neededVersion: string | null = null
  let truthAtMs = 0
  let heardAt = performance.now()
  let lastBatch = 0
  let wasAskedToMove = false
  let wasSuperseded = false

  const way = {
    db: deps.db,
    log,
    now: deps.now,
    send,
    inOrder: outLane,
    isLinked: () => phase === 'linked',
    nextBatch: () => (lastBatch += 1),
  }
  const states = createResync(way)
  const listings = createLinkListings(way)
  const orders = createOrderSender({
    ...way,
    agentId,
    mayTakeMore,
    neededVersion: () => neededVersion,
    takeResults,
  })
  const refreshes = createRefreshSender({
    ...way,
    agentId,
    maySend: mayTakeMore,
    canRefresh: () => protocol >= 3,
    describe: describeTargets,
    keepAnswer: async (asked, answer) =>
      deps.events.publish(await takeAnswer(deps.db, { agentId, linkEpoch }, asked, answer)),
  })

  function receive(text: string): void {
    heardAt = performance.now()
    if (phase === 'closed') return
    const frame = parseFrame(text)
    if (frame === undefined || (frame.type === 'hello') !== (phase === 'new'))
      return end(closeCodes.badFrame, 'a frame that does not fit the protocol')
    if (frame.type !== 'hello') return take(frame)
    phase = 'linked'
    clearTimeout(helloTimer)
    const greeted = outLane(() => greet(frame))
    void inLane(() => greeted)
  }

  function take(frame: Exclude<AgentFrame, Hello>): void {
    switch (frame.type) {
      case 'heartbeat':
        return
      case 'journalled':
        return orders.journalled(frame.batch)
      case 'digest':
        return states.answer(frame)
      case 'listing':
        return listings.take(frame) ? undefined : end(closeCodes.badFrame, 'a list that nobody asked for')
      case 'results':
        return void inLane(() => takeResults(frame.results))
      case 'capabilities':
        return void inLane(() => saveCapabilities(deps.db, { agentId, linkEpoch }, frame.capabilities))
      case 'drift':
        deps.metrics.drifted(frame.drifts)
        return void inLane(() => saveDrift(deps.db, agentId, frame.drifts))
      case 'targetReports':
        return void inLane(() => saveTargetReports(deps.db, agentId, frame.reports))
      case 'refreshed':
        return void inLane(() => refreshes.take(frame))
    }
  }

  /** Takes the link over, says welcome, hands over what waits, then compares everything else. */
  async function greet(hello: Hello): Promise<void> {
    protocol = Math.min(hello.protocol.max, protocolVersions.max)
    if (protocol < Math.max(hello.protocol.min, protocolVersions.min))
      return end(closeCodes.unsupportedProtocol, 'no protocol version in common')
    const taken = await takeLink(deps.db, {
      agentId,
      replica: deps.replica,
      version: hello.version,
      externalIp,
      capabilities: hello.capabilities,
    })
    if (taken === undefined) return end(closeCodes.unknownAgent, 'unknown agent')
    linkEpoch = taken.linkEpoch
    truthAtMs = taken.nowMs
    neededVersion = deps.neededVersion(hello.version)
    const epoch = await epochFor(hello, taken)
    const targets = await orders.readTargets()
    send({
      type: 'welcome',
      protocol,
      serverVersion: deps.serverVersion,
      epoch,
      linkEpoch,
      nowMs: taken.nowMs,
      truthAtMs,
      mayOpen: neededVersion === null,
      targets,
    })
    log.info({ version: hello.version, linkEpoch }, 'agent linked')
    pump()
    pumpRefreshes()
    void resync({ everything: hello.epoch !== epoch }).catch(fail)
  }

  async function epochFor(hello: Hello, taken: { epoch: string; lastGeneration: number }): Promise<string> {
    const wentBack = hello.epoch === taken.epoch && hello.highestGeneration > taken.lastGeneration
    if (!wentBack) return taken.epoch
    log.error({ generation: hello.highestGeneration }, 'the database went back in time: a new epoch')
    return renewEpoch(deps.db, { epoch: taken.epoch, generation: hello.highestGeneration })
  }

  async function takeResults(results: readonly OrderResult[]): Promise<void> {
    orders.settled(results)
    const { sessionIds, settled } = await applyResults(deps.db, { agentId, linkEpoch }, results)
    for (const { act, seconds } of settled) deps.metrics.settled(act, seconds)
    deps.events.publish(sessionIds)
  }

  /** Compares all targets, one after the other: the minute's check. */
  async function compareAll(): Promise<void> {
    if (phase !== 'linked' || linkEpoch === 0) return
    await resync({ everything: false })
  }

  /** Asks what stands on a list; an agent knows only those it was told of with its welcome or with an order. */
  async function askListing(...[targetId, how]: Parameters<typeof listings.ask>) {
    await outLane(() => describeTargets([targetId]))
    return listings.ask(targetId, how)
  }

  /** Tells the agent of lists that it was not told of yet. In the lane of everything that is sent. */
  async function describeTargets(ids: readonly string[]): Promise<void> {
    const known = orders.targetIds()
    if (!ids.every((id) => known.includes(id))) send({ type: 'targets', targets: await orders.readTargets() })
  }

  const resync = (how: { everything: boolean }): Promise<void> =>
    deps.limitResync(() => states.resync(orders.targetIds(), how))

  function mayTakeMore(): boolean {
    return phase === 'linked' && linkEpoch > 0 && socket.bufferedAmount < linkLimits.bufferedBytes
  }

  function pump(): void {
    if (phase === 'linked') orders.pump()
  }

  function pumpRefreshes(): void {
    if (phase === 'linked') refreshes.pump()
  }

  /** The heartbeat of this side; `look` is the last good one at the database, if there was one. */
  function beat(look: LinkLook | null): void {
    if (phase === 'closed') return
    if (performance.now() - heardAt > linkLimits.deadAfterMs) return cut()
    if (linkEpoch === 0) return
    const truth = look?.askedEpoch === linkEpoch ? look : null
    if (truth?.deleted === true) return end(closeCodes.unknownAgent, 'deleted')
    if (truth !== null && truth.linkEpoch !== linkEpoch) return end(closeCodes.superseded, superseded)
    truthAtMs = truth?.atMs ?? truthAtMs
    send({ type: 'heartbeat', nowMs: deps.now(), truthAtMs })
  }

  /** Gone without a word: half-open sockets don't answer a close. */
  function cut(): void {
    log.warn('the agent is silent; its link is cut')
    socket.terminate()
    closed()
  }

  function send(frame: ServerFrame): void {
    if (phase === 'linked') socket.send(JSON.stringify(frame))
  }

  function fail(error: unknown): void {
    log.warn({ err: error }, 'the link failed and will be made anew')
    end(1011, 'internal')
  }

  function end(code: number, reason: string): void {
    if (phase === 'closed') return
    wasSuperseded = reason === superseded && linkEpoch > 0 && !wasAskedToMove
    socket.close(code, reason)
    closed()
  }

  /** To be called when the socket closed, whoever closed it; safe to call again. */
  function closed(): void {
    if (phase === 'closed') return
    phase = 'closed'
    clearTimeout(helloTimer)
    states.close()
    listings.close()
    refreshes.close()
    if (linkEpoch > 0)
      dropLink(deps.db, agentId, linkEpoch).catch((error: unknown) =>
        log.warn({ err: error }, 'could not note that the agent is gone'),
      )
  }

  return {
    agentId,
    receive,
    nudge: pump,
    /** Something changed on a list that a device of this agent fetches. */
    nudgeRefresh: pumpRefreshes,
    beat,
    compareAll,
    canList: () => protocol >= 2,
    askListing,
    closed,
    end,
    move: (afterMs: number) => {
      wasAskedToMove = true
      send({ type: 'move', afterMs })
    },
    /** Another link took over, and this one's agent has answered the close by `code`: it lives as well. */
    hasLivingRival: (code: number): boolean => wasSuperseded && code === closeCodes.superseded,
    /** Whether the agent was heard lately, so that the link is not half open. */
    isHeard: () => phase === 'linked' && performance.now() - heardAt < linkLimits.heartbeatMs * 1.5,
    /** The link epoch it holds; 0 before it took over. */
    epoch: () => linkEpoch,
    isClosed: () => phase === 'closed',
  }
}

function parseFrame(text: string): AgentFrame | undefined {
  try {
    return agentFrameSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

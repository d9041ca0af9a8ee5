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
import type { DB } from '../platform/database.types.ts'
import type { Log } from '../platform/log.ts'
import { createDigestBook, differingBuckets } from './digest.ts'
import { createLane } from './lane.ts'
import { dropLink, renewEpoch, saveCapabilities, takeLink } from './link.store.ts'
import { listOrders, listTargets, type PendingOrder, readBuckets, readDigest } from './order.query.ts'
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

/** Buckets whose truth is read and sent in one batch. */
const bucketsABatch = 16
const entriesAPiece = 1_000
/** A link that says no hello is closed after this time. */
const helloMs = 5_000

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
  const digests = createDigestBook()
  const helloTimer = setTimeout(() => end(closeCodes.badFrame, 'no hello'), helloMs)

  let phase: 'new' | 'linked' | 'closed' = 'new'
  let linkEpoch = 0
  let neededVersion: string | null = null
  let truthAtMs = 0
  let heardAt = performance.now()
  let lastBatch = 0
  let pumping = false
  /** Sending stopped before the table was empty: the link was full. */
  let isHeldBack = false
  let targetIds = new Set<string>()
  /** Batches whose journalling the agent has not confirmed. */
  const inFlight = new Set<number>()
  /** Orders sent on this link without a result: entry id → generation, and entry key → entry id. */
  const sent = new Map<string, number>()
  const sentIds = new Map<string, string>()

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
        inFlight.delete(frame.batch)
        return isHeldBack ? pump() : undefined
      case 'digest':
        return digests.answer(frame)
      case 'results':
        return void inLane(() => takeResults(frame.results))
      case 'capabilities':
        return void inLane(() => saveCapabilities(deps.db, agentId, frame.capabilities))
      case 'drift':
        return void inLane(() => saveDrift(deps.db, agentId, frame.drifts))
      case 'targetReports':
        return void inLane(() => saveTargetReports(deps.db, agentId, frame.reports))
    }
  }

  /** Takes the link over, says welcome, hands over what waits, then compares everything else. */
  async function greet(hello: Hello): Promise<void> {
    const protocol = Math.min(hello.protocol.max, protocolVersions.max)
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
    const targets = await listTargets(deps.db, agentId)
    targetIds = new Set(targets.map((target) => target.id))
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
    void deps.limitResync(() => resync(hello.epoch !== epoch)).catch(fail)
  }

  async function epochFor(hello: Hello, taken: { epoch: string; lastGeneration: number }): Promise<string> {
    const wentBack = hello.epoch === taken.epoch && hello.highestGeneration > taken.lastGeneration
    if (!wentBack) return taken.epoch
    log.error({ generation: hello.highestGeneration }, 'the database went back in time: a new epoch')
    return renewEpoch(deps.db, { epoch: taken.epoch, generation: hello.highestGeneration })
  }

  /** Orders are waiting: send them, unless that is already being done. */
  function pump(): void {
    if (pumping || phase !== 'linked') return
    pumping = true
    void outLane(async () => {
      pumping = false
      isHeldBack = false
      while (mayTakeMore()) if (!(await sendNextOrders())) return
      isHeldBack = true
    })
  }

  const mayTakeMore = (): boolean =>
    phase === 'linked' &&
    linkEpoch > 0 &&
    inFlight.size < linkLimits.batchesInFlight &&
    socket.bufferedAmount < linkLimits.bufferedBytes

  /** Sends one batch; whether it was a full one, so that there may be more. */
  async function sendNextOrders(): Promise<boolean> {
    const pending = await listOrders(deps.db, agentId, sent)
    if (pending.length === 0) return false
    if (pending.some(({ order }) => !targetIds.has(order.targetId))) await sendTargets()
    const mayGo = pending.filter(({ order }) => neededVersion === null || order.desired === 'closed')
    if (mayGo.length < pending.length)
      await refuseOpens(pending.filter(({ order }) => order.desired === 'open'))
    const isFull = pending.length >= linkLimits.batchOrders
    if (mayGo.length === 0) return isFull
    lastBatch += 1
    inFlight.add(lastBatch)
    for (const { entryId, order } of mayGo) {
      sent.set(entryId, order.generation)
      sentIds.set(`${order.targetId}|${order.address}`, entryId)
    }
    send({
      type: 'orders',
      batch: lastBatch,
      nowMs: deps.now(),
      orders: mayGo.map(({ order }) => order),
    })
    return isFull
  }

  async function sendTargets(): Promise<void> {
    const targets = await listTargets(deps.db, agentId)
    targetIds = new Set(targets.map((target) => target.id))
    send({ type: 'targets', targets })
  }

  /** An agent below the minimum may only close; its opens fail and say which version it needs. */
  async function refuseOpens(pending: readonly PendingOrder[]): Promise<void> {
    await takeResults(
      pending.map(({ order }) => ({
        targetId: order.targetId,
        address: order.address,
        generation: order.generation,
        outcome: 'failed' as const,
        atMs: deps.now(),
        error: { code: 'agentIncompatible', text: `The agent needs version ${neededVersion} to open.` },
      })),
    )
  }

  async function takeResults(results: readonly OrderResult[]): Promise<void> {
    for (const { targetId, address, generation } of results) {
      const entryId = sentIds.get(`${targetId}|${address}`)
      if (entryId === undefined || (sent.get(entryId) ?? 0) > generation) continue
      sent.delete(entryId)
      sentIds.delete(`${targetId}|${address}`)
    }
    deps.events.publish(await applyResults(deps.db, { agentId, linkEpoch }, results))
  }

  async function resync(everything: boolean): Promise<void> {
    for (const id of [...targetIds]) {
      if (phase !== 'linked') return
      if (everything) await sendBuckets(id, allBuckets)
      else await compare(id)
    }
  }

  /** Compares one target's digests with the agent's and sends the truth of the buckets that differ. */
  async function compare(targetId: string): Promise<void> {
    const before = await readDigest(deps.db, targetId)
    const { request, answer } = digests.request()
    send({ type: 'digestRequest', request, targetId })
    const agents = await answer
    if (agents === null || phase !== 'linked') return
    const differing = differingBuckets(before, agents, await readDigest(deps.db, targetId))
    if (differing.length === 0) return
    log.warn({ targetId, buckets: differing.length }, 'the agent differs from the database and is corrected')
    await sendBuckets(targetId, differing)
  }

  /** Holds orders back while it reads: it runs in the lane that sends them. */
  function sendBuckets(targetId: string, buckets: readonly number[]): Promise<void> {
    return outLane(async () => {
      for (let from = 0; from < buckets.length; from += bucketsABatch) {
        const part = buckets.slice(from, from + bucketsABatch)
        const { entries, asOfGeneration } = await readBuckets(deps.db, targetId, part)
        lastBatch += 1
        for (let at = 0; at === 0 || at < entries.length; at += entriesAPiece)
          send({
            type: 'buckets',
            batch: lastBatch,
            nowMs: deps.now(),
            targetId,
            buckets: part,
            asOfGeneration,
            entries: entries.slice(at, at + entriesAPiece),
            last: at + entriesAPiece >= entries.length,
          })
      }
    })
  }

  /** Compares all targets, one after the other: the minute's check. */
  async function compareAll(): Promise<void> {
    if (phase !== 'linked' || linkEpoch === 0) return
    await deps.limitResync(() => resync(false))
  }

  /** The heartbeat of this side; `look` is the last good one at the database, if there was one. */
  function beat(look: LinkLook | null): void {
    if (phase === 'closed') return
    if (performance.now() - heardAt > linkLimits.deadAfterMs) return cut()
    if (linkEpoch === 0) return
    const truth = look?.askedEpoch === linkEpoch ? look : null
    if (truth?.deleted === true) return end(closeCodes.unknownAgent, 'deleted')
    if (truth !== null && truth.linkEpoch !== linkEpoch) return end(closeCodes.superseded, 'superseded')
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
    socket.close(code, reason)
    closed()
  }

  /** To be called when the socket closed, whoever closed it; safe to call again. */
  function closed(): void {
    if (phase === 'closed') return
    phase = 'closed'
    clearTimeout(helloTimer)
    digests.close()
    if (linkEpoch > 0)
      dropLink(deps.db, agentId, linkEpoch).catch((error: unknown) =>
        log.warn({ err: error }, 'could not note that the agent is gone'),
      )
  }

  return {
    agentId,
    receive,
    nudge: pump,
    beat,
    compareAll,
    closed,
    end,
    move: (afterMs: number) => send({ type: 'move', afterMs }),
    /** The link epoch it holds; 0 before it took over. */
    epoch: () => linkEpoch,
    isClosed: () => phase === 'closed',
  }
}

const allBuckets = Array.from({ length: linkLimits.digestBuckets }, (_, bucket) => bucket)

function parseFrame(text: string): AgentFrame | undefined {
  try {
    return agentFrameSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

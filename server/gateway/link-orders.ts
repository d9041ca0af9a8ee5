import type { Kysely } from 'kysely'
import { linkLimits, type OrderResult, type ServerFrame } from '#machines/protocol.ts'
import type { DB } from '../platform/database.types.ts'
import { listOrders, listTargets, type PendingOrder } from './order.query.ts'

/** What the sending of orders needs of its link. */
export type OrderLink = {
  agentId: string
  db: Kysely<DB>
  /** The database's clock, in milliseconds. */
  now: () => number
  send: (frame: ServerFrame) => void
  /** Runs a task in the lane of everything that reads state and sends it. */
  inOrder: (task: () => Promise<void>) => Promise<void>
  /** Taken over, not closed, and its socket takes more. */
  mayTakeMore: () => boolean
  /** Numbers a batch. */
  nextBatch: () => number
  /** The version an agent needs to open anything; null when it may. */
  neededVersion: () => string | null
  takeResults: (results: readonly OrderResult[]) => Promise<void>
}

/**
 * Sends what waits in the table, newest state, closes first, at most so many batches that the agent has not
 * journalled yet. What was sent without a result is remembered, so that it isn't read again and again.
 */
export function createOrderSender(link: OrderLink) {
  let isPumping = false
  /** Sending stopped before the table was empty: the link was full. */
  let isHeldBack = false
  let targetIds = new Set<string>()
  /** Batches whose journalling the agent has not confirmed. */
  const inFlight = new Set<number>()
  /** Orders sent on this link without a result: entry id → generation, and entry key → entry id. */
  const sent = new Map<string, number>()
  const sentIds = new Map<string, string>()

  /** Orders are waiting: send them, unless that is already being done. */
  function pump(): void {
    if (isPumping) return
    isPumping = true
    void link.inOrder(async () => {
      isPumping = false
      isHeldBack = false
      while (mayTakeMore()) if (!(await sendNext())) return
      isHeldBack = true
    })
  }

  const mayTakeMore = (): boolean => inFlight.size < linkLimits.batchesInFlight && link.mayTakeMore()

  /** Sends one batch; whether it was a full one, so that there may be more. */
  async function sendNext(): Promise<boolean> {
    const pending = await listOrders(link.db, link.agentId, sent)
    if (pending.length === 0) return false
    if (pending.some(({ order }) => !targetIds.has(order.targetId)))
      link.send({ type: 'targets', targets: await readTargets() })
    const mayGo = pending.filter(({ order }) => link.neededVersion() === null || order.desired === 'closed')
    if (mayGo.length < pending.length)
      await refuseOpens(pending.filter(({ order }) => order.desired === 'open'))
    if (mayGo.length > 0) sendBatch(mayGo)
    return pending.length >= linkLimits.batchOrders
  }

  function sendBatch(pending: readonly PendingOrder[]): void {
    const batch = link.nextBatch()
    inFlight.add(batch)
    for (const { entryId, order } of pending) {
      sent.set(entryId, order.generation)
      sentIds.set(`${order.targetId}|${order.address}`, entryId)
    }
    link.send({ type: 'orders', batch, nowMs: link.now(), orders: pending.map(({ order }) => order) })
  }

  /** An agent below the minimum may only close; its opens fail and say which version it needs. */
  async function refuseOpens(pending: readonly PendingOrder[]): Promise<void> {
    await link.takeResults(
      pending.map(({ order }) => ({
        targetId: order.targetId,
        address: order.address,
        generation: order.generation,
        outcome: 'failed' as const,
        atMs: link.now(),
        error: {
          code: 'agentIncompatible',
          text: `The agent needs version ${link.neededVersion()} to open.`,
        },
      })),
    )
  }

  /** Reads the agent's lists, and remembers which of them it knows. */
  async function readTargets(): Promise<Awaited<ReturnType<typeof listTargets>>> {
    const targets = await listTargets(link.db, link.agentId)
    targetIds = new Set(targets.map((target) => target.id))
    return targets
  }

  return {
    pump,
    readTargets,
    targetIds: (): readonly string[] => [...targetIds],
    /** The agent has journalled a batch: there may be room for the next. */
    journalled: (batch: number): void => {
      inFlight.delete(batch)
      if (isHeldBack) pump()
    },
    /** Results came: what was sent with a newer generation still waits. */
    settled: (results: readonly OrderResult[]): void => {
      for (const { targetId, address, generation } of results) {
        const entryId = sentIds.get(`${targetId}|${address}`)
        if (entryId === undefined || (sent.get(entryId) ?? 0) > generation) continue
        sent.delete(entryId)
        sentIds.delete(`${targetId}|${address}`)
      }
    },
  }
}

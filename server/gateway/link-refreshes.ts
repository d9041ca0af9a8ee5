import type { Kysely } from 'kysely'
import type { AgentFrame, ServerFrame } from '#machines/protocol.ts'
import type { DB } from '../platform/database.types.ts'
import { type DueRefresh, listDueRefreshes, tooOldCode } from '../refreshes/due-refresh.query.ts'
import { tooOld } from '../refreshes/refresh.service.ts'
import type { RefreshAnswer } from '../refreshes/refresh.store.ts'

/** What the telling of devices needs of its link. */
export type RefreshLink = {
  agentId: string
  db: Kysely<DB>
  /** The database's clock, in milliseconds. */
  now: () => number
  send: (frame: ServerFrame) => void
  /** Runs a task in the lane of everything that reads state and sends it. */
  inOrder: (task: () => Promise<void>) => Promise<void>
  /** Taken over, not closed, and its socket takes more. */
  maySend: () => boolean
  /** Whether both ends know the frames. */
  canRefresh: () => boolean
  /** Sees to it that the agent knows these lists. */
  describe: (targetIds: readonly string[]) => Promise<void>
  /** Writes an answer down; resolves when it counts. */
  keepAnswer: (asked: DueRefresh, answer: RefreshAnswer) => Promise<void>
}

type Refreshed = Extract<AgentFrame, { type: 'refreshed' }>

/** A device that was not heard of for so long is told again, in milliseconds. */
const unansweredMs = 15_000

/** Waits longer than this, in milliseconds, are left to the look at the table. */
const ownWaitMs = 1_000

/** So soon after a look that told nobody anything none is taken again, in milliseconds: in a storm most find nothing. */
const idleMs = 100

/**
 * Tells the devices of Passive+ lists to fetch them, one time after the other: while one was not answered nothing else
 * goes to that device, and what changed meanwhile is found by the look after the answer. So of a storm the last change
 * is always told, and what was told last is known by the table alone.
 */
export function createRefreshSender(link: RefreshLink) {
  /** By the device's list: what it was told and has not answered. */
  const asked = new Map<string, DueRefresh & { sentAt: number }>()
  /** By the device's list: when an answer counted last. A look that began before does not know it. */
  const answeredAt = new Map<string, number>()
  let isPumping = false
  /** No look before this; of `performance.now()`, as `wakesAt`. */
  let quietUntil = 0
  let wakesAt = Number.POSITIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  /** Something may have changed on a list: look, unless that is already about to be done. */
  function pump(): void {
    if (isPumping) return
    const quietMs = quietUntil - performance.now()
    if (quietMs > 0) return pumpAfter(quietMs)
    isPumping = true
    void link.inOrder(async () => {
      isPumping = false
      if (link.maySend()) await tellDue()
    })
  }

  function pumpAfter(ms: number): void {
    const at = performance.now() + ms
    if (at >= wakesAt) return
    clearTimeout(timer)
    wakesAt = at
    timer = setTimeout(() => {
      wakesAt = Number.POSITIVE_INFINITY
      pump()
    }, ms)
  }

  async function tellDue(): Promise<void> {
    const lookedAt = performance.now()
    const due = (await listDueRefreshes(link.db, link.agentId)).filter(
      ({ targetId }) => !isAsked(targetId) && (answeredAt.get(targetId) ?? 0) < lookedAt,
    )
    const ready = due.filter(({ waitMs }) => waitMs === 0)
    if (!link.canRefresh()) return refuse(ready)
    if (ready.length > 0) await link.describe(ready.map(({ targetId }) => targetId))
    for (const refresh of ready) tell(refresh)
    const waits = due.map(({ waitMs }) => waitMs).filter((ms) => ms > 0 && ms <= ownWaitMs)
    if (waits.length > 0) pumpAfter(Math.min(...waits))
    if (ready.length === 0) quietUntil = performance.now() + idleMs
  }

  function isAsked(targetId: string): boolean {
    const last = asked.get(targetId)
    return last !== undefined && performance.now() - last.sentAt < unansweredMs
  }

  function tell(refresh: DueRefresh): void {
    const { targetId, generation } = refresh
    const last = asked.get(targetId)
    // Told again under the same generation the answer may be the one to the first time: no more than that is known.
    const facts = last?.generation === generation ? last : refresh
    asked.set(targetId, { ...facts, sentAt: performance.now() })
    link.send({ type: 'refresh', targetId, generation: toWire(generation) })
  }

  async function refuse(due: readonly DueRefresh[]): Promise<void> {
    for (const refresh of due)
      if (refresh.errorCode !== tooOldCode) await link.keepAnswer(refresh, tooOld(link.now()))
  }

  return {
    pump,
    /** An answer; one that nobody waits for is dropped, so that each costs the database what an asking did. */
    take: async ({ targetId, generation, atMs, error }: Refreshed): Promise<void> => {
      const last = asked.get(targetId)
      if (last === undefined || toWire(last.generation) !== generation) return
      await link.keepAnswer(last, { atMs, error })
      // Not before it counts: a look meanwhile would find it due once more.
      asked.delete(targetId)
      answeredAt.set(targetId, performance.now())
      quietUntil = 0
      pump()
    },
    close: (): void => clearTimeout(timer),
  }
}

/** On the wire a generation is positive; a list on which nothing ever was has none. */
const toWire = (generation: number): number => Math.max(1, generation)

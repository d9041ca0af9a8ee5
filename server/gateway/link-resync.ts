import type { Kysely } from 'kysely'
import { type AgentFrame, linkLimits, type ServerFrame } from '#machines/protocol.ts'
import type { DB } from '../platform/database.types.ts'
import type { Log } from '../platform/log.ts'
import { createDigestBook, differingBuckets } from './digest.ts'
import { readBuckets, readDigest } from './order.query.ts'

/** What the comparing of states needs of its link. */
export type ResyncLink = {
  db: Kysely<DB>
  log: Log
  /** The database's clock, in milliseconds. */
  now: () => number
  send: (frame: ServerFrame) => void
  /** Runs a task in the lane of everything that reads state and sends it. */
  inOrder: (task: () => Promise<void>) => Promise<void>
  isLinked: () => boolean
  nextBatch: () => number
}

/** Buckets whose truth is read and sent in one batch. */
const bucketsABatch = 16
const entriesAPiece = 1_000
const allBuckets = Array.from({ length: linkLimits.digestBuckets }, (_, bucket) => bucket)

/** Compares what the agent holds with the database, target by target, and sends the truth of what differs (decision 7). */
export function createResync(link: ResyncLink) {
  const digests = createDigestBook()

  /** `everything` sends the whole truth unasked: the agent's state is of another epoch. */
  async function resync(
    targetIds: readonly string[],
    { everything }: { everything: boolean },
  ): Promise<void> {
    for (const id of targetIds) {
      if (!link.isLinked()) return
      if (everything) await sendBuckets(id, allBuckets)
      else await compare(id)
    }
  }

  /** Compares one target's digests with the agent's and sends the truth of the buckets that differ. */
  async function compare(targetId: string): Promise<void> {
    const before = await readDigest(link.db, targetId)
    const { request, answer } = digests.request()
    link.send({ type: 'digestRequest', request, targetId })
    const agents = await answer
    if (agents === null || !link.isLinked()) return
    const differing = differingBuckets(before, agents, await readDigest(link.db, targetId))
    if (differing.length === 0) return
    link.log.warn(
      { targetId, buckets: differing.length },
      'the agent differs from the database and is corrected',
    )
    await sendBuckets(targetId, differing)
  }

  /** Holds orders back while it reads: it runs in the lane that sends them. */
  function sendBuckets(targetId: string, buckets: readonly number[]): Promise<void> {
    return link.inOrder(async () => {
      for (let from = 0; from < buckets.length; from += bucketsABatch)
        await sendPart(targetId, buckets.slice(from, from + bucketsABatch))
    })
  }

  async function sendPart(targetId: string, buckets: number[]): Promise<void> {
    const { entries, asOfGeneration } = await readBuckets(link.db, targetId, buckets)
    const batch = link.nextBatch()
    for (let at = 0; at === 0 || at < entries.length; at += entriesAPiece)
      link.send({
        type: 'buckets',
        batch,
        nowMs: link.now(),
        targetId,
        buckets,
        asOfGeneration,
        entries: entries.slice(at, at + entriesAPiece),
        last: at + entriesAPiece >= entries.length,
      })
  }

  return {
    resync,
    answer: (frame: Extract<AgentFrame, { type: 'digest' }>) => digests.answer(frame),
    close: () => digests.close(),
  }
}

import { acceptOrder, bucketVerdict, type JournalEntry, toJournalEntry } from '#machines/journal.ts'
import type { Order, OrderResult, ServerFrame, TargetDescription } from '#machines/protocol.ts'
import { bucketOf } from './digest.ts'
import { createForgetting } from './forget.ts'
import type { Held, HeldEntries } from './held-entries.ts'
import { JournalFault } from './journal.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { Lists } from './lists.ts'
import type { AgentLog } from './log.ts'
import { createTurns } from './turns.ts'

type Frame<Type extends ServerFrame['type']> = Extract<ServerFrame, { type: Type }>

/** Takes what the server wants to be so: into the journal, then to the lists. */
export type Orders = {
  /** A batch; resolves when the journal has it, and devices have not been waited for. */
  take: (frame: Frame<'orders'>) => Promise<void>
  /** A piece of the whole truth of some buckets; acted on with the last. */
  takeBuckets: (frame: Frame<'buckets'>) => Promise<void>
  takeTargets: (targets: readonly TargetDescription[]) => void
  /** The welcome: its targets are all there are, its epoch the one that counts. */
  takeWelcome: (frame: Frame<'welcome'>) => void
  /** Closes everything: this server does not know this agent. */
  closeEverything: () => void
  /** The epoch of the last welcome; null before the first. */
  epoch: () => string | null
  highestGeneration: () => number
}

/** Pieces of a buckets batch that may wait for their last one. */
const piecesAtOnce = 64
/** Builds it; `epoch` and `highestGeneration` are those of the journal. */
export function createOrders(deps: {
  held: HeldEntries
  lists: Lists
  writer: JournalWriter
  onResult: (result: OrderResult) => void
  onJournalled: (batch: number) => void
  nowOrWall: () => number
  monotonicNow: () => number
  epoch: string | null
  highestGeneration: number
  log: AgentLog
}): Orders {
  let { epoch, highestGeneration } = deps
  const pieces = new Map<number, Frame<'buckets'>[]>()
  const turns = createTurns()

  /** Frames are taken in the order they came. */
  const inTurn = (act: (current: string) => Promise<void>): Promise<void> => {
    const current = knownEpoch()
    // What waited while a new epoch began is of no meaning in it; the server sends what counts.
    return turns(async () => (current === epoch ? act(current) : undefined))
  }

  const noteGeneration = (generation: number) => {
    if (generation <= highestGeneration) return
    highestGeneration = generation
    deps.writer.noteMeta('highestGeneration', generation)
  }

  /** Closes go to their lists at once, opens when they are in the journal (decision 18). */
  const accept = async (orders: readonly Order[], current: string) => {
    const fresh = newestOf(orders).filter((order) => isNews(order, current))
    const closes = fresh.filter(({ desired }) => desired === 'closed')
    for (const order of closes) takeClose(toJournalEntry(order, current))
    settle(closes)
    // One turn of the loop: the closes are on their way to the devices before the disk is waited for.
    if (closes.length > 0) await new Promise((resolve) => setImmediate(resolve))
    const opens = fresh.filter(({ desired }) => desired === 'open')
    for (const { generation } of fresh) noteGeneration(generation)
    try {
      if (fresh.length > 0)
        deps.writer.write({ entries: opens.map((order) => toJournalEntry(order, current)) })
    } catch (fault) {
      if (!(fault instanceof JournalFault)) throw fault
      deps.log.error({ code: fault.code }, 'opens are refused: the journal cannot be written')
      for (const order of opens) refuse(order, fault)
      return
    }
    for (const order of opens) deps.held.put(toJournalEntry(order, current)).isUnanswered = true
    settle(opens)
  }

  const takeClose = (entry: JournalEntry) => {
    const held = deps.held.put(entry)
    held.isUnanswered = true
    deps.writer.noteClose(held)
  }

  /** False for what the journal knows already; a duplicate is answered again. */
  const isNews = (order: Order, current: string): boolean => {
    if (deps.lists.find(order.targetId) === undefined) {
      refuse(order, { code: 'unknownTarget', message: 'the order names a target that was never described' })
      return false
    }
    const held = deps.held.find(order.targetId, order.address)
    const verdict = acceptOrder(held?.entry, { epoch: current, generation: order.generation })
    if (verdict === 'duplicate' && held !== undefined) answerAgain(held)
    return verdict === 'accept'
  }

  const answerAgain = (held: Held) => {
    held.isUnanswered = true
    const { targetId, address, generation, desired } = held.entry
    const applied = held.applied
    const isDone = applied?.generation === generation && applied.stands === (desired === 'open')
    if (!isDone) {
      deps.lists.settle(targetId, [address])
      return
    }
    held.isUnanswered = false
    held.lastOutcome = applied.outcome
    deps.onResult({
      targetId,
      address,
      generation,
      outcome: applied.outcome,
      atMs: applied.atMs,
      error: null,
    })
  }

  const refuse = ({ targetId, address, generation }: Order, fault: { code: string; message: string }) =>
    deps.onResult({
      targetId,
      address,
      generation,
      outcome: 'failed',
      atMs: deps.nowOrWall(),
      error: { code: fault.code, text: fault.message },
    })

  const settle = (entries: readonly { targetId: string; address: string }[]) => {
    const byTarget = Map.groupBy(entries, ({ targetId }) => targetId)
    for (const [targetId, group] of byTarget) {
      deps.lists.settle(
        targetId,
        group.map(({ address }) => address),
      )
    }
  }

  /** Closes entries on the agent's own account; they keep their generation. */
  const closeHeld = (entries: readonly JournalEntry[]) => {
    for (const entry of entries)
      deps.writer.noteClose(deps.held.put({ ...entry, desired: 'closed', until: 0 }))
    settle(entries)
  }

  const forgetting = createForgetting({ ...deps, closeHeld })

  const takeTruth = async (frames: Frame<'buckets'>[], current: string) => {
    const [first] = frames
    if (first === undefined) return
    const buckets = new Set(first.buckets)
    const journal = Array.from(deps.held.ofTarget(first.targetId), (held) => held.entry).filter((entry) =>
      buckets.has(bucketOf(entry.address)),
    )
    const orders = frames.flatMap((frame) => frame.entries)
    const { asOfGeneration } = first
    const verdict = bucketVerdict({ epoch: current, asOfGeneration, orders, journal })
    closeHeld(verdict.close)
    await accept(verdict.upsert, current)
  }

  const takeTargets = (targets: readonly TargetDescription[]) => {
    const news = targets.filter((target) => {
      const known = deps.lists.find(target.id)?.targets.get(target.id)
      return known === undefined || JSON.stringify(known) !== JSON.stringify(target)
    })
    for (const target of news) deps.lists.put(target)
    if (news.length === 0) return
    try {
      deps.writer.write({ targets: news })
    } catch (fault) {
      // The server describes them again at the next hello; an open fails by itself meanwhile.
      deps.log.error({ fault: String(fault) }, 'targets cannot be written')
    }
  }

  const knownEpoch = (): string => {
    if (epoch === null) throw new Error('orders came before a welcome')
    return epoch
  }

  return {
    take: (frame) =>
      inTurn(async (current) => {
        await accept(frame.orders, current)
        deps.onJournalled(frame.batch)
      }),
    takeBuckets: (frame) =>
      inTurn(async (current) => {
        const batch = [...(pieces.get(frame.batch) ?? []), frame]
        pieces.set(frame.batch, batch)
        const oldest = pieces.keys().next().value
        if (pieces.size > piecesAtOnce && oldest !== undefined) pieces.delete(oldest)
        if (!frame.last) return
        pieces.delete(frame.batch)
        await takeTruth(batch, current)
        deps.onJournalled(frame.batch)
      }),
    takeTargets,
    takeWelcome: (frame) => {
      if (epoch !== frame.epoch) {
        deps.log.info({ epoch: frame.epoch }, 'a new epoch: older generations say nothing any more')
        epoch = frame.epoch
        highestGeneration = 0
        deps.writer.noteMeta('epoch', epoch)
        deps.writer.noteMeta('highestGeneration', 0)
      }
      pieces.clear()
      takeTargets(frame.targets)
      // A welcome that is full may not name them all; what it doesn't name is then left alone.
      if (frame.targets.length < 2_000) forgetting.dropOthers(new Set(frame.targets.map(({ id }) => id)))
      forgetting.dropOldCloses()
    },
    closeEverything: () =>
      closeHeld([...deps.held.all()].map(({ entry }) => entry).filter(({ desired }) => desired === 'open')),
    epoch: () => epoch,
    highestGeneration: () => highestGeneration,
  }
}

/** Of several orders for one entry in a batch the newest counts. */
function newestOf(orders: readonly Order[]): Order[] {
  const newest = new Map<string, Order>()
  for (const order of orders) {
    const key = `${order.targetId}|${order.address}`
    const known = newest.get(key)
    if (known === undefined || known.generation < order.generation) newest.set(key, order)
  }
  return [...newest.values()]
}

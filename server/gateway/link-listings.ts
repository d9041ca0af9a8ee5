import { randomInt } from 'node:crypto'
import { type AgentFrame, linkLimits, type ServerFrame } from '#machines/protocol.ts'

type ListingFrame = Extract<AgentFrame, { type: 'listing' }>

/** How an agent answered for one list; when it was asked and had answered, in milliseconds of the database's clock. */
export type ListingAnswer = Pick<ListingFrame, 'state' | 'error'> & {
  askedAtMs: number
  answeredAtMs: number
}

/** One piece of what stands on a list. */
export type ListingPage = ListingFrame['entries']

type Waiting = {
  targetId: string
  frames: number
  askedAtMs: number
  /** Pages are kept one after the other, in the order they came. */
  kept: Promise<void>
  keep: (page: ListingPage) => Promise<void>
  settle: (answer: Promise<ListingAnswer | null>) => void
}

/** Far more than one link ever asks, far less than JSON's whole numbers hold. */
const numbersBefore = 2 ** 47

/**
 * What one link asked of its agent's lists and waits for. Numbers begin anywhere, so that an answer which was meant
 * for another link, or for nobody, is none of this one's.
 */
export function createLinkListings(link: { now: () => number; send: (frame: ServerFrame) => void }) {
  const first = randomInt(numbersBefore) + 1
  const waiting = new Map<number, Waiting>()
  let next = first

  /** Asks what stands on a list; each page goes to `keep`. Null when no whole answer came in time. */
  function ask(
    targetId: string,
    { withinMs, keep }: { withinMs: number; keep: Waiting['keep'] },
  ): Promise<ListingAnswer | null> {
    if (withinMs <= 0) return Promise.resolve(null)
    const request = next
    next += 1
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(Promise.resolve(null)), withinMs)
      function settle(answer: Promise<ListingAnswer | null>): void {
        clearTimeout(timer)
        waiting.delete(request)
        resolve(answer)
      }
      waiting.set(request, {
        targetId,
        frames: 0,
        askedAtMs: link.now(),
        kept: Promise.resolve(),
        keep,
        settle,
      })
      link.send({ type: 'listingRequest', request, targetId })
    })
  }

  /**
   * Takes a piece of an answer; one that came too late is dropped.
   *
   * @returns false for what nobody asked: another number, another list, more than was agreed.
   */
  function take(frame: ListingFrame): boolean {
    const asked = waiting.get(frame.request)
    if (asked === undefined) return frame.request >= first && frame.request < next
    asked.frames += 1
    const isEmpty = frame.entries.length === 0
    const isAgreed =
      frame.targetId === asked.targetId &&
      asked.frames <= linkLimits.listingFrames &&
      (frame.state === 'listed' ? frame.last || !isEmpty : frame.last && isEmpty && asked.frames === 1)
    if (!isAgreed) {
      asked.settle(Promise.resolve(null))
      return false
    }
    if (!isEmpty) asked.kept = asked.kept.then(() => asked.keep(frame.entries))
    // A page that can't be kept fails the answer; unheard it would end the process.
    asked.kept.catch(() => undefined)
    if (frame.last) asked.settle(whenKept(asked, frame))
    return true
  }

  async function whenKept(
    { kept, askedAtMs }: Waiting,
    { state, error }: ListingFrame,
  ): Promise<ListingAnswer> {
    const answeredAtMs = link.now()
    await kept
    return { state, error, askedAtMs, answeredAtMs }
  }

  return {
    ask,
    take,
    /** The link is gone: nothing will be answered. */
    close: () => {
      for (const { settle } of [...waiting.values()]) settle(Promise.resolve(null))
    },
  }
}

import type { AgentFrame } from '#machines/protocol.ts'

type DigestFrame = Extract<AgentFrame, { type: 'digest' }>

/** An agent that does not answer a digest request in this time is not asked again until the next round. */
const answerMs = 30_000

/** Digest requests of one link that wait for their answers. */
export function createDigestBook() {
  const waiting = new Map<number, (buckets: readonly string[] | null) => void>()
  let last = 0

  /** A new request number, and its answer; null when none comes. */
  function request(): { request: number; answer: Promise<readonly string[] | null> } {
    last += 1
    const number = last
    const answer = new Promise<readonly string[] | null>((resolve) => {
      const timer = setTimeout(() => settle(number, null), answerMs)
      waiting.set(number, (buckets) => {
        clearTimeout(timer)
        resolve(buckets)
      })
    })
    return { request: number, answer }
  }

  function settle(number: number, buckets: readonly string[] | null): void {
    waiting.get(number)?.(buckets)
    waiting.delete(number)
  }

  return {
    request,
    answer: (frame: DigestFrame) => settle(frame.request, frame.buckets),
    close: () => [...waiting.keys()].forEach((number) => settle(number, null)),
  }
}

/**
 * Buckets that really differ: the server's value was the same before asking and after the answer, and the agent's
 * is another. What changed in between is on its way as orders (decision 7).
 */
export const differingBuckets = (
  before: readonly string[],
  agent: readonly string[],
  after: readonly string[],
): number[] =>
  before.flatMap((digest, bucket) => (digest === after[bucket] && digest !== agent[bucket] ? [bucket] : []))

import type { Random } from './random.ts'

/** What was done to orders on their way. */
export type Muddled = { repeated: number; delayed: number; overtaken: number }

/** Of a hundred orders so many come twice, and so many late; ms by which they do. */
const repeatPercent = 35
const delayPercent = 35
const latestMs = 700

/**
 * The way of one link's frames to its agent. While `random` gives dice, some frames with orders come twice, and some
 * late: others, orders among them, then overtake. Nothing else moves, and nothing comes before its time.
 */
export function createMuddle<Frame>(deps: {
  bringsOrders: (frame: Frame) => boolean
  random: () => Random | null
  give: (frame: Frame) => void
  later: (act: () => void, afterMs: number) => void
  counts: Muddled
}): (frame: Frame) => void {
  const { counts, give, later } = deps
  /** Orders that are under way, oldest first. */
  const held = new Set<number>()
  let last = 0

  function delay(frame: Frame, afterMs: number): void {
    const number = (last += 1)
    held.add(number)
    later(() => {
      held.delete(number)
      give(frame)
    }, afterMs)
  }

  return (frame) => {
    const random = deps.bringsOrders(frame) ? deps.random() : null
    if (random === null) return give(frame)
    const draw = random.below(100)
    const afterMs = 1 + random.below(latestMs)
    if (draw < delayPercent) {
      counts.delayed += 1
      return delay(frame, afterMs)
    }
    counts.overtaken += held.size
    give(frame)
    if (draw >= delayPercent + repeatPercent) return
    counts.repeated += 1
    later(() => give(frame), afterMs)
  }
}

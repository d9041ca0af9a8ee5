/** What falls due: at an instant of the server's clock, one thing. */
type Due<Thing> = { at: number; thing: Thing }

/** Tells what falls due, on time: one timer over a heap, however many entries there are (decision 11). */
export type Ticker<Thing> = {
  watch: (at: number, thing: Thing) => void
  /** Looks at the clock again at once: after a jump, or when the server's time became known. */
  look: () => void
  stop: () => void
}

/** Longest time between two looks, so that a clock that was set is noticed; also keeps timers far from 2^31 ms. */
const longestWaitMs = 1_000

/**
 * Builds the ticker. `now` is null while the server's time is not known: then nothing falls due here
 * (nothing may stand either). The same thing may be watched often; whoever is told decides whether it is still so.
 */
export function createTicker<Thing>(deps: {
  now: () => number | null
  onDue: (things: Thing[]) => void
}): Ticker<Thing> {
  const heap: Due<Thing>[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false

  const look = () => {
    clearTimeout(timer)
    const now = deps.now()
    const things = now === null ? [] : takeDue(heap, now)
    if (things.length > 0) deps.onDue(things)
    arm()
  }

  const arm = () => {
    clearTimeout(timer)
    if (isStopped) return
    const now = deps.now()
    const wait = now === null || heap[0] === undefined ? longestWaitMs : Math.ceil(heap[0].at - now)
    timer = setTimeout(look, Math.max(0, Math.min(longestWaitMs, wait)))
  }

  return {
    watch: (at, thing) => {
      push(heap, { at, thing })
      if (heap[0]?.thing === thing) arm()
    },
    look,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

function takeDue<Thing>(heap: Due<Thing>[], now: number): Thing[] {
  const things: Thing[] = []
  while (atOf(heap, 0) <= now) things.push(pop(heap).thing)
  return things
}

function push<Thing>(heap: Due<Thing>[], due: Due<Thing>): void {
  let index = heap.push(due) - 1
  while (index > 0) {
    const parent = (index - 1) >> 1
    if (atOf(heap, parent) <= atOf(heap, index)) return
    swap(heap, index, parent)
    index = parent
  }
}

/** Takes the earliest; the heap must hold one. */
function pop<Thing>(heap: Due<Thing>[]): Due<Thing> {
  const first = heap[0] as Due<Thing>
  const last = heap.pop() as Due<Thing>
  if (heap.length > 0) {
    heap[0] = last
    sink(heap)
  }
  return first
}

function sink<Thing>(heap: Due<Thing>[]): void {
  let index = 0
  for (;;) {
    const [left, right] = [2 * index + 1, 2 * index + 2]
    const child = atOf(heap, right) < atOf(heap, left) ? right : left
    if (atOf(heap, child) >= atOf(heap, index)) return
    swap(heap, index, child)
    index = child
  }
}

const atOf = <Thing>(heap: Due<Thing>[], index: number): number => heap[index]?.at ?? Infinity

function swap<Thing>(heap: Due<Thing>[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]]
  if (first !== undefined) heap[b] = first
  if (second !== undefined) heap[a] = second
}

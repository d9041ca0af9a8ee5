import { spawn } from 'node:child_process'

/** A pause of a timer by more than this was the machine's. */
const noticedMs = 150
const everyMs = 25
/**
 * So was a start of a program that does nothing by more than this: a close or a cut takes several. Between two looks
 * nobody knows, so a slow one stands for the time since the last.
 */
const slowStartMs = 80
const startEveryMs = 250

type Stall = { from: number; to: number }

/**
 * Notes when this machine stood still: on a loaded one a timer comes late, a program takes its time to start, and so
 * does everything that is judged. Those milliseconds are taken off, and told.
 */
export function watchStalls() {
  const stalls: Stall[] = []
  let last = Date.now()
  const timer = setInterval(() => {
    const now = Date.now()
    if (now - last > noticedMs) note(stalls, { from: last, to: now })
    last = now
  }, everyMs)

  let isStarting = false
  let startedAt = Date.now()
  const starts = setInterval(() => {
    if (isStarting) return
    isStarting = true
    const from = Date.now()
    spawn('true', { stdio: 'ignore' }).on('close', () => {
      isStarting = false
      const to = Date.now()
      if (to - from > slowStartMs) note(stalls, { from: startedAt, to })
      startedAt = to
    })
  }, startEveryMs)

  return {
    /** How much of the time between two instants the machine stood still. */
    between: (from: number, to: number): number =>
      stalls.reduce(
        (sum, stall) => sum + Math.max(0, Math.min(stall.to, to) - Math.max(stall.from, from)),
        0,
      ),
    total: (): number => stalls.reduce((sum, { from, to }) => sum + (to - from), 0),
    stop: () => {
      clearInterval(timer)
      clearInterval(starts)
    },
  }
}

/** Adds one to stalls that don't overlap, so that no moment counts twice; it is later than most of them. */
export function note(stalls: Stall[], news: Stall): void {
  const merged = { ...news }
  for (let at = stalls.length - 1; at >= 0; at -= 1) {
    const known = stalls[at]
    if (known === undefined || known.to < merged.from) break
    if (known.from > merged.to) continue
    merged.from = Math.min(merged.from, known.from)
    merged.to = Math.max(merged.to, known.to)
    stalls.splice(at, 1)
  }
  const place = stalls.findIndex(({ from }) => from > merged.to)
  if (place < 0) stalls.push(merged)
  else stalls.splice(place, 0, merged)
}

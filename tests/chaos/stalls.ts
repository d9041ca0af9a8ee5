/** A pause of a timer by more than this was the machine's. */
const noticedMs = 150
const everyMs = 25

/**
 * Notes when this machine stood still: on a loaded one a timer comes late, and so does everything that is judged.
 * Those milliseconds are taken off, and told.
 */
export function watchStalls() {
  const stalls: { from: number; to: number }[] = []
  let last = Date.now()
  const timer = setInterval(() => {
    const now = Date.now()
    if (now - last > noticedMs) stalls.push({ from: last, to: now })
    last = now
  }, everyMs)

  return {
    /** How much of the time between two instants the machine stood still. */
    between: (from: number, to: number): number =>
      stalls.reduce(
        (sum, stall) => sum + Math.max(0, Math.min(stall.to, to) - Math.max(stall.from, from)),
        0,
      ),
    total: (): number => stalls.reduce((sum, { from, to }) => sum + (to - from), 0),
    stop: () => clearInterval(timer),
  }
}

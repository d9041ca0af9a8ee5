/**
 * Waits until something holds, looking every few milliseconds; the message says what was waited for.
 * @returns how long it took, in milliseconds.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = 10_000, everyMs = 10 }: { withinMs?: number; everyMs?: number } = {},
): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const asked = performance.now()
    if (await holds()) return performance.now() - startedAt
    if (asked - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

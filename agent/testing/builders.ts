import { randomUUID } from 'node:crypto'
import type { Order, TargetDescription } from '#machines/protocol.ts'
import type { AgentLog } from '../log.ts'

/** A target that is an ipset. */
export const ipsetTarget = (
  name: string,
  family: 4 | 6,
  over: Partial<TargetDescription> = {},
): TargetDescription => ({
  id: randomUUID(),
  key: `ipset:${name}`,
  type: 'ipset',
  family,
  backendId: randomUUID(),
  backend: {},
  list: { SetName: name },
  sealed: {},
  foreignEntries: 'report',
  ...over,
})

/** An order to open until `untilMs`, or with 0 to close. */
export const anOrder = (
  target: { id: string },
  address: string,
  generation: number,
  untilMs: number,
  over: Partial<Order> = {},
): Order => ({
  targetId: target.id,
  address,
  generation,
  desired: untilMs === 0 ? 'closed' : 'open',
  untilMs,
  silence: null,
  cut: false,
  userName: 'erika',
  ...over,
})

/** A log that says nothing. */
export const quietLog: AgentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Waits until something holds, looking every 10 ms; the message says what was waited for. */
export async function until(what: string, holds: () => boolean, withinMs = 5_000): Promise<number> {
  const startedAt = performance.now()
  while (!holds()) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - startedAt
}

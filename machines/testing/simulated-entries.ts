import type { DesiredEntry, Holder, OrderedEntry } from '../access.ts'
import type { Order } from '../protocol.ts'
import type { Rules } from './rules.ts'

type Row = OrderedEntry & { order: DesiredEntry; orderAt: number | null; applied: boolean; retryAt: number }

const retryMs = 1_000
const closedRow: Row = {
  desired: 'closed',
  until: 0,
  orderedUntil: 0,
  orderedAt: 0,
  silence: null,
  cut: false,
  generation: 0,
  order: { desired: 'closed' },
  orderAt: null,
  applied: true,
  retryAt: 0,
}

/** The simulated server's entries and the one function that writes them; orders that are not answered are sent again. */
export function createEntries(
  rules: Rules,
  on: {
    holdersOf: (targetId: string, address: string, now: number) => Holder[]
    order: (order: Order) => void
  },
) {
  const rows = new Map<string, Row>()
  let generation = 0

  const recompute = (targetId: string, address: string, now: number): void => {
    const key = `${targetId}|${address}`
    const row = rows.get(key) ?? closedRow
    const plan = rules.planEntry(row, rules.desiredEntry(on.holdersOf(targetId, address, now), now), now)
    if (plan.kind === 'unchanged') {
      if (row.orderAt !== null && row.orderAt <= now) rows.set(key, { ...row, orderAt: null })
      return
    }
    if (plan.kind === 'remember') {
      rows.set(key, { ...row, until: plan.until, orderAt: plan.orderAt })
      return
    }
    const { order } = plan
    const until = order.desired === 'open' ? order.until : 0
    rows.set(key, {
      desired: order.desired,
      until,
      orderedUntil: until,
      orderedAt: now,
      silence: order.desired === 'open' ? order.silence : null,
      cut: order.desired === 'open' ? order.cut : row.cut,
      generation: ++generation,
      order,
      orderAt: null,
      applied: false,
      retryAt: now + retryMs,
    })
    on.order(toWire(key))
  }

  const toWire = (key: string): Order => {
    const row = rows.get(key) ?? closedRow
    const [targetId = '', address = ''] = key.split('|')
    const { silence } = row
    return {
      targetId,
      address,
      generation: row.generation,
      desired: row.desired,
      untilMs: row.orderedUntil,
      silence: silence && { afterSeconds: silence.afterSeconds, untilMs: silence.until },
      cut: row.cut,
      userName: row.order.desired === 'open' ? row.order.userName : '',
    }
  }

  return {
    rows,
    recompute,
    generation: () => generation,
    settled: (key: string, settledGeneration: number): void => {
      const row = rows.get(key)
      if (row?.generation === settledGeneration) row.applied = true
    },
    /** Later ends that are to be ordered by now, and orders to send again. */
    sweep(now: number, canSend: boolean): void {
      for (const [key, row] of rows) {
        const [targetId = '', address = ''] = key.split('|')
        if (row.orderAt !== null && row.orderAt <= now) recompute(targetId, address, now)
        if (canSend && !row.applied && row.retryAt <= now) {
          row.retryAt = now + retryMs
          on.order(toWire(key))
        }
      }
    },
    nextAt(canSend: boolean): number {
      let next = Infinity
      for (const row of rows.values()) {
        if (row.orderAt !== null) next = Math.min(next, row.orderAt)
        if (canSend && !row.applied) next = Math.min(next, row.retryAt)
      }
      return next
    },
    /** The whole truth, as a resync reads it. */
    openOrders: (): Order[] =>
      [...rows].filter(([, row]) => row.desired === 'open').map(([key]) => toWire(key)),
  }
}

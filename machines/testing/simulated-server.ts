import type { DesiredEntry, Holder, OrderedEntry } from '../access.ts'
import { type HeldAddress, heldAddresses, nextDropAt } from '../address-move.ts'
import type { Order } from '../protocol.ts'
import type { Fact } from './reference-model.ts'
import type { Rules } from './rules.ts'
import { addresses, knocs, sessionCount } from './world.ts'

type Grant = { id: string; session: number; knocId: string; openedAt: number; endsAt: number; ended: boolean }
type Session = { endsAt: number; live: boolean; enabled: boolean; held: HeldAddress[] }
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

/** The server's tables and its one function that writes entries, made of the real arithmetic. */
export function createServer(
  rules: Rules,
  on: { order: (order: Order) => void; fact: (fact: Fact, at: number) => void },
) {
  const sessions: Session[] = Array.from({ length: sessionCount }, () => ({
    endsAt: 0,
    live: false,
    enabled: true,
    held: [],
  }))
  const grants: Grant[] = []
  const restricted = new Set<string>()
  const rows = new Map<string, Row>()
  let generation = 0

  const holdersOf = (targetId: string, address: string): Holder[] =>
    grants.flatMap((grant) => {
      const knoc = knocs.find(({ id }) => id === grant.knocId)
      const session = sessions[grant.session]
      if (grant.ended || knoc?.targetId !== targetId || !session?.live || !session.enabled) return []
      if (restricted.has(`${knoc.id}|${address}`)) return []
      if (!heldAddresses(session.held).some((row) => row.address === address)) return []
      const { id: grantId, openedAt, endsAt } = grant
      const { silenceSeconds, cut } = knoc
      return [{ grantId, openedAt, endsAt, silenceSeconds, cut, userName: `user${grant.session}` }]
    })

  const recompute = (targetId: string, address: string, now: number): void => {
    const key = `${targetId}|${address}`
    const row = rows.get(key) ?? closedRow
    const plan = rules.planEntry(row, rules.desiredEntry(holdersOf(targetId, address), now), now)
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

  const recomputeAll = (now: number): void => {
    for (const targetId of new Set(knocs.map((knoc) => knoc.targetId)))
      for (const { address } of addresses) recompute(targetId, address, now)
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

  const endGrant = (grant: Grant, now: number): void => {
    grant.ended = true
    on.fact({ type: 'revoked', grant: grant.id }, now)
  }

  const hold = (index: number, held: HeldAddress[], now: number): void => {
    const session = sessions[index]
    if (!session) return
    session.held = held
    on.fact({ type: 'holds', session: index, addresses: heldAddresses(held).map((row) => row.address) }, now)
  }

  const standing = (index: number, now: number): void => {
    const session = sessions[index]
    if (!session) return
    const { live, enabled, endsAt } = session
    on.fact({ type: 'session', session: index, counts: live && enabled, endsAt }, now)
  }

  return {
    rows,
    held: (index: number): HeldAddress[] => sessions[index]?.held ?? [],
    isLive: (index: number): boolean => sessions[index]?.live ?? false,
    generation: () => generation,

    signIn(index: number, seconds: number, seen: { address: string; family: 4 | 6 }, now: number): void {
      const session = sessions[index]
      if (!session || session.live) return
      Object.assign(session, { live: true, enabled: true, endsAt: now + seconds * 1000, held: [] })
      standing(index, now)
      hold(index, rules.moveAddress([], { ...seen, at: now }).addresses, now)
    },
    endSession(index: number, now: number): void {
      const session = sessions[index]
      if (!session?.live) return
      session.live = false
      standing(index, now)
      for (const grant of grants) if (grant.session === index && !grant.ended) endGrant(grant, now)
      hold(index, [], now)
      recomputeAll(now)
    },
    setEnabled(index: number, enabled: boolean, now: number): void {
      const session = sessions[index]
      if (session) session.enabled = enabled
      standing(index, now)
      recomputeAll(now)
    },
    grant(index: number, knocId: string, now: number): void {
      const session = sessions[index]
      const knoc = knocs.find(({ id }) => id === knocId)
      const has = grants.some(
        (grant) => grant.session === index && grant.knocId === knocId && !grant.ended && grant.endsAt > now,
      )
      if (!session?.live || !session.enabled || !knoc || has) return
      const { maximumGrantSeconds } = knoc
      const endsAt = rules.grantEnd({
        now,
        sessionEndsAt: session.endsAt,
        validUntil: null,
        maximumGrantSeconds,
      })
      const id = `g${grants.length}`
      grants.push({ id, session: index, knocId, openedAt: now, endsAt, ended: false })
      on.fact({ type: 'granted', grant: id, session: index, knoc: knocId }, now)
      recomputeAll(now)
    },
    revoke(index: number, knocId: string, now: number): void {
      for (const grant of grants)
        if (grant.session === index && grant.knocId === knocId && !grant.ended) endGrant(grant, now)
      recomputeAll(now)
    },
    restrict(knocId: string, address: string, isRestricted: boolean, now: number): void {
      restricted[isRestricted ? 'add' : 'delete'](`${knocId}|${address}`)
      on.fact({ type: 'restricted', knoc: knocId, address, restricted: isRestricted }, now)
      recomputeAll(now)
    },
    /** Whether the look was taken: false when the user is to sign in again. */
    see(index: number, seen: { address: string; family: 4 | 6 }, now: number): boolean {
      const session = sessions[index]
      if (!session?.live) return false
      const verdict = rules.moveAddress(session.held, { ...seen, at: now })
      if (verdict.moved)
        for (const grant of grants)
          if (grant.session === index && !grant.ended) grant.endsAt = rules.endAfterMove(grant, now)
      hold(index, verdict.addresses, now)
      recomputeAll(now)
      return !verdict.needsSignIn
    },
    settled(key: string, settledGeneration: number): void {
      const row = rows.get(key)
      if (row?.generation === settledGeneration) row.applied = true
    },

    /** What is due by time: ends, addresses not seen again, later ends to order, orders to send again. */
    sweep(now: number, canSend: boolean): void {
      for (const [index, session] of sessions.entries()) {
        if (!session.live) continue
        if (session.endsAt <= now) this.endSession(index, now)
        else if ((nextDropAt(session.held) ?? Infinity) <= now) {
          hold(index, rules.settleAddresses(session.held, now).addresses, now)
          recomputeAll(now)
        }
      }
      if (grants.some((grant) => !grant.ended && grant.endsAt <= now)) recomputeAll(now)
      for (const grant of grants) if (!grant.ended && grant.endsAt <= now) endGrant(grant, now)
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
      for (const { live, endsAt, held } of sessions)
        if (live) next = Math.min(next, endsAt, nextDropAt(held) ?? Infinity)
      for (const grant of grants) if (!grant.ended) next = Math.min(next, grant.endsAt)
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

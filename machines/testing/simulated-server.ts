import type { Holder } from '../access.ts'
import { type AddressSource, type HeldAddress, heldAddresses, nextDropAt } from '../address-move.ts'
import type { KnocAddresses, LicenceStanding } from '../liveness.ts'
import type { Order } from '../protocol.ts'
import type { Fact } from './reference-model.ts'
import type { Rules } from './rules.ts'
import { createEntries } from './simulated-entries.ts'
import { addresses, carriers, knocs as givenKnocs, type Knoc, sessionCount } from './world.ts'

type Grant = {
  id: string
  session: number
  knocId: string
  openedAt: number
  endsAt: number
  ended: boolean
  isKnocDeleted: boolean
}
type Session = {
  beganAt: number
  endsAt: number
  live: boolean
  enabled: boolean
  licensed: boolean
  held: HeldAddress[]
}
/** What the knocs say may change. */
type ChangingKnoc = Knoc & KnocAddresses

const everyAddress = [...addresses.map(({ address }) => address), ...carriers]

/** The server's tables and its one function that writes entries, made of the real arithmetic. */
export function createServer(
  rules: Rules,
  on: { order: (order: Order) => void; fact: (fact: Fact, at: number) => void },
) {
  const sessions: Session[] = Array.from({ length: sessionCount }, () => ({
    beganAt: 0,
    endsAt: 0,
    live: false,
    enabled: true,
    licensed: true,
    held: [],
  }))
  const grants: Grant[] = []
  const knocs: ChangingKnoc[] = givenKnocs.map((knoc) => ({ ...knoc, fixed: null, cgnatOpen: false }))
  const restricted = new Set<string>()
  const without = new Set<string>()
  let licence: LicenceStanding = 'inForce'

  const holdersOf = (targetId: string, address: string, now: number): Holder[] =>
    grants.flatMap((grant) => {
      const knoc = knocs.find(({ id }) => id === grant.knocId)
      const session = sessions[grant.session]
      if (grant.ended || knoc?.targetId !== targetId || !session?.live) return []
      const isHolding = openingsOf(session, knoc).some(
        (opening) =>
          opening.address === address &&
          rules.counts(
            {
              address,
              source: opening.source,
              // Ends are minded by the arithmetic of entries.
              endsAt: Infinity,
              sessionEndsAt: Infinity,
              validUntil: null,
              personCounts: session.enabled && session.licensed,
              isEntitled: !without.has(`${grant.session}|${knoc.id}`),
              isKnocDeleted: grant.isKnocDeleted,
              isAllowed: !restricted.has(`${knoc.id}|${opening.client}`),
              knoc,
              licence,
            },
            now,
          ),
      )
      if (!isHolding) return []
      const { id: grantId, openedAt, endsAt } = grant
      const { silenceSeconds, cut } = knoc
      return [{ grantId, openedAt, endsAt, silenceSeconds, cut, userName: `user${grant.session}` }]
    })

  /** Where a session's grant of a knoc may open, and the user's address that the restriction is asked about. */
  const openingsOf = (
    session: Session,
    knoc: KnocAddresses,
  ): { address: string; client: string; source: AddressSource | 'specified' }[] => {
    const held = heldAddresses(session.held)
    const client = newestOwn(held)
    const theirs = held.map(({ address, source }) => ({ address, client: address, source }))
    const fixed = (client === undefined ? [] : (knoc.fixed ?? [])).map((address) => ({
      address,
      client: client ?? '',
      source: 'specified' as const,
    }))
    return [...theirs, ...fixed].filter((opening) => rules.opensFor(knoc, opening))
  }

  const { rows, recompute, ...entries } = createEntries(rules, { holdersOf, order: on.order })

  const recomputeLists = (targetIds: readonly string[], now: number): void => {
    for (const targetId of targetIds) for (const address of everyAddress) recompute(targetId, address, now)
  }
  const recomputeAll = (now: number): void =>
    recomputeLists([...new Set(givenKnocs.map((knoc) => knoc.targetId))], now)

  const endGrant = (grant: Grant, now: number): void => {
    grant.ended = true
    on.fact({ type: 'revoked', grant: grant.id }, now)
  }

  const shortenGrant = (grant: Grant, session: Session, maximumGrantSeconds: number | null): void => {
    grant.endsAt = rules.shortenedEnd(
      { endsAt: grant.endsAt, givenAt: grant.openedAt },
      { sessionEndsAt: session.endsAt, maximumGrantSeconds },
    )
  }

  const hold = (index: number, held: HeldAddress[], now: number): void => {
    const session = sessions[index]
    if (!session) return
    session.held = held
    const current = heldAddresses(held)
    const own = newestOwn(current)
    const others = current.filter(({ source, address }) => source === 'own' && address !== own)
    const addresses = [...(own === undefined ? [] : [own]), ...others.map(({ address }) => address)]
    const discovered = current.filter(({ source }) => source !== 'own').map(({ address }) => address)
    on.fact({ type: 'holds', session: index, addresses, discovered }, now)
  }

  const standing = (index: number, now: number): void => {
    const session = sessions[index]
    if (!session) return
    const { live, enabled, licensed, endsAt } = session
    on.fact({ type: 'session', session: index, counts: live && enabled && licensed, endsAt }, now)
  }

  return {
    rows,
    held: (index: number): HeldAddress[] => sessions[index]?.held ?? [],
    isLive: (index: number): boolean => sessions[index]?.live ?? false,
    generation: entries.generation,

    signIn(index: number, seconds: number, seen: { address: string; family: 4 | 6 }, now: number): void {
      const session = sessions[index]
      if (!session || session.live) return
      Object.assign(session, {
        live: true,
        enabled: true,
        beganAt: now,
        endsAt: now + seconds * 1000,
        held: [],
      })
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
        (grant) =>
          grant.session === index &&
          grant.knocId === knocId &&
          !grant.ended &&
          !grant.isKnocDeleted &&
          grant.endsAt > now,
      )
      const mayHave = session?.enabled && session.licensed && !without.has(`${index}|${knocId}`)
      if (!session?.live || !mayHave || !knoc || has || !rules.mayGrant(licence)) return
      const { maximumGrantSeconds } = knoc
      const endsAt = rules.grantEnd({
        now,
        sessionEndsAt: session.endsAt,
        validUntil: null,
        maximumGrantSeconds,
      })
      const id = `g${grants.length}`
      grants.push({ id, session: index, knocId, openedAt: now, endsAt, ended: false, isKnocDeleted: false })
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
    discover(index: number, address: string, now: number): void {
      const session = sessions[index]
      if (!session?.live) return
      const seen = { address, family: 4, source: 'discovered', at: now } as const
      hold(index, rules.moveAddress(session.held, seen).addresses, now)
      recomputeAll(now)
    },
    entitle(index: number, knocId: string, entitled: boolean, now: number): void {
      without[entitled ? 'delete' : 'add'](`${index}|${knocId}`)
      on.fact({ type: 'entitled', session: index, knoc: knocId, entitled }, now)
      recomputeAll(now)
    },
    license(index: number, licensed: boolean, now: number): void {
      const session = sessions[index]
      if (session) session.licensed = licensed
      standing(index, now)
      recomputeAll(now)
    },
    setLicence(wanted: LicenceStanding, now: number): void {
      licence = wanted
      on.fact({ type: 'licence', standing: wanted }, now)
      recomputeAll(now)
    },
    /** The truth is told from the event, before the rules are asked. */
    shorten(index: number, seconds: number, now: number): void {
      const session = sessions[index]
      if (!session?.live) return
      session.endsAt = Math.min(session.endsAt, session.beganAt + seconds * 1000)
      standing(index, now)
      for (const grant of grants)
        if (grant.session === index && !grant.ended) shortenGrant(grant, session, null)
      recomputeAll(now)
    },
    setMaximum(knocId: string, seconds: number | null, now: number): void {
      const knoc = knocs.find(({ id }) => id === knocId)
      if (!knoc) return
      knoc.maximumGrantSeconds = seconds
      on.fact({ type: 'knoc', knoc: knocId, change: { maximumGrantSeconds: seconds } }, now)
      for (const grant of grants) {
        const session = sessions[grant.session]
        if (grant.knocId === knocId && !grant.ended && session) shortenGrant(grant, session, seconds)
      }
      recomputeAll(now)
    },
    retarget(knocId: string, targetId: string, now: number): void {
      const knoc = knocs.find(({ id }) => id === knocId)
      if (!knoc) return
      const before = knoc.targetId
      knoc.targetId = targetId
      on.fact({ type: 'knoc', knoc: knocId, change: { targetId } }, now)
      recomputeLists(rules.touchedLists([before], [targetId]), now)
    },
    setAddresses(knocId: string, change: Partial<KnocAddresses>, now: number): void {
      const knoc = knocs.find(({ id }) => id === knocId)
      if (!knoc) return
      Object.assign(knoc, change)
      on.fact({ type: 'knoc', knoc: knocId, change }, now)
      recomputeAll(now)
    },
    deleteKnoc(knocId: string, now: number): void {
      on.fact({ type: 'knoc', knoc: knocId, change: 'deleted' }, now)
      for (const grant of grants) if (grant.knocId === knocId) grant.isKnocDeleted = true
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
    settled: entries.settled,

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
      // No fact: the reference knows its own ends.
      for (const grant of grants) if (grant.endsAt <= now) grant.ended = true
      entries.sweep(now, canSend)
    },
    nextAt(canSend: boolean): number {
      let next = entries.nextAt(canSend)
      for (const { live, endsAt, held } of sessions)
        if (live) next = Math.min(next, endsAt, nextDropAt(held) ?? Infinity)
      for (const grant of grants) if (!grant.ended) next = Math.min(next, grant.endsAt)
      return next
    },
    /** The whole truth, as a resync reads it. */
    openOrders: entries.openOrders,
  }
}

/** The own address that was seen last: the one the restriction of fixed addresses is asked about. */
const newestOwn = (held: readonly HeldAddress[]): string | undefined =>
  held
    .filter(({ source }) => source === 'own')
    .toSorted((a, b) => b.seenAt - a.seenAt || (a.address < b.address ? -1 : 1))[0]?.address

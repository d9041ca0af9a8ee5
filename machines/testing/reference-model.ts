/**
 * What the promise says about a history, told a second time: no function of `machines/` is used here.
 *
 * A reason is a grant that counts for an address. A door may stand at a moment if some truth since the agent was
 * last surely told (a healthy stretch of `boundMs`) gives it a reason whose end, and whose rule for a silent
 * server, is ahead. A door must stand if it had a reason throughout the last `boundMs` and all was healthy, or
 * if a keeping knoc's door was known before the server fell silent.
 */
export type Fact =
  | { type: 'granted'; grant: string; session: number; knoc: string }
  | { type: 'revoked'; grant: string }
  /** Signed in and enabled, or not. */
  | { type: 'session'; session: number; counts: boolean; endsAt: number }
  | { type: 'holds'; session: number; addresses: string[]; discovered: string[] }
  | { type: 'entitled'; session: number; knoc: string; entitled: boolean }
  | { type: 'licence'; standing: 'inForce' | 'ended' | 'removed' }
  /** What the knoc says from now on; `deleted` takes its grants along. */
  | { type: 'knoc'; knoc: string; change: Partial<Omit<Knoc, 'id'>> | 'deleted' }
  | { type: 'restricted'; knoc: string; address: string; restricted: boolean }
  /** `contact`: the agent hears the truth; `healthy`: orders arrive in time as well; `steady`: it ran on, clock known. */
  | { type: 'reach'; contact: boolean; healthy: boolean; steady: boolean }

type Reason = { grant: string; endsAt: number; silenceSeconds: number | null }
type Segment = { from: number; reasons: Reason[] }
type Knoc = {
  id: string
  /** In place of the user's addresses. */
  fixed: readonly string[] | null
  cgnatOpen: boolean
  targetId: string
  silenceSeconds: number | null
  maximumGrantSeconds: number | null
}

/** How long a healthy link may take until what is ordered stands. */
export const boundMs = 6_000
/** A later end may take this long to be ordered. */
const extensionMs = 30_000

/** The reference, fed with facts in the order of their times. */
export function createReference(
  givenKnocs: readonly Omit<Knoc, 'fixed' | 'cgnatOpen'>[],
  keys: readonly string[],
  beginning: number,
) {
  const knocs: Knoc[] = givenKnocs.map((knoc) => ({ ...knoc, fixed: null, cgnatOpen: false }))
  const grants = new Map<string, { session: number; knoc: Knoc; endsAt: number; at: number }>()
  const without = new Set<string>()
  let licence: 'inForce' | 'ended' | 'removed' = 'inForce'
  let unlawful: string | null = null
  const counting = new Set<number>()
  const sessionEnds = new Map<number, number>()
  const held = new Map<number, { own: string[]; discovered: string[] }>()
  const restricted = new Set<string>()
  const segments = new Map<string, Segment[]>(keys.map((key) => [key, [{ from: beginning, reasons: [] }]]))
  let reach = { contact: true, healthy: true, steady: true }
  let healthySince = beginning
  let steadySince = beginning
  let toldAt = beginning
  let truthAt = beginning

  const reasonsOf = (key: string): Reason[] =>
    [...grants].flatMap(([grant, { session, knoc, endsAt }]) =>
      counting.has(session) &&
      licence !== 'removed' &&
      !without.has(`${session}|${knoc.id}`) &&
      addressesFor(session, knoc).some((address) => `${knoc.targetId}|${address}` === key)
        ? [{ grant, endsAt, silenceSeconds: knoc.silenceSeconds }]
        : [],
    )

  /** Where a session's grant of a knoc opens: his addresses that are let through, or fixed ones if his newest is. */
  const addressesFor = (session: number, knoc: Knoc): readonly string[] => {
    const { own, discovered } = held.get(session) ?? { own: [], discovered: [] }
    const isLetThrough = (address: string) => !restricted.has(`${knoc.id}|${address}`)
    if (knoc.fixed !== null) return own[0] !== undefined && isLetThrough(own[0]) ? knoc.fixed : []
    return [...own, ...(knoc.cgnatOpen ? discovered : [])].filter(isLetThrough)
  }

  const lastTold = (at: number): number =>
    reach.healthy && at - boundMs > healthySince ? Math.max(toldAt, at - boundMs) : toldAt

  /** The parts of a key's history that touch a stretch of time, cut to it. */
  const within = (
    key: string,
    from: number,
    to: number,
  ): { from: number; to: number; reasons: Reason[] }[] => {
    const all = segments.get(key) ?? []
    const first = all.findLastIndex((part) => part.from < from)
    return all.slice(Math.max(0, first)).map((part, i, parts) => ({
      from: Math.max(part.from, from),
      to: parts[i + 1]?.from ?? to,
      reasons: part.reasons,
    }))
  }

  function changeKnoc(id: string, change: Partial<Omit<Knoc, 'id'>> | 'deleted'): void {
    const knoc = knocs.find((known) => known.id === id)
    const own = [...grants].filter(([, grant]) => grant.knoc.id === id)
    if (change === 'deleted') {
      for (const [grant] of own) grants.delete(grant)
      return
    }
    if (knoc) Object.assign(knoc, change)
    const seconds = change.maximumGrantSeconds
    if (seconds === undefined || seconds === null) return
    for (const [, grant] of own) grant.endsAt = Math.min(grant.endsAt, grant.at + seconds * 1000)
  }

  return {
    /** What was granted against the rules, in words; null when nothing was. */
    unlawful: (): string | null => unlawful,

    note(fact: Fact, at: number): void {
      if (fact.type === 'reach') {
        if (reach.contact) truthAt = at
        toldAt = lastTold(at)
        if (fact.healthy && !reach.healthy) healthySince = at
        if (fact.steady && !reach.steady) steadySince = at
        reach = fact
        return
      }
      const knoc = fact.type === 'granted' ? knocs.find(({ id }) => id === fact.knoc) : undefined
      if (fact.type === 'granted' && knoc) {
        const own = at + (knoc.maximumGrantSeconds ?? Infinity) * 1000
        const endsAt = Math.min(own, sessionEnds.get(fact.session) ?? 0)
        grants.set(fact.grant, { session: fact.session, knoc, endsAt, at })
        if (licence !== 'inForce') unlawful = `${fact.grant} was given without a licence`
      }
      if (fact.type === 'revoked') grants.delete(fact.grant)
      if (fact.type === 'session') {
        counting[fact.counts ? 'add' : 'delete'](fact.session)
        sessionEnds.set(fact.session, fact.endsAt)
      }
      if (fact.type === 'session')
        for (const grant of grants.values())
          if (grant.session === fact.session) grant.endsAt = Math.min(grant.endsAt, fact.endsAt)
      if (fact.type === 'holds') held.set(fact.session, { own: fact.addresses, discovered: fact.discovered })
      if (fact.type === 'entitled') without[fact.entitled ? 'delete' : 'add'](`${fact.session}|${fact.knoc}`)
      if (fact.type === 'licence') licence = fact.standing
      if (fact.type === 'knoc') changeKnoc(fact.knoc, fact.change)
      if (fact.type === 'restricted')
        restricted[fact.restricted ? 'add' : 'delete'](`${fact.knoc}|${fact.address}`)
      for (const [key, parts] of segments) {
        const reasons = reasonsOf(key)
        if (reasons.length > 0 || (parts.at(-1)?.reasons.length ?? 0) > 0) parts.push({ from: at, reasons })
      }
    },

    /** `slackMs`: rounding and a clock known to be slow. `ruled`: somebody is there to mind the silence. */
    mayStand(key: string, at: number, { slackMs, ruled }: { slackMs: number; ruled: boolean }): boolean {
      const heardAt = reach.contact ? at : truthAt
      return within(key, lastTold(at), at).some(({ from, reasons }) => {
        const live = reasons.filter(({ endsAt }) => endsAt > from && at < endsAt + slackMs)
        const longest = Math.max(
          ...reasons.filter(({ endsAt }) => endsAt > from).map((reason) => reason.silenceSeconds ?? 0),
        )
        return live.some(
          ({ silenceSeconds }) =>
            !ruled || silenceSeconds === null || at < heardAt + longest * 1000 + slackMs,
        )
      })
    },

    mustStand(key: string, at: number): boolean {
      const hasNeverHadReason = segments.get(key)?.length === 1
      if (hasNeverHadReason) return false
      const hasReason = (reasons: Reason[], to: number) => reasons.some(({ endsAt }) => endsAt > to)
      if (reach.healthy && at - healthySince > boundMs)
        return within(key, at - boundMs, at).every(({ reasons, to }) => hasReason(reasons, to))
      const from = lastTold(at) - extensionMs - boundMs
      if (!reach.steady || from < steadySince) return false
      const parts = within(key, from, at)
      return (parts[0]?.reasons ?? []).some(
        ({ grant, endsAt, silenceSeconds }) =>
          silenceSeconds === null &&
          endsAt > at &&
          parts.every(({ reasons }) =>
            reasons.some((reason) => reason.grant === grant && reason.endsAt > at),
          ),
      )
    },

    /** The latest end that any truth since the agent was last told allows. */
    latestEnd: (key: string, at: number): number =>
      Math.max(
        0,
        ...within(key, lastTold(at), at).flatMap(({ from, reasons }) =>
          reasons.flatMap(({ endsAt }) => (endsAt > from ? [endsAt] : [])),
        ),
      ),

    /** The true end at this moment, 0 without a reason. */
    trueEnd: (key: string, at: number): number => {
      const now = segments.get(key)?.at(-1)?.reasons ?? []
      return Math.max(0, ...now.map(({ endsAt }) => (endsAt > at ? endsAt : 0)))
    },
  }
}

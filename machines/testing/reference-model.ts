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
  | { type: 'holds'; session: number; addresses: string[] }
  | { type: 'restricted'; knoc: string; address: string; restricted: boolean }
  /** `contact`: the agent hears the truth; `healthy`: orders arrive in time as well; `steady`: it ran on, clock known. */
  | { type: 'reach'; contact: boolean; healthy: boolean; steady: boolean }

type Reason = { grant: string; endsAt: number; silenceSeconds: number | null }
type Segment = { from: number; reasons: Reason[] }
type Knoc = {
  id: string
  targetId: string
  silenceSeconds: number | null
  maximumGrantSeconds: number | null
}

/** How long a healthy link may take until what is ordered stands. */
export const boundMs = 6_000
/** A later end may take this long to be ordered. */
const extensionMs = 30_000

/** The reference, fed with facts in the order of their times. */
export function createReference(knocs: readonly Knoc[], keys: readonly string[], beginning: number) {
  const grants = new Map<string, { session: number; knoc: Knoc; endsAt: number }>()
  const counting = new Set<number>()
  const sessionEnds = new Map<number, number>()
  const held = new Map<number, string[]>()
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
      (held.get(session) ?? []).some(
        (address) => `${knoc.targetId}|${address}` === key && !restricted.has(`${knoc.id}|${address}`),
      )
        ? [{ grant, endsAt, silenceSeconds: knoc.silenceSeconds }]
        : [],
    )

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

  return {
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
        grants.set(fact.grant, { session: fact.session, knoc, endsAt })
      }
      if (fact.type === 'revoked') grants.delete(fact.grant)
      if (fact.type === 'session') {
        counting[fact.counts ? 'add' : 'delete'](fact.session)
        sessionEnds.set(fact.session, fact.endsAt)
      }
      if (fact.type === 'holds') held.set(fact.session, fact.addresses)
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
          parts.every(({ reasons }) => reasons.some((reason) => reason.grant === grant)),
      )
    },

    /** The latest end that any truth since the agent was last told allows. */
    latestEnd: (key: string, at: number): number =>
      Math.max(
        0,
        ...within(key, lastTold(at), at).flatMap((part) => part.reasons.map(({ endsAt }) => endsAt)),
      ),

    /** The true end at this moment, 0 without a reason. */
    trueEnd: (key: string, at: number): number => {
      const now = segments.get(key)?.at(-1)?.reasons ?? []
      return Math.max(0, ...now.map(({ endsAt }) => (endsAt > at ? endsAt : 0)))
    },
  }
}

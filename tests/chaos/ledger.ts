/** One person's hold on one knoc by one session, from one address: what was answered, and what that allows. */
export type Claim = {
  person: string
  session: string
  knoc: string
  address: string
  /** The door may be open for it, until then. Unix ms throughout. */
  may: boolean
  mayUntil: number
  /** The door has to be open for it, until then. */
  must: boolean
  mustUntil: number
}

/** Whom an act is about, and what it does to their claims. */
export type Act = {
  what: string
  scope: (claim: Claim) => boolean
  /**
   * `open` makes the door legal at once, until `latest`; `close` frees from having to be open; `end` does so at `at`;
   * `learn` asks how it is and changes nothing.
   */
  effect:
    | { kind: 'open'; latest: number }
    | { kind: 'close' }
    | { kind: 'end'; at: number }
    | { kind: 'learn' }
}

/** How an act ended: `done` with the end that was answered, `refused` without having changed a thing; after `lost` both are legal. */
export type Outcome =
  | { kind: 'done'; until?: number }
  | { kind: 'refused' }
  | { kind: 'lost'; lingerMs: number }

/** An act that is under way. */
export type Flying = { end: (outcome: Outcome | ((claim: Claim) => Outcome), at: number) => void }

/** Where a knoc's door is: one that has to be, and while an edit is under way or its answer lost, both that may be. */
type Place = { may: Set<string>; must: string | null }

type Kept = Claim & {
  flying: Set<Act>
  /** Acts that had company: their order is nobody's to know. */
  mixed: Set<Act>
  /** An answer to what was asked before this settles nothing. */
  doubtUntil: number
  before: Map<Act, State>
}

/** What the judge asks of one door and one address. */
export type Right = { mayUntil: number; must: boolean; mustUntil: number; claims: Claim[] }

/** A request whose connection was lost may still be carried out for as long as a server can work on it. */
export const lingerMs = 12_000
/** One that was answered by a failure is over; what it did is done. */
export const failedLingerMs = 500

export type Ledger = ReturnType<typeof createLedger>

/**
 * Who is entitled to which door, from nothing but what was asked and answered: the storm's own books, held against
 * what the probe sees. A question makes legal whatever it may lead to; its answer makes it certain. Acts on the same
 * claim that overlap, and acts whose answer was lost, leave both legal until an answer that has no company.
 */
export function createLedger({ onChange = () => undefined }: { onChange?: (at: number) => void } = {}) {
  const claims: Kept[] = []
  const places = new Map<string, Place>()
  const flying = new Map<Act, number>()

  function claimOf(key: Pick<Claim, 'person' | 'session' | 'knoc' | 'address'>, at: number): Kept {
    const known = claims.find(
      (claim) => claim.session === key.session && claim.knoc === key.knoc && claim.address === key.address,
    )
    if (known !== undefined) return known
    const claim: Kept = {
      ...key,
      may: false,
      mayUntil: 0,
      must: false,
      mustUntil: 0,
      flying: new Set(),
      mixed: new Set(),
      doubtUntil: 0,
      before: new Map(),
    }
    claims.push(claim)
    for (const [act] of flying) if (act.scope(claim)) join(claim, act, at)
    return claim
  }

  function join(claim: Kept, act: Act, at: number): void {
    claim.before.set(act, pick(claim))
    for (const other of claim.flying) {
      claim.mixed.add(other)
      claim.mixed.add(act)
    }
    if (at < claim.doubtUntil) claim.mixed.add(act)
    claim.flying.add(act)
    const { effect } = act
    if (effect.kind === 'open') {
      claim.mayUntil = claim.may ? Math.max(claim.mayUntil, effect.latest) : effect.latest
      claim.may = true
    } else if (effect.kind === 'close') claim.must = false
    else if (effect.kind === 'end') claim.mustUntil = Math.min(claim.mustUntil, effect.at)
  }

  function leave(claim: Kept, act: Act, outcome: Outcome, at: number): void {
    const before = claim.before.get(act) ?? pick(claim)
    const isMixed = claim.mixed.has(act)
    claim.flying.delete(act)
    claim.mixed.delete(act)
    claim.before.delete(act)
    if (outcome.kind === 'lost') {
      claim.doubtUntil = Math.max(claim.doubtUntil, at + outcome.lingerMs)
      // Whoever was asked in the meantime can't know either.
      for (const other of claim.flying) claim.mixed.add(other)
      claim.must &&= act.effect.kind !== 'close'
    } else if (isMixed) {
      claim.doubtUntil = Math.max(claim.doubtUntil, at)
      if (outcome.kind === 'done' && act.effect.kind === 'close') claim.must = false
    } else if (outcome.kind === 'refused') Object.assign(claim, before)
    else settle(claim, act, { ...outcome, before })
  }

  /** Begins an act: what it may lead to is legal from now on. */
  function begin(act: Act, at: number): Flying {
    flying.set(act, at)
    for (const claim of claims) if (act.scope(claim)) join(claim, act, at)
    onChange(at)
    return {
      end: (outcome, endedAt) => {
        flying.delete(act)
        for (const claim of claims)
          if (claim.flying.has(act))
            leave(claim, act, typeof outcome === 'function' ? outcome(claim) : outcome, endedAt)
        onChange(endedAt)
      },
    }
  }

  const placeOf = (knoc: string): Place => places.get(knoc) ?? { may: new Set(), must: null }

  /** What is known of a door and an address at an instant. */
  function rightOf(door: string, address: string, at: number): Right {
    const concerned = claims.filter((claim) => claim.address === address && placeOf(claim.knoc).may.has(door))
    const allowed = concerned.filter(({ may }) => may)
    const entitled = concerned.filter(
      ({ must, mustUntil, knoc }) => must && mustUntil > at && placeOf(knoc).must === door,
    )
    return {
      mayUntil: Math.max(-Infinity, ...allowed.map(({ mayUntil }) => mayUntil)),
      must: entitled.length > 0,
      mustUntil: Math.max(-Infinity, ...entitled.map(({ mustUntil }) => mustUntil)),
      claims: concerned,
    }
  }

  return {
    begin,
    rightOf,
    /** Makes a claim known, so that acts can be about it; nothing is allowed by it yet. */
    claim: (key: Pick<Claim, 'person' | 'session' | 'knoc' | 'address'>, at: number): Claim =>
      claimOf(key, at),
    claims: (): readonly Claim[] => claims,
    /** Where a knoc's door is. `mayAlso` is another place that it may be at, then nobody has to find it anywhere. */
    place: (knoc: string, door: string, at: number, mayAlso?: string) => {
      const isSure = mayAlso === undefined
      places.set(knoc, { may: new Set(isSure ? [door] : [door, mayAlso]), must: isSure ? door : null })
      onChange(at)
    },
    doorOf: (knoc: string) => placeOf(knoc).must,
  }
}

type State = Pick<Claim, 'may' | 'mayUntil' | 'must' | 'mustUntil'>

function settle(claim: Kept, { effect }: Act, { until, before }: { until?: number; before: State }): void {
  if (effect.kind === 'learn' && until === undefined) Object.assign(claim, { may: false, must: false })
  else if (effect.kind === 'open' || effect.kind === 'learn') {
    if (until !== undefined)
      Object.assign(claim, { may: true, mayUntil: until, must: true, mustUntil: until })
    // A click is not taken while a close is on its way. Somebody who had to be in still has to be.
    else Object.assign(claim, before.must ? before : { may: false, must: false })
  } else if (effect.kind === 'close') Object.assign(claim, { may: false, must: false })
  else {
    claim.mayUntil = Math.min(claim.mayUntil, effect.at)
    claim.mustUntil = Math.min(claim.mustUntil, effect.at)
  }
}

const pick = ({ may, mayUntil, must, mustUntil }: Claim): State => ({ may, mayUntil, must, mustUntil })

/**
 * Which addresses a session holds: access follows the user without flapping and without following a thief.
 *
 * Pure; instants are milliseconds. Only the portal's own re-validation request, or a name of one family, may bring an
 * `own` address, only an address the server itself saw a `discovered` one, and only a foreign lookup service that an
 * administrator trusts a `claimed` one. Decisions 8, 14; specification README "Two families, one session".
 */

/**
 * How an address came to a session: by the portal's own look, by a lookup port of ours that saw it, or by the word
 * of a foreign lookup service.
 */
export type AddressSource = 'own' | 'discovered' | 'claimed'

/** An address of a session: held now, or left within the last hour (kept to recognise flapping and haste). */
export type HeldAddress = {
  address: string
  family: 4 | 6
  source: AddressSource
  /** Knocs that it counts for; null is every one. An own address counts for every one. */
  onlyFor: readonly string[] | null
  firstSeenAt: number
  seenAt: number
  /** Null while held. */
  leftAt: number | null
  /** Set when another own address changed: dropped a minute later unless seen again. */
  doubtedAt: number | null
}

/** One look at where the session's browser is. */
export type SeenAddress = {
  address: string
  family: 4 | 6
  at: number
  /** Own unless said. */
  source?: AddressSource
  /** The one knoc that it was named for; every one unless said. */
  onlyFor?: string
}

/** What happened, for the audit log and the user. */
export type AddressEvent =
  | { type: 'moved'; from: string[]; to: string }
  | { type: 'joined'; address: string; reason: 'family' | 'flapping' | 'discovered' | 'claimed' }
  | { type: 'dropped'; address: string; reason: 'notSeenAgain' | 'limit' | 'notTrusted' }
  | { type: 'refused'; address: string; reason: 'tooManyNew' | 'limit' }

/** What a look changes. `addresses` replaces what was stored, left ones included. */
export type AddressVerdict = {
  addresses: HeldAddress[]
  /** The own address changed within its family. */
  moved: { from: string[]; to: string } | null
  /** Too many new addresses: nothing was opened, nothing closed; the user is to sign in again. */
  needsSignIn: boolean
  events: AddressEvent[]
}

/** Two addresses that come back within this time are both held; the one not seen for as long is dropped. */
export const flappingMs = 5 * 60_000
/** The other family's address is dropped unless it is seen again within this time. */
export const seenAgainMs = 60_000
/** How long a left address is remembered. */
export const rememberedMs = 60 * 60_000
/** More new own addresses than this in an hour ask for sign-in. */
export const newAddressesAnHour = 6
/** Addresses a session holds at most, discovered and claimed ones included. */
export const heldAtMost = 4

/** The session's addresses after it was seen at an address. The first look of a session is its sign-in. */
export function moveAddress(held: readonly HeldAddress[], seen: SeenAddress): AddressVerdict {
  const settled = settleAddresses(held, seen.at)
  const known = settled.addresses.find((row) => row.address === seen.address)
  if (known?.leftAt === null) return renewed(settled, known, seen)
  if (isExtra(seen)) return joinedExtra(settled, seen)
  if (hasTooManyNew(settled.addresses, seen)) return refused(settled, seen, 'tooManyNew')

  const rivals = settled.addresses.filter((row) => isHeldOwn(row) && row.family === seen.family)
  if (rivals.length === 0) return joined(settled, seen, 'family')
  if (isFlapping(known, rivals, seen)) return joined(settled, seen, 'flapping')
  return moved(settled, seen, rivals)
}

/**
 * The same without a look: what was not seen again in time is dropped. Ask by `nextDropAt`, and before each look.
 */
export function settleAddresses(held: readonly HeldAddress[], now: number): AddressVerdict {
  const signIn = firstOwn(held)
  const kept = held.filter((row) => row.leftAt === null || now - row.leftAt < rememberedMs || row === signIn)
  const overdue = kept.filter((row) => row.leftAt === null && dropsAt(row, kept) <= now)
  return {
    addresses: kept.map((row) => (overdue.includes(row) ? { ...row, leftAt: now, doubtedAt: null } : row)),
    moved: null,
    needsSignIn: false,
    events: overdue.map(({ address }) => ({ type: 'dropped', address, reason: 'notSeenAgain' })),
  }
}

/** When the next address is dropped unless it is seen again; null when none is in question. */
export function nextDropAt(held: readonly HeldAddress[]): number | null {
  const next = Math.min(...held.filter((row) => row.leftAt === null).map((row) => dropsAt(row, held)))
  return Number.isFinite(next) ? next : null
}

/** The addresses a session holds now. */
export const heldAddresses = (held: readonly HeldAddress[]): HeldAddress[] =>
  held.filter((row) => row.leftAt === null)

const isHeldOwn = (row: HeldAddress): boolean => row.leftAt === null && row.source === 'own'

/** Left lately, and so is the last look at whatever took its place. */
const isFlapping = (
  known: HeldAddress | undefined,
  rivals: readonly HeldAddress[],
  { at }: SeenAddress,
): boolean =>
  known !== undefined &&
  known.leftAt !== null &&
  at - known.leftAt <= flappingMs &&
  rivals.some((rival) => at - rival.seenAt < flappingMs)

/** Of two own addresses of one family the one not seen for long goes; the last one seen stays. */
function dropsAt(row: HeldAddress, all: readonly HeldAddress[]): number {
  const doubted = row.doubtedAt === null ? Infinity : row.doubtedAt + seenAgainMs
  const isOutlived = all.some(
    (other) =>
      isHeldOwn(other) &&
      other.family === row.family &&
      (other.seenAt > row.seenAt || (other.seenAt === row.seenAt && other.address > row.address)),
  )
  return isHeldOwn(row) && isOutlived ? Math.min(doubted, row.seenAt + flappingMs) : doubted
}

/** Whether an address was seen beside the session's own. */
export const isExtra = (seen: SeenAddress): seen is SeenAddress & { source: 'discovered' | 'claimed' } =>
  seen.source !== undefined && seen.source !== 'own'

/**
 * An extra address that shows up as the session's own is its own from then on, and a claimed one that is proven is
 * discovered; what was named for one knoc and then for another, or for all, has joined anew.
 */
function renewed(settled: AddressVerdict, known: HeldAddress, seen: SeenAddress): AddressVerdict {
  const row: HeldAddress = {
    ...known,
    seenAt: seen.at,
    doubtedAt: null,
    source: strongerOf(known.source, seen.source ?? 'own'),
    onlyFor: widened(known.onlyFor, seen),
  }
  const addresses = settled.addresses.map((other) => (other === known ? row : other))
  const isNewlyOwn = !isExtra(seen) && known.source !== 'own'
  if (!isNewlyOwn && row.onlyFor?.length === known.onlyFor?.length) return { ...settled, addresses }
  const reason = isExtra(seen) ? seen.source : 'flapping'
  // An own one beside it that was not seen for long goes at once.
  const after = settleAddresses(addresses, seen.at)
  const joining: AddressEvent = { type: 'joined', address: seen.address, reason }
  return { ...after, events: [...settled.events, joining, ...after.events] }
}

const strengths: readonly AddressSource[] = ['claimed', 'discovered', 'own']

const strongerOf = (one: AddressSource, two: AddressSource): AddressSource =>
  strengths.indexOf(one) > strengths.indexOf(two) ? one : two

function widened(onlyFor: readonly string[] | null, seen: SeenAddress): readonly string[] | null {
  if (onlyFor === null || !isExtra(seen) || seen.onlyFor === undefined) return null
  return onlyFor.includes(seen.onlyFor) ? onlyFor : [...onlyFor, seen.onlyFor]
}

/** The address of the sign-in is nobody's change; it is never forgotten, so that it isn't taken for one. */
const hasTooManyNew = (rows: readonly HeldAddress[], seen: SeenAddress): boolean => {
  const own = rows.filter((row) => row.source === 'own')
  if (own.some((row) => row.address === seen.address)) return false
  const signIn = firstOwn(rows)
  const recent = own.filter((row) => row !== signIn && seen.at - row.firstSeenAt < rememberedMs)
  return recent.length >= newAddressesAnHour
}

const firstOwn = (rows: readonly HeldAddress[]): HeldAddress | undefined =>
  rows.filter((row) => row.source === 'own').toSorted((a, b) => a.firstSeenAt - b.firstSeenAt)[0]

const refused = (
  settled: AddressVerdict,
  { address }: SeenAddress,
  reason: 'tooManyNew' | 'limit',
): AddressVerdict => ({
  ...settled,
  needsSignIn: reason === 'tooManyNew',
  events: [...settled.events, { type: 'refused', address, reason }],
})

/** At the limit an extra address takes the place of one that was not seen for long, else none. */
function joinedExtra(
  settled: AddressVerdict,
  seen: SeenAddress & { source: 'discovered' | 'claimed' },
): AddressVerdict {
  const held = heldAddresses(settled.addresses)
  const isStale = (row: HeldAddress) => row.source !== 'own' && seen.at - row.seenAt >= flappingMs
  if (held.length >= heldAtMost && !held.some(isStale)) return refused(settled, seen, 'limit')
  return joined(settled, seen, seen.source)
}

function joined(
  settled: AddressVerdict,
  seen: SeenAddress,
  reason: Extract<AddressEvent, { type: 'joined' }>['reason'],
): AddressVerdict {
  const added: AddressVerdict = {
    ...settled,
    addresses: withHeld(settled.addresses, seen),
    events: [...settled.events, { type: 'joined', address: seen.address, reason }],
  }
  return withinLimit(added, seen)
}

/** The whole family moves, everything else the session holds is in doubt. */
function moved(settled: AddressVerdict, seen: SeenAddress, rivals: readonly HeldAddress[]): AddressVerdict {
  const change = { from: rivals.map((row) => row.address), to: seen.address }
  const others = settled.addresses.map((row): HeldAddress => {
    if (rivals.includes(row)) return { ...row, leftAt: seen.at, doubtedAt: null }
    return row.leftAt === null ? { ...row, doubtedAt: row.doubtedAt ?? seen.at } : row
  })
  return {
    addresses: withHeld(others, seen),
    moved: change,
    needsSignIn: false,
    events: [...settled.events, { type: 'moved', ...change }],
  }
}

function withHeld(rows: readonly HeldAddress[], seen: SeenAddress): HeldAddress[] {
  const known = rows.find((row) => row.address === seen.address)
  return [
    ...rows.filter((row) => row !== known),
    {
      address: seen.address,
      family: seen.family,
      source: seen.source ?? 'own',
      onlyFor: isExtra(seen) && seen.onlyFor !== undefined ? [seen.onlyFor] : null,
      firstSeenAt: known?.firstSeenAt ?? seen.at,
      seenAt: seen.at,
      leftAt: null,
      doubtedAt: null,
    },
  ]
}

/** Over the limit the extra ones go first, then whatever was not seen for longest. */
function withinLimit(verdict: AddressVerdict, seen: SeenAddress): AddressVerdict {
  const held = heldAddresses(verdict.addresses)
  if (held.length <= heldAtMost) return verdict
  const spare = held
    .filter((row) => row.address !== seen.address)
    .toSorted((a, b) => Number(a.source === 'own') - Number(b.source === 'own') || a.seenAt - b.seenAt)
    .slice(0, held.length - heldAtMost)
  return {
    ...verdict,
    addresses: verdict.addresses.map((row) => (spare.includes(row) ? { ...row, leftAt: seen.at } : row)),
    events: [
      ...verdict.events,
      ...spare.map(({ address }): AddressEvent => ({ type: 'dropped', address, reason: 'limit' })),
    ],
  }
}

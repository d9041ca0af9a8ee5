import {
  type AddressEvent,
  type AddressVerdict,
  type HeldAddress,
  heldAddresses,
  isExtra,
  moveAddress,
  type SeenAddress,
  settleAddresses,
} from './address-move.ts'

/** The session's addresses after it was seen at several at once: none of them puts another one in doubt. */
export function moveAddresses(held: readonly HeldAddress[], seen: readonly SeenAddress[]): AddressVerdict {
  const ownFirst = seen.toSorted((a, b) => Number(isExtra(a)) - Number(isExtra(b)))
  let verdict: AddressVerdict = { addresses: [...held], moved: null, needsSignIn: false, events: [] }
  for (const look of ownFirst) verdict = following(verdict, look)
  const isHeld = (look: SeenAddress) =>
    heldAddresses(verdict.addresses).some(({ address }) => address === look.address)
  for (const look of ownFirst.filter(isHeld)) verdict = following(verdict, look)
  return verdict
}

/** Takes away what only a foreign lookup service said: its word counts no longer. */
export function dropClaimed(held: readonly HeldAddress[], now: number): AddressVerdict {
  const settled = settleAddresses(held, now)
  const claimed = heldAddresses(settled.addresses).filter(({ source }) => source === 'claimed')
  return {
    ...settled,
    addresses: settled.addresses.map((row) => (claimed.includes(row) ? { ...row, leftAt: now } : row)),
    events: [
      ...settled.events,
      ...claimed.map(({ address }): AddressEvent => ({ type: 'dropped', address, reason: 'notTrusted' })),
    ],
  }
}

/** One more look at what a verdict left. */
function following(before: AddressVerdict, seen: SeenAddress): AddressVerdict {
  const after = moveAddress(before.addresses, seen)
  return {
    addresses: after.addresses,
    moved: after.moved ?? before.moved,
    needsSignIn: before.needsSignIn || after.needsSignIn,
    events: [...before.events, ...after.events],
  }
}

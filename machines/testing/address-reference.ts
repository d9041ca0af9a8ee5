/**
 * What a session may and must hold, told a second time from nothing but when it was seen where:
 * the address last seen; of each other one only what was seen lately and is one of a pair that alternates, or
 * the other family's last, unless that was not seen for a minute after a move.
 */
type Look = { address: string; family: 4 | 6; at: number }

const minuteMs = 60_000

/** The reference for addresses, fed with the looks that were taken. */
export function createAddressReference() {
  const looks = new Map<number, Look[]>()

  /** When this family's address last became another one; one that had gone already is followed, not changed. */
  const lastChange = (all: readonly Look[], family: 4 | 6): number => {
    const own = all.filter((look) => look.family === family)
    const index = own.findLastIndex((look, i) => {
      const before = own[i - 1]
      if (!before || look.address === before.address) return false
      const gone = all
        .slice(0, all.indexOf(look))
        .some(
          (other, k) =>
            other.family !== family &&
            other.at > before.at &&
            look.at >= other.at + minuteMs &&
            all.slice(0, k).some((l) => l.family === other.family && l.address !== other.address),
        )
      return !gone
    })
    return own[index]?.at ?? -Infinity
  }

  const cameBack = (own: readonly Look[], newest: Look): boolean =>
    own.some(
      (look, i) => look.address === newest.address && own.slice(i).some((l) => l.address !== newest.address),
    )

  const wrongWith = (all: readonly Look[], address: string, now: number): string | null => {
    const last = all.findLast((look) => look.address === address)
    if (!last) return `holds ${address}, where it was never seen`
    const own = all.filter((look) => look.family === last.family)
    const newest = own.at(-1)
    if (!newest) return null
    if (newest.address !== address) {
      if (!cameBack(own, newest)) return `still holds ${address}, which it left`
      if (now - last.at > 5 * minuteMs) return `holds ${address}, not seen for five minutes`
      return null
    }
    const moved = lastChange(all, last.family === 4 ? 6 : 4)
    // Two that alternate are held together: going from one to the other is no move.
    const others = all.filter((look) => look.family !== last.family)
    const isPair = new Set(others.map((look) => look.address)).size < others.length
    if (!isPair && moved > last.at && now > moved + minuteMs)
      return `holds ${address} a minute after the other family moved`
    return null
  }

  return {
    signIn: (session: number, seen: Omit<Look, 'at'>, at: number): void => {
      looks.set(session, [{ ...seen, at }])
    },
    see: (session: number, seen: Omit<Look, 'at'>, at: number): void => {
      looks.get(session)?.push({ ...seen, at })
    },
    check(session: number, held: readonly string[], now: number): string | null {
      const all = looks.get(session) ?? []
      const newest = all.at(-1)
      if (held.length > 4) return 'holds more than four addresses'
      if (newest && !held.includes(newest.address)) return `does not hold ${newest.address}, where it is`
      const back = all.slice(-3)
      const [first, second, third] = back
      if (
        first &&
        second &&
        third &&
        first.address === third.address &&
        first.address !== second.address &&
        first.family === second.family &&
        third.at - first.at < 5 * minuteMs &&
        now - second.at < 5 * minuteMs &&
        !held.includes(second.address)
      )
        return `flaps between ${first.address} and ${second.address}`
      return held.map((address) => wrongWith(all, address, now)).find((wrong) => wrong !== null) ?? null
    },
  }
}

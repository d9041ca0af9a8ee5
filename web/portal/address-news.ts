import type { SessionAddress, UserStatus } from '#server/status/status.schema.ts'

/** What happened to a session's addresses. */
export type AddressNews =
  | { kind: 'moved'; from: string; to: string }
  /** An own address of the other family, or one of two that alternate. */
  | { kind: 'joined'; address: string }
  /** A lookup found it. */
  | { kind: 'found'; address: string }
  | { kind: 'dropped'; address: string }

/** The addresses a session holds; where the server doesn't list them, the one it sees. */
export const addressesOf = ({ Addresses, CurrentAddress }: UserStatus): readonly SessionAddress[] =>
  Addresses.length > 0 ? Addresses : [{ IP: CurrentAddress, Source: 'own' }]

/** What became of the addresses between two looks, moves first; each within its family (decision 14). */
export function addressNews(
  before: readonly SessionAddress[],
  after: readonly SessionAddress[],
): AddressNews[] {
  const moves = ([4, 6] as const).flatMap((family) => {
    const [gone] = own(before, family).filter((IP) => !holds(after, IP))
    const [come] = own(after, family).filter((IP) => !own(before, family).includes(IP))
    return gone && come ? [{ kind: 'moved', from: gone, to: come } as const] : []
  })
  const isTold = (IP: string) => moves.some(({ from, to }) => from === IP || to === IP)
  const come = after.filter(({ IP }) => !holds(before, IP) && !isTold(IP))
  const gone = before.filter(({ IP }) => !holds(after, IP) && !isTold(IP))
  return [
    ...moves,
    ...come.map(({ IP, Source }) => ({ kind: Source === 'own' ? 'joined' : 'found', address: IP }) as const),
    ...gone.map(({ IP }) => ({ kind: 'dropped', address: IP }) as const),
  ]
}

/**
 * Old and new news as one list in the fewest words: a way over several addresses is one move, and of what came and
 * went the last is told. The newest are kept.
 */
export function mergeNews(old: readonly AddressNews[], fresh: readonly AddressNews[]): AddressNews[] {
  return fresh.reduce<AddressNews[]>(addNews, [...old]).slice(-mostNews)
}

const mostNews = 4

function addNews(all: AddressNews[], next: AddressNews): AddressNews[] {
  if (next.kind === 'moved') {
    const first = all.find((news) => news.kind === 'moved' && news.to === next.from)
    if (first?.kind !== 'moved') return [...all, next]
    const rest = all.filter((news) => news !== first)
    return [...rest, first.from === next.to ? next : { ...next, from: first.from }]
  }
  const opposite = all.find(
    (news) =>
      news.kind !== 'moved' &&
      news.address === next.address &&
      (news.kind === 'dropped') !== (next.kind === 'dropped'),
  )
  return [...all.filter((news) => news !== opposite), next]
}

const own = (addresses: readonly SessionAddress[], family: 4 | 6): string[] =>
  addresses.filter(({ IP, Source }) => Source === 'own' && familyOf(IP) === family).map(({ IP }) => IP)

const holds = (addresses: readonly SessionAddress[], IP: string): boolean =>
  addresses.some((held) => held.IP === IP)

const familyOf = (IP: string): 4 | 6 => (IP.includes(':') ? 6 : 4)

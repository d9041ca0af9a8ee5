import { useCallback, useState } from 'react'
import type { SessionAddress } from '#server/status/status.schema.ts'
import { type AddressNews, addressesOf, addressNews, mergeNews } from './address-news.ts'
import type { UserSession } from './user-session.ts'

/** What a lookup finds so soon after a sign-in stands in the panel and is no news, in milliseconds. */
const settlingMs = 15_000

type Seen = { session: string; startedAt: number; addresses: readonly SessionAddress[] }

/** Every change of the session's addresses, until it is dismissed (decision 14). */
export function useAddressNews(session: UserSession | null | undefined): {
  news: readonly AddressNews[]
  dismissNews: () => void
} {
  const [seen, setSeen] = useState<Seen | null>(null)
  const [news, setNews] = useState<readonly AddressNews[]>([])
  const status = session?.status
  const addresses = status && addressesOf(status)
  if (status && addresses && !(seen?.session === status.Session && isSame(seen.addresses, addresses))) {
    const now = Date.parse(status.Now)
    const isNewSession = seen?.session !== status.Session
    setSeen({ session: status.Session, startedAt: isNewSession ? now : seen.startedAt, addresses })
    const isSettling = isNewSession || now - seen.startedAt < settlingMs
    const told = addressNews(seen?.addresses ?? addresses, addresses).filter(({ kind }) =>
      kind === 'dropped' ? !isNewSession : kind === 'moved' || !isSettling,
    )
    if (told.length > 0) setNews((before) => mergeNews(before, told))
  }
  return { news, dismissNews: useCallback(() => setNews([]), []) }
}

const isSame = (a: readonly SessionAddress[], b: readonly SessionAddress[]): boolean =>
  a.length === b.length && a.every(({ IP, Source }, at) => b[at]?.IP === IP && b[at].Source === Source)

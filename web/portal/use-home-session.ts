import { useQueryClient } from '@tanstack/react-query'
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { useNow } from '../components/use-now.ts'
import { browserStorage } from '../shell/browser-storage.ts'
import type { AddressNews } from './address-news.ts'
import { hasPastEnd } from './entry-view.ts'
import { listenLive } from './live-events.ts'
import { createLooks, type Look, type Looks } from './looks.ts'
import { onNetworkChange, onOffline, onReturn } from './network-changes.ts'
import { useAddressNews } from './use-address-news.ts'
import { useDiscovery } from './use-discovery.ts'
import { endIfExpired, refreshSession, type UserSession, useUserSession } from './user-session.ts'

/**
 * The address is re-validated so often while the page is open, in milliseconds; that reads the status as well, passive
 * entries included. Portal §9.
 */
const revalidateEveryMs = 30_000
/** A past end asks for a fresh status at most so often. Specification README "Whose clock". */
const pastEndPauseMs = 5_000

export type HomeSession = {
  session: UserSession | null | undefined
  /** Why the last look failed; what is on screen stays. */
  failure: unknown
  /** The browser says that it has no network, and no look since has shown otherwise. */
  isOffline: boolean
  /** What became of the session's addresses, until dismissed. */
  news: readonly AddressNews[]
  dismissNews: () => void
  retry: () => void
}

/** Keeps the dashboard's status true: re-validation every 30 s, live hints, ends that pass, changes of address. */
export function useHomeSession(): HomeSession {
  const queryClient = useQueryClient()
  const { session, error } = useUserSession()
  const [failure, setFailure] = useState<unknown>(null)
  const [isOffline, setIsOffline] = useState(() => !navigator.onLine)
  const wentOfflineAt = useRef(0)
  const looks = useRef<Looks | null>(null)

  const look: Look = useCallback(
    async (how) => {
      const begunAt = performance.now()
      try {
        await refreshSession(queryClient, how)
        if (how.signal.aborted) return
        setFailure(null)
        // An answer that was on its way when the network went says nothing about it.
        if (begunAt > wentOfflineAt.current) setIsOffline(false)
      } catch (cause) {
        // That ends this page as well, which gives up its looks: the reason is told all the same.
        if (endIfExpired(queryClient, cause)) return
        // Given up for another look, which says how things stand.
        if (!how.signal.aborted) setFailure(cause)
      }
    },
    [queryClient],
  )
  useEffect(() => {
    const made = createLooks(look)
    looks.current = made
    made.revalidate()
    const timer = setInterval(() => made.revalidate(), revalidateEveryMs)
    const stopListening = [
      onNetworkChange(() => made.revalidate({ isNewNetwork: true })),
      onReturn(() => made.revalidate()),
      onOffline((isGone) => {
        if (isGone) wentOfflineAt.current = performance.now()
        setIsOffline(isGone)
      }),
      () => made.stop(),
    ]
    return () => {
      clearInterval(timer)
      for (const stop of stopListening) stop()
    }
  }, [look])
  const tag = session?.status.Session
  useEffect(
    () => listenLive(() => looks.current?.refresh()),
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- a stream is that of one session
    [tag],
  )
  usePastEnds(session, looks)
  useAutoBrowse(session)
  useDiscovery(session)

  const retry = useCallback(() => looks.current?.revalidate(), [])
  return { session, failure: failure ?? error, isOffline, ...useAddressNews(session), retry }
}

function usePastEnds(session: UserSession | null | undefined, looks: RefObject<Looks | null>): void {
  const lastLook = useRef(0)
  const now = useNow(1_000)
  useEffect(() => {
    if (!session || now - lastLook.current < pastEndPauseMs) return
    if (!hasPastEnd(session.status.ACLs, now + session.offsetMs)) return
    lastLook.current = now
    looks.current?.refresh()
  }, [session, now, looks])
}

/** Goes to the one address that wants it, in the same tab, once a session. Specification README "AutoBrowse". */
function useAutoBrowse(session: UserSession | null | undefined): void {
  useEffect(() => {
    const target = session?.status.AutoBrowseToURI
    if (!session || !target || !/^https?:\/\//i.test(target)) return
    if (browserStorage.readSession('autoBrowseDone') === session.status.Session) return
    browserStorage.writeSession('autoBrowseDone', session.status.Session)
    window.location.assign(target)
  }, [session])
}

import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { isFailure } from '../api.ts'
import { useNow } from '../components/use-now.ts'
import { browserStorage } from '../shell/browser-storage.ts'
import { hasPastEnd } from './entry-view.ts'
import { listenLive } from './live-events.ts'
import { endSession, refreshSession, type UserSession, useUserSession } from './user-session.ts'

/** The address is re-validated so often while the page is open, in milliseconds. Portal §9. */
const revalidateEveryMs = 30_000
/** A past end asks for a fresh status at most so often. Specification README "Whose clock". */
const pastEndPauseMs = 5_000

export type HomeSession = {
  session: UserSession | null | undefined
  /** Why the last look failed; what is on screen stays. */
  failure: unknown
  /** The address before the last change, until dismissed. */
  movedFrom: string | null
  dismissMove: () => void
  retry: () => void
}

/** Keeps the dashboard's status true: re-validation every 30 s, live hints, ends that pass, changes of address. */
export function useHomeSession(): HomeSession {
  const queryClient = useQueryClient()
  const { session, error } = useUserSession()
  const [failure, setFailure] = useState<unknown>(null)

  const look = useCallback(
    async (isRevalidation: boolean) => {
      try {
        await refreshSession(queryClient, { isRevalidation })
        setFailure(null)
      } catch (cause) {
        setFailure(cause)
        if (isFailure(cause, 'err.sessionExpired')) endSession(queryClient, cause.code)
      }
    },
    [queryClient],
  )
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect -- state is set when the answer comes
    void look(true)
    const timer = setInterval(() => void look(true), revalidateEveryMs)
    const stopListening = listenLive(() => void look(false))
    const onReturn = () => document.visibilityState === 'visible' && void look(true)
    document.addEventListener('visibilitychange', onReturn)
    return () => {
      clearInterval(timer)
      stopListening()
      document.removeEventListener('visibilitychange', onReturn)
    }
  }, [look])
  usePastEnds(session, look)
  useAutoBrowse(session)

  const { movedFrom, dismissMove } = useMoves(session?.status.CurrentAddress)
  return { session, failure: failure ?? error, movedFrom, dismissMove, retry: () => void look(true) }
}

function usePastEnds(
  session: UserSession | null | undefined,
  look: (isRevalidation: boolean) => Promise<void>,
): void {
  const lastLook = useRef(0)
  const now = useNow(1_000)
  useEffect(() => {
    if (!session || now - lastLook.current < pastEndPauseMs) return
    if (!hasPastEnd(session.status.ACLs, now + session.offsetMs)) return
    lastLook.current = now
    void look(false)
  }, [session, now, look])
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

/** Every change of address is shown to the user (decision 14). */
function useMoves(address: string | undefined): { movedFrom: string | null; dismissMove: () => void } {
  const [seen, setSeen] = useState(address)
  const [movedFrom, setMovedFrom] = useState<string | null>(null)
  if (address !== undefined && address !== seen) {
    setSeen(address)
    if (seen !== undefined) setMovedFrom(seen)
  }
  return { movedFrom, dismissMove: useCallback(() => setMovedFrom(null), []) }
}

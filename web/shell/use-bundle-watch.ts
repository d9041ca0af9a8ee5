import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { browserStorage } from './browser-storage.ts'
import { type BundleSighting, confirmAfterMs, judgeBundle } from './bundle-watch.ts'
import { hasDirtyForm } from './dirty-forms.ts'
import { systemStatusQuery } from './system-status.ts'

/** The hash this page was built with; null when it wasn't built. */
const loadedHash = (): string | null =>
  document.querySelector('meta[name="bundle-hash"]')?.getAttribute('content') ?? null

/**
 * Asks for the system status after every navigation, loads a new bundle when there is one for good, and answers
 * whether to offer it instead. Portal §2, decision 35.
 */
export function useBundleWatch(location: string): { isOffered: boolean } {
  const queryClient = useQueryClient()
  const sighting = useRef<BundleSighting>(null)
  const [isOffered, setIsOffered] = useState(false)

  const check = useCallback(async () => {
    const named = await readHash(queryClient)
    if (named === null) return
    const verdict = judgeBundle({
      loaded: loadedHash(),
      named,
      sighting: sighting.current,
      now: Date.now(),
      reloadedFor: browserStorage.readSession('reloadedForHash'),
      isDirty: hasDirtyForm(),
    })
    sighting.current = verdict.sighting
    setIsOffered(verdict.action === 'offer')
    if (verdict.action !== 'reload') return
    browserStorage.writeSession('reloadedForHash', named)
    window.location.reload()
  }, [queryClient])

  useEffect(() => {
    void check()
    const timer = setInterval(() => sighting.current && void check(), confirmAfterMs + 1_000)
    return () => clearInterval(timer)
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- a navigation is what begins a look
  }, [check, location])
  return { isOffered }
}

async function readHash(queryClient: QueryClient): Promise<string | null> {
  try {
    return (await queryClient.fetchQuery({ ...systemStatusQuery, staleTime: 0 })).JsBundleHash
  } catch {
    return null
  }
}

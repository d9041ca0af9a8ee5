import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { browserStorage } from './browser-storage.ts'
import { type BundleSighting, confirmAfterMs, judgeBundle, loadedHash } from './bundle-watch.ts'
import { hasDirtyForm } from './dirty-forms.ts'
import { systemStatusQuery } from './system-status.ts'

/** Of so many bundles a tab remembers that it has reloaded for them. */
const rememberedReloads = 50

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
    keepLoaded()
    if (named === null) return
    const reloadedFor = toHashes(browserStorage.readSession('reloadedForHash'))
    const verdict = judgeBundle({
      loaded: loadedHash(),
      named,
      sighting: sighting.current,
      now: Date.now(),
      reloadedFor,
      isDirty: hasDirtyForm(),
    })
    sighting.current = verdict.sighting
    setIsOffered(verdict.action === 'offer')
    if (verdict.action !== 'reload') return
    browserStorage.writeSession('reloadedForHash', [named, ...reloadedFor].slice(0, rememberedReloads))
    window.location.reload()
  }, [queryClient])

  useEffect(() => {
    void check()
    const timer = setInterval(() => sighting.current && void check(), confirmAfterMs + 1_000)
    // Another tab runs another bundle already: a page on which nobody moves looks as well.
    const stopListening = browserStorage.onLocalChange('jsBundleHash', (hash) => {
      if (hash !== loadedHash()) void check()
    })
    return () => {
      clearInterval(timer)
      stopListening()
    }
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

/**
 * The bundle that this browser has loaded last, for its other tabs. Written once somebody is signed in: before, this
 * may be a public computer.
 */
function keepLoaded(): void {
  const keys = ['userSession', 'adminSession'] as const
  if (keys.every((key) => browserStorage.readSession(key) === undefined)) return
  const hash = loadedHash()
  if (hash !== null && browserStorage.readLocal('jsBundleHash') !== hash)
    browserStorage.writeLocal('jsBundleHash', hash)
}

const toHashes = (stored: unknown): string[] =>
  Array.isArray(stored) ? stored.filter((hash) => typeof hash === 'string') : []

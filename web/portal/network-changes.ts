/**
 * Where the browser says that its network may be another one now: back online, another connection, awake again.
 * Calls `act` for each; answers the way to stop.
 */
export function onNetworkChange(act: () => void): () => void {
  const heard = new AbortController()
  const { signal } = heard
  window.addEventListener('online', act, { signal })
  connection()?.addEventListener('change', act, { signal })
  // A page that was frozen, or kept for the way back, missed whatever happened meanwhile.
  document.addEventListener('resume', act, { signal })
  window.addEventListener('pageshow', ({ persisted }) => persisted && act(), { signal })
  return () => heard.abort()
}

/** Calls `act` when somebody returns to this page. Answers the way to stop. */
export function onReturn(act: () => void): () => void {
  const onVisible = () => document.visibilityState === 'visible' && act()
  document.addEventListener('visibilitychange', onVisible)
  return () => document.removeEventListener('visibilitychange', onVisible)
}

/** Calls `act` with whether the browser says that it has no network. Answers the way to stop. */
export function onOffline(act: (isOffline: boolean) => void): () => void {
  const tell = () => act(!navigator.onLine)
  window.addEventListener('offline', tell)
  window.addEventListener('online', tell)
  return () => {
    window.removeEventListener('offline', tell)
    window.removeEventListener('online', tell)
  }
}

/** Not every browser tells of its connection. */
const connection = (): EventTarget | undefined =>
  'connection' in navigator && navigator.connection instanceof EventTarget ? navigator.connection : undefined

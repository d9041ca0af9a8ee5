import { loadedHash } from './bundle-watch.ts'
import { whenIdle } from './when-idle.ts'

/**
 * Registers the worker that keeps hashed files (public/sw.js), when the page has loaded and has nothing better to do.
 * Browsers have workers on trustworthy origins only; a page that wasn't built has none.
 */
export function registerServiceWorker(): void {
  if (!isSecureContext || !('serviceWorker' in navigator) || loadedHash() === null) return
  whenIdle(register)
}

/** Without a worker everything works, only each file is asked for again. */
const register = () =>
  void navigator.serviceWorker.register('/sw.js', { updateViaCache: 'none' }).catch(() => null)

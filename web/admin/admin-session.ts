import type { AdminStatus } from '#server/status/status.schema.ts'
import { echoSession } from '../api.ts'
import { browserStorage } from '../shell/browser-storage.ts'

/** The last status of this page session; it holds no secret. Undefined when there is none. Spec README "Browser storage". */
export function readAdminSession(): AdminStatus | undefined {
  const stored = browserStorage.readSession('adminSession')
  // A tab may hold what an older console wrote: only a whole status is of use.
  const isWhole =
    typeof stored === 'object' && stored !== null && 'Licensing' in stored && 'Activity' in stored
  return isWhole ? (stored as AdminStatus) : undefined
}

/** Keeps the last status. */
export const writeAdminSession = (status: AdminStatus): void =>
  browserStorage.writeSession('adminSession', status)

/** Forgets this page session: signed out, or the session is gone. */
export function clearAdminSession(): void {
  echoSession(null)
  browserStorage.clearSession('adminSession')
  browserStorage.clearSession('dismissedBanners')
}

/** Banners dismissed in this page session. */
export function readDismissedBanners(): string[] {
  const ids = browserStorage.readSession('dismissedBanners')
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

/** Keeps which banners were dismissed. */
export const writeDismissedBanners = (ids: readonly string[]): void =>
  browserStorage.writeSession('dismissedBanners', ids)

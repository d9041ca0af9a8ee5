import type { UserStatus } from '#server/status/status.schema.ts'
import { echoSession } from '../api.ts'
import { browserStorage } from '../shell/browser-storage.ts'
import { tellSignIn } from '../signin/sign-in-news.ts'

/** The last status, with what the server's clock is ahead of the browser's, in milliseconds. */
export type UserSession = { status: UserStatus; offsetMs: number }

/** The session that the browser's other tabs know of, as far as this one has told them or was told. */
let toldOf: string | null = null

/** Takes up the tab's session from before a reload. */
export function restoreSession(): UserSession | null {
  const stored = browserStorage.readSession('userSession')
  if (!isUserSession(stored)) return null
  toldOf = stored.status.Session
  return keepSession(stored)
}

/** Keeps a session for the next load of this tab; one that is new here is told to the other tabs. */
export function keepSession(session: UserSession): UserSession {
  const { Session, Kiosk } = session.status
  echoSession(Session)
  browserStorage.setKiosk(Kiosk)
  browserStorage.writeSession('userSession', session)
  if (toldOf !== Session) tellSignIn({ realm: 'user', kind: 'signedIn', session: Session })
  toldOf = Session
  return session
}

/** Forgets what this tab keeps of a session; what is on screen stays. */
export function forgetSession(): void {
  toldOf = null
  echoSession(null)
  browserStorage.clearSession('userSession')
  browserStorage.clearSession('autoBrowseDone')
  browserStorage.setKiosk(false)
}

/** Whoever goes on with a new session isn't sent away once more. */
export function keepAutoBrowse(before: UserSession, after: UserSession): void {
  if (browserStorage.readSession('autoBrowseDone') === before.status.Session)
    browserStorage.writeSession('autoBrowseDone', after.status.Session)
}

const isUserSession = (value: unknown): value is UserSession =>
  typeof value === 'object' &&
  value !== null &&
  'offsetMs' in value &&
  'status' in value &&
  typeof value.status === 'object' &&
  value.status !== null &&
  ['ACLs', 'Addresses'].every((field) => Array.isArray((value.status as Record<string, unknown>)[field]))

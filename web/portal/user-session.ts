import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { navigate } from 'wouter/use-browser-location'
import type { UserStatus } from '#server/status/status.schema.ts'
import { ApiFailure, echoSession, isFailure } from '../api.ts'
import { browserStorage } from '../shell/browser-storage.ts'
import { freshFor } from '../shell/query-client.ts'
import type { SecondStep, SignedIn } from '../shell/routes.ts'
import { fetchStatus, revalidate } from './portal-api.ts'
import {
  forgetSession,
  keepAutoBrowse,
  keepSession,
  restoreSession,
  type UserSession,
} from './session-memory.ts'
import { isSigningOut } from './sign-out-state.ts'

export type { UserSession } from './session-memory.ts'

/** How far somebody is signed in: wholly, up to a step that is still to be made, not at all. */
type Standing = UserSession | SecondStep | null

const queryKey = ['userStatus'] as const

/**
 * A session that is said to be gone is asked for once more after this time, in milliseconds: whoever signs in again
 * ends the old session, and the news of that may be here before the new cookie is.
 */
const secondLookMs = 700

const pageReadAt = Date.now()
/** Asked once, when the page starts: what it came with says nothing later. */
let isPageSignedOut: boolean | undefined
const cameSignedOut = (): boolean => (isPageSignedOut ??= saysSignedOut())

/** How far the browser is signed in. An outage is an error and clears nothing. */
const standingQuery = queryOptions<Standing>({
  queryKey,
  queryFn: ({ signal, client }) => readStanding(client, () => fetchStatus({ signal })),
  initialData: () => (isSigningOut() ? null : (restoreSession() ?? (cameSignedOut() ? null : undefined))),
  initialDataUpdatedAt: () => (cameSignedOut() ? pageReadAt : 0),
  staleTime: freshFor.status,
})

/** How far somebody is signed in, for the guards. */
export function useSignedIn(isAsking: boolean): SignedIn {
  const { data, isError } = useQuery({ ...standingQuery, enabled: isAsking })
  if (data === undefined) return isError ? 'unreachable' : 'unknown'
  if (data === null) return 'no'
  return typeof data === 'string' ? data : 'yes'
}

/** The session of whoever is signed in, undefined until it is known, and why the last look failed. */
export function useUserSession(): { session: UserSession | null | undefined; error: unknown } {
  const { data, error } = useQuery({ ...standingQuery, retry: false })
  return { session: data === undefined ? undefined : toSession(data), error }
}

/** The session as it is known now. */
export const knownSession = (client: QueryClient): UserSession | null =>
  toSession(client.getQueryData<Standing>(queryKey) ?? null)

/** Reads the status past every cache; `isRevalidation` lets access follow the address. An abort throws its reason. */
export async function refreshSession(
  client: QueryClient,
  { isRevalidation = false, signal }: { isRevalidation?: boolean; signal?: AbortSignal } = {},
): Promise<UserSession | null> {
  await client.cancelQueries({ queryKey })
  const standing = await readStanding(client, () => (isRevalidation ? revalidate : fetchStatus)({ signal }))
  client.setQueryData<Standing>(queryKey, standing)
  return toSession(standing)
}

/**
 * Asks anew with whatever cookie the browser has by now. The same account signed in again: this page goes on with the
 * new session. Another account: the page starts anew (decision 40). Nobody: the guards lead to the login.
 */
export function settleSession(client: QueryClient, { waitMs = 0 } = {}): Promise<Standing> {
  settling ??= settle(client, waitMs).finally(() => {
    settling = null
  })
  return settling
}
let settling: Promise<Standing> | null = null

/** A session that the server says is gone: believed when it is said twice. Half a session is believed gone at once. */
export async function confirmLoss(client: QueryClient): Promise<Standing> {
  if (knownSession(client)) return settleSession(client, { waitMs: secondLookMs })
  clearSession(client)
  return null
}

/** The server asks for a second step, by the code of its refusal. The guards then lead there. */
export async function takeStep(client: QueryClient, code: string): Promise<void> {
  const step = await toStep(code)
  if (step === null) return
  forgetSession()
  client.setQueryData<Standing>(queryKey, step)
}

/** Changes what is known of one entry, until the next status says it anew. */
export function patchEntry(
  client: QueryClient,
  aclId: string,
  change: { Status: number; ExpiredAfter: string | null },
): void {
  const session = knownSession(client)
  if (session === null) return
  const ACLs = session.status.ACLs.map((acl) =>
    acl.ACLID === aclId ? { ...acl, ...change, Error: null } : acl,
  )
  const next: Standing = { ...session, status: { ...session.status, ACLs } }
  client.setQueryData<Standing>(queryKey, next)
}

/** Forgets who was signed in; answers that are still on their way count no more. The guards then lead to the login. */
export function clearSession(client: QueryClient): void {
  clearings += 1
  forgetSession()
  client.setQueryData<Standing>(queryKey, null)
}
/** How often this page has forgotten a session. */
let clearings = 0

/**
 * Whether the session is over, which the countdown says by this browser's clock: the server is asked, because a clock
 * may have been set meanwhile. What can't be asked is believed.
 */
export async function confirmEnd(client: QueryClient): Promise<boolean> {
  const session = await refreshSession(client).catch(() => null)
  return session === null || Date.parse(session.status.Ends) <= Date.now() + session.offsetMs
}

/** Forgets who was signed in and leads to the login, which says why. */
export function endSession(client: QueryClient, code: string): void {
  clearSession(client)
  // After the guards have heard of it: before, they would lead back.
  queueMicrotask(() => navigate(`/?error=${code}`, { replace: true }))
}

/** Leads to the login when the server wants a new sign-in, with the reason it gives (too many addresses, say). */
export function endIfExpired(client: QueryClient, error: unknown): boolean {
  if (!isFailure(error, 'err.sessionExpired')) return false
  endSession(client, error.extra?.startsWith('err.') ? error.extra : error.code)
  return true
}

const toSession = (standing: Standing): UserSession | null => (typeof standing === 'string' ? null : standing)

async function settle(client: QueryClient, waitMs: number): Promise<Standing> {
  const before = knownSession(client)
  const begun = clearings
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  echoSession(null)
  const standing = await askStanding(() => fetchStatus())
  if (begun !== clearings) return standingNow(client)
  const after = toSession(standing)
  if (before && after && before.status.UserName !== after.status.UserName) {
    clearSession(client)
    location.reload()
    return null
  }
  if (after === null) forgetSession()
  else keepSession(after)
  if (before && after) keepAutoBrowse(before, after)
  client.setQueryData<Standing>(queryKey, standing)
  if (before && standing === null && hasRunOut(before)) endSession(client, 'err.sessionExpired')
  return standing
}

/** Whether a session that is gone has come to its own end, seconds taken generously: its owner is told so. */
const hasRunOut = ({ status, offsetMs }: UserSession): boolean =>
  Date.parse(status.Ends) <= Date.now() + offsetMs + 2_000

/** Reads how far somebody is signed in; an older answer that comes late doesn't replace a newer one. */
async function readStanding(client: QueryClient, read: () => Promise<UserStatus>): Promise<Standing> {
  const known = knownSession(client)
  const begun = clearings
  try {
    const standing = await askStanding(read)
    if (begun !== clearings) return standingNow(client)
    if (standing === null && known) return await confirmLoss(client)
    const session = toSession(standing)
    if (session === null) {
      forgetSession()
      return standing
    }
    const newest = knownSession(client)
    const isOld = newest?.status.Session === session.status.Session && newest.status.Now > session.status.Now
    return isOld ? newest : keepSession(session)
  } catch (error) {
    if (isFailure(error, 'err.sessionChanged')) return settleSession(client)
    if (isFailure(error, 'err.sessionExpired')) clearSession(client)
    throw error
  }
}

const standingNow = (client: QueryClient): Standing => client.getQueryData<Standing>(queryKey) ?? null

/** One question and its answer: 401 means that nobody is signed in, a second step that is asked for not yet wholly. */
async function askStanding(read: () => Promise<UserStatus>): Promise<Standing> {
  try {
    const status = await read()
    return { status, offsetMs: Date.parse(status.Now) - Date.now() }
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.code === 'err.sessionExpired') throw error
    const step = await toStep(error.code)
    if (step === null && error.status !== 401) throw error
    return step
  }
}

/** What the shared machine makes of a refusal; it is loaded when it is needed. */
async function toStep(code: string): Promise<SecondStep | null> {
  if (!code.startsWith('err.totp')) return null
  const { signInStateAfter } = await import('./sign-in-flow.ts')
  const state = signInStateAfter(code)
  return state === 'verifyingTotp' || state === 'enrolling' ? state : null
}

/**
 * Whether this page came without a session's cookie, by the server's word: then it needs no status to know that nobody
 * is signed in. A page out of a cache knows nothing, and a tab that was signed in asks.
 */
function saysSignedOut(): boolean {
  const [load] = performance.getEntriesByType('navigation')
  return (
    document.documentElement.dataset['session'] === 'none' &&
    load instanceof PerformanceNavigationTiming &&
    load.transferSize > 0 &&
    browserStorage.readSession('userSession') === undefined
  )
}

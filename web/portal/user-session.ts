import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { UserStatus } from '#server/status/status.schema.ts'
import { ApiFailure, echoSession } from '../api.ts'
import { browserStorage } from '../shell/browser-storage.ts'
import type { SignedIn } from '../shell/routes.ts'
import { fetchStatus, revalidate } from './portal-api.ts'

/** The last status, with what the server's clock is ahead of the browser's, in milliseconds. */
export type UserSession = { status: UserStatus; offsetMs: number }

const queryKey = ['userStatus'] as const

/** The status of whoever is signed in; null when nobody is. An outage is an error and clears nothing. */
export const userSessionQuery = queryOptions<UserSession | null>({
  queryKey,
  queryFn: ({ signal, client }) => readSession(client, () => fetchStatus({ signal })),
  initialData: () => restoreSession() ?? undefined,
  initialDataUpdatedAt: 0,
  staleTime: 3 * 60_000,
})

/** Whether somebody is signed in, for the guards. */
export function useSignedIn(isAsking: boolean): SignedIn {
  const { data, isError } = useQuery({ ...userSessionQuery, enabled: isAsking })
  if (data === undefined) return isError ? 'unreachable' : 'unknown'
  return data === null ? 'no' : 'yes'
}

/** Reads the status past every cache; `isRevalidation` lets access follow the address. */
export async function refreshSession(
  client: QueryClient,
  { isRevalidation = false }: { isRevalidation?: boolean } = {},
): Promise<UserSession | null> {
  await client.cancelQueries({ queryKey })
  const session = await readSession(client, isRevalidation ? revalidate : () => fetchStatus())
  client.setQueryData(queryKey, session)
  return session
}

/** Changes what is known of one entry, until the next status says it anew. */
export function patchEntry(
  client: QueryClient,
  aclId: string,
  change: { Status: number; ExpiredAfter: string | null },
): void {
  client.setQueryData<UserSession | null>(queryKey, (session) =>
    session
      ? {
          ...session,
          status: {
            ...session.status,
            ACLs: session.status.ACLs.map((acl) =>
              acl.ACLID === aclId ? { ...acl, ...change, Error: null } : acl,
            ),
          },
        }
      : session,
  )
}

/** Forgets who was signed in. The guards then lead to the login. */
export function clearSession(client: QueryClient): void {
  echoSession(null)
  browserStorage.clearSession('userSession')
  browserStorage.clearSession('autoBrowseDone')
  browserStorage.setKiosk(false)
  client.setQueryData(queryKey, null)
}

/** Takes up the tab's session from before a reload. */
function restoreSession(): UserSession | null {
  const stored = browserStorage.readSession('userSession')
  return isUserSession(stored) ? keepSession(stored) : null
}

/** A 401 means that nobody is signed in; an older answer that comes late doesn't replace a newer one. */
async function readSession(
  client: QueryClient,
  read: () => Promise<UserStatus>,
): Promise<UserSession | null> {
  try {
    const status = await read()
    const known = client.getQueryData<UserSession | null>(queryKey)
    if (known && known.status.Session === status.Session && known.status.Now > status.Now) return known
    return keepSession({ status, offsetMs: Date.parse(status.Now) - Date.now() })
  } catch (error) {
    if (!(error instanceof ApiFailure) || (error.status !== 401 && error.status !== 403)) throw error
    clearSession(client)
    if (error.code === 'err.sessionExpired') throw error
    return null
  }
}

function keepSession(session: UserSession): UserSession {
  echoSession(session.status.Session)
  browserStorage.setKiosk(session.status.Kiosk)
  browserStorage.writeSession('userSession', session)
  return session
}

const isUserSession = (value: unknown): value is UserSession =>
  typeof value === 'object' &&
  value !== null &&
  'offsetMs' in value &&
  'status' in value &&
  typeof value.status === 'object' &&
  value.status !== null &&
  'ACLs' in value.status &&
  Array.isArray(value.status.ACLs)

import type { QueryClient } from '@tanstack/react-query'
import { stepCodes } from '#machines/sign-in.machine.ts'
import { ApiFailure } from '../api.ts'
import type { SignedIn } from '../shell/routes.ts'
import { queries } from './admin-queries.ts'
import { clearAdminSession } from './admin-session.ts'

/** How far the admin is signed in. A refusal is an answer: signed out, or half in. An outage says nothing. */
export function toSignedIn({ data, error }: { data: unknown; error: unknown }): SignedIn {
  if (error instanceof ApiFailure) {
    if (error.code === stepCodes.verifyingTotp) return 'verifyingTotp'
    if (error.code === stepCodes.enrolling) return 'enrolling'
    if (error.status === 401 || error.status === 403) return 'no'
  }
  return data === undefined ? 'unknown' : 'yes'
}

/**
 * Forgets who was signed in, at once for every guard; what one admin has read is not for the next one at this screen.
 */
export function forgetAdmin(client: QueryClient): void {
  clearAdminSession()
  const { queryKey } = queries.status
  // Silently: an answer on its way is that of the session that is gone.
  void client.cancelQueries({ queryKey }, { silent: true })
  client
    .getQueryCache()
    .find({ queryKey })
    ?.setState({
      data: undefined,
      error: new ApiFailure({ status: 401, code: 'err.invalidSession' }),
      status: 'error',
      fetchStatus: 'idle',
    })
  client.removeQueries({ predicate: ({ queryKey: [realm, kind] }) => realm === 'admin' && kind !== 'status' })
}

/**
 * Reads who is signed in, or half, after the cookie changed: what was known of the session before is not echoed any
 * more. A step that is still to be made is no failure: the guards lead to it.
 */
export async function readAdmin(client: QueryClient): Promise<void> {
  clearAdminSession()
  try {
    await client.fetchQuery({ ...queries.status, staleTime: 0 })
  } catch (error) {
    const signedIn = toSignedIn({ data: undefined, error })
    if (signedIn !== 'verifyingTotp' && signedIn !== 'enrolling') throw error
  }
}

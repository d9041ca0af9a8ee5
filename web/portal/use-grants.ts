import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import type { AclStatus } from '#server/status/status.schema.ts'
import { isFailure } from '../api.ts'
import { grant, revoke } from './portal-api.ts'
import { knownSession, patchEntry, refreshSession } from './user-session.ts'

/** Clicks on entries: which are on their way, what failed, and which are being polled. */
export type Grants = {
  busy: ReadonlySet<string>
  failures: ReadonlyMap<string, unknown>
  /** Counts up with each click on an entry, so that a second click begins a new poll. */
  polls: ReadonlyMap<string, number>
  grantEntry: (entry: AclStatus) => void
  revokeEntry: (entry: AclStatus) => void
  endPoll: (aclId: string) => void
}

/** Grants and revokes on a click, then polls until the entry has settled. Portal §4. */
export function useGrants(): Grants {
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set())
  const [failures, setFailures] = useState<ReadonlyMap<string, unknown>>(new Map())
  const [polls, setPolls] = useState<ReadonlyMap<string, number>>(new Map())

  const act = useCallback(
    async (aclId: string, ask: () => Promise<{ Status: number; ExpiredAfter: string | null }>) => {
      setBusy((all) => new Set(all).add(aclId))
      setFailures((all) => without(all, aclId))
      try {
        patchEntry(queryClient, aclId, await ask())
        setPolls((all) => new Map(all).set(aclId, (all.get(aclId) ?? 0) + 1))
      } catch (error) {
        setFailures((all) => new Map(all).set(aclId, error))
        // The refusal may rest on something this page doesn't know yet; if that fails as well, the poll says so.
        await refreshSession(queryClient).catch(() => null)
      } finally {
        setBusy((all) => new Set([...all].filter((id) => id !== aclId)))
      }
    },
    [queryClient],
  )
  return {
    busy,
    failures,
    polls,
    grantEntry: useCallback(
      ({ ACLID }) => void act(ACLID, () => grantFromHere(ACLID, queryClient)),
      [act, queryClient],
    ),
    revokeEntry: useCallback(({ ACLID }) => void act(ACLID, () => revoke(ACLID)), [act]),
    endPoll: useCallback((aclId) => setPolls((all) => without(all, aclId)), []),
  }
}

/**
 * Asks for access from the address the server sees. When that isn't the session's any more, the address is
 * re-validated and the question asked once again (specification README "What a client may name as its address").
 */
async function grantFromHere(aclId: string, queryClient: ReturnType<typeof useQueryClient>) {
  const from = async (isRevalidation: boolean) => {
    const session = await refreshSession(queryClient, { isRevalidation })
    return { ACLID: aclId, IPs: session ? [{ Port: 0, IP: session.status.CurrentAddress }] : [] }
  }
  const known = knownSession(queryClient)
  try {
    return await grant(
      known ? { ACLID: aclId, IPs: [{ Port: 0, IP: known.status.CurrentAddress }] } : await from(false),
    )
  } catch (error) {
    if (!isFailure(error, 'err.addressChanged')) throw error
    return grant(await from(true))
  }
}

const without = <T>(all: ReadonlyMap<string, T>, id: string): ReadonlyMap<string, T> =>
  new Map([...all].filter(([key]) => key !== id))

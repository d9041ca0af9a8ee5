import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import type { GrantAnswer } from '#server/grants/grant.schema.ts'
import type { AclStatus } from '#server/status/status.schema.ts'
import { ApiFailure } from '../api.ts'
import { addressesForClick, type ClickAddresses } from './discovery-click.ts'
import { withoutRefused } from './discovery-start.ts'
import { tellTabs } from './live-events.ts'
import { grant, revoke } from './portal-api.ts'
import { endIfExpired, patchEntry, refreshSession } from './user-session.ts'

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
    async (aclId: string, ask: () => Promise<GrantAnswer>) => {
      setBusy((all) => new Set(all).add(aclId))
      setFailures((all) => without(all, aclId))
      try {
        patchEntry(queryClient, aclId, await ask())
        setPolls((all) => new Map(all).set(aclId, (all.get(aclId) ?? 0) + 1))
        tellTabs()
      } catch (error) {
        if (endIfExpired(queryClient, error)) return
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
      (entry) => void act(entry.ACLID, () => grantFromHere(entry, queryClient)),
      [act, queryClient],
    ),
    revokeEntry: useCallback(({ ACLID }) => void act(ACLID, () => revoke(ACLID)), [act]),
    endPoll: useCallback((aclId) => setPolls((all) => without(all, aclId)), []),
  }
}

/**
 * Asks for access from the address the server sees, and from what the lookup finds for an entry that is open to CGNAT.
 * When the address isn't the session's any more, it is re-validated and the question asked once again; when a found one
 * doesn't count, once again without it (specification README "What a client may name as its address").
 */
async function grantFromHere(entry: AclStatus, queryClient: QueryClient): Promise<GrantAnswer> {
  let from = await addressesForClick(entry, queryClient)
  const left = new Set(remedies)
  for (;;) {
    try {
      const answer = await grant({ ACLID: entry.ACLID, IPs: from.IPs })
      // What fails here is looked up again by itself.
      void from.tellRest().catch(() => null)
      return answer
    } catch (error) {
      const remedy = [...left].find(({ codes }) => error instanceof ApiFailure && codes.includes(error.code))
      const mended = await remedy?.mend({ entry, queryClient, from, error })
      if (remedy === undefined || !mended) throw error
      left.delete(remedy)
      from = mended
    }
  }
}

type Refusal = { entry: AclStatus; queryClient: QueryClient; from: ClickAddresses; error: unknown }
type Remedy = {
  codes: readonly string[]
  /** Null when there is nothing else to ask. */
  mend: (refusal: Refusal) => Promise<ClickAddresses> | ClickAddresses | null
}

/** What is asked instead, each once. */
const remedies: readonly Remedy[] = [
  {
    codes: ['err.addressChanged'],
    mend: async ({ entry, queryClient }) => {
      await refreshSession(queryClient, { isRevalidation: true })
      return addressesForClick(entry, queryClient)
    },
  },
  {
    codes: ['err.addressNotSeen', 'err.addressNotGrantable'],
    mend: ({ from, error }) => {
      const own = from.IPs.filter(({ Port }) => Port === 0)
      const found = withoutRefused(
        from.IPs.filter(({ Port }) => Port !== 0),
        error,
      )
      return found && { ...from, IPs: [...own, ...found] }
    },
  },
]

const without = <T>(all: ReadonlyMap<string, T>, id: string): ReadonlyMap<string, T> =>
  new Map([...all].filter(([key]) => key !== id))

import { lazy, Suspense, useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { AclStatus, UserStatus } from '#server/status/status.schema.ts'
import type { EntryProps } from './entry-parts.tsx'
import { countUse, toUseCounts, type UseCounts } from './sections.ts'
import { type Grants, useGrants } from './use-grants.ts'
import { useKept } from './use-kept.ts'

const GrantPoll = lazy(async () => ({ default: (await import('./grant-poll.tsx')).GrantPoll }))

/** What can be done with entries, for both dashboards. */
export type EntryActs = {
  /** What the drawing of an entry is given. */
  propsOf: (entry: AclStatus) => EntryProps
  /** How often each entry was used in this browser. */
  uses: UseCounts
  polls: Grants['polls']
  endPoll: Grants['endPoll']
}

/** Clicks on the entries of a status, and the count of their uses. */
export function useEntryActs(status: UserStatus): EntryActs {
  const [uses, setUses] = useKept('topAclIds', toUseCounts)
  const { busy, failures, polls, grantEntry, revokeEntry, endPoll } = useGrants()
  const onOpen = useCallback(
    ({ ACLID }: AclStatus) => setUses((before) => countUse(before, ACLID)),
    [setUses],
  )
  const onGrant = useCallback(
    (entry: AclStatus) => {
      onOpen(entry)
      grantEntry(entry)
    },
    [onOpen, grantEntry],
  )
  const isBlocked = !status.Licensed || !status.UserLicensed || status.UntrustedProxy !== null
  return {
    uses,
    polls,
    endPoll,
    propsOf: (entry) => ({
      entry,
      isBusy: busy.has(entry.ACLID),
      failure: failures.get(entry.ACLID),
      isBlocked,
      onGrant,
      onRevoke: revokeEntry,
      onOpen,
    }),
  }
}

/** Runs the polls after clicks, and tells screen readers how each ended. Draws nothing that is seen. */
export function EntryPolls({
  acts: { polls, endPoll },
  entries,
}: {
  acts: EntryActs
  entries: readonly AclStatus[]
}) {
  const { t } = useTranslation()
  const [news, setNews] = useState('')
  const onSettled = useCallback(
    (aclId: string, status: number | null) => {
      endPoll(aclId)
      const outcome = outcomeOf(status)
      const name = entries.find((entry) => entry.ACLID === aclId)?.Description ?? ''
      setNews(outcome ? t(`entry.${outcome}`, { name }) : '')
    },
    [endPoll, entries, t],
  )
  return (
    <>
      <output className="sr-only">{news}</output>
      <Suspense>
        {[...polls].map(([aclId, count]) => (
          <GrantPoll key={`${aclId} ${count}`} aclId={aclId} onSettled={onSettled} />
        ))}
      </Suspense>
    </>
  )
}

const outcomeOf = (status: number | null): 'granted' | 'revoked' | 'failed' | null => {
  if (status === 0 || status === 5 || status === 6) return 'granted'
  if (status === 4 || status === 9) return 'revoked'
  return status === 1 || status === 10 ? 'failed' : null
}

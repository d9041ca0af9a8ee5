import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { TextKey } from '../i18n/texts.ts'
import { listPasskeys, type PasskeyRealm } from './passkey-api.ts'
import { toShownError } from './passkey-failure.ts'

/** One thing done to the passkeys, and what is said when it is done. */
export type PasskeyChange = { act: () => Promise<unknown>; done: TextKey }

/** The passkeys of the account signed in, and changing them: the list is read again after each change. */
export function usePasskeys(realm: PasskeyRealm) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const queryKey = ['passkeys', realm]
  // Nothing is kept: the next account of this browser must not see the last one's.
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) => listPasskeys(realm, { signal }),
    staleTime: 0,
    gcTime: 0,
  })
  const change = useMutation({
    mutationFn: ({ act }: PasskeyChange) => act(),
    onSettled: () => client.invalidateQueries({ queryKey }),
  })
  return {
    rows: list.data,
    isLoading: list.isPending,
    isBusy: change.isPending,
    /** What went wrong last, for `errors.ofError`; null when nothing did. */
    failure: toShownError(change.error ?? list.error, t),
    /** What was done last, to be said where it was asked for; null after a failure. */
    done: change.isSuccess ? change.variables.done : null,
    change: change.mutate,
    /** Nothing was done, nothing went wrong. */
    forget: change.reset,
  }
}

import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useToast } from '../components/toast.tsx'
import type { TextKey } from '../i18n/texts.ts'
import { useErrorDialog } from './shell/admin-errors.tsx'

type Action<Input, Output> = {
  run: (input: Input) => Promise<Output>
  /** What is no longer as it was read. */
  stale: readonly { queryKey: QueryKey }[]
  /** Said when it is done. */
  done?: TextKey | undefined
  onDone?: ((output: Output, input: Input) => void) | undefined
  /** Shows the failure; the error dialog unless told. */
  onFailed?: ((error: unknown) => void) | undefined
}

/**
 * One thing an administrator does: runs the call, reads again what it made stale, and says that it is done.
 *
 * A failed call reads again as well: it may have come through although the answer was lost.
 */
export function useAdminAction<Input = void, Output = unknown>(action: Action<Input, Output>) {
  const { run, stale, done, onDone, onFailed } = action
  const client = useQueryClient()
  const say = useToast()
  const { t } = useTranslation()
  const showError = useErrorDialog()
  return useMutation({
    mutationFn: run,
    onSuccess: (output, input) => {
      if (done) say({ tone: 'ok', text: t(done) })
      onDone?.(output, input)
    },
    onError: onFailed ?? showError,
    onSettled: () => Promise.all(stale.map((filter) => client.invalidateQueries(filter))),
  })
}

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { KnocDetail } from '#server/knocs/knoc.schema.ts'
import { isFailure } from '../../../api.ts'
import { updateKnoc, type Versioned } from '../../admin-api.ts'
import { stale } from '../../admin-queries.ts'
import { useErrorDialog } from '../../shell/admin-errors.tsx'
import { useAdminAction } from '../../use-admin-action.ts'
import { type KnocChange, toKnocUpdate } from '../knoc-wire.ts'

/** What each tab needs to save its part. */
export type KnocUpdating = {
  save: (change: KnocChange) => void
  isSaving: boolean
}

/**
 * Saves one tab's part of a knoc against the version that was read, and leads back to the list.
 *
 * Somebody else's change meanwhile is said above the tabs, with what was typed left standing (decision 17).
 */
export function useKnocUpdate(knoc: Versioned<KnocDetail> | undefined) {
  const client = useQueryClient()
  const showError = useErrorDialog()
  const [, navigate] = useLocation()
  const [isOutdated, setIsOutdated] = useState(false)
  const update = useAdminAction({
    run: updateKnoc,
    stale: [],
    onDone: () => {
      navigate('/admin/knocs?didUpdate=true')
      for (const part of [stale.knocs, stale.users, stale.groups, stale.agents])
        void client.invalidateQueries({ queryKey: [...part.queryKey] })
    },
    onFailed: (error) => {
      if (isFailure(error, 'err.changedMeanwhile')) setIsOutdated(true)
      else showError(error)
    },
  })
  const save = (change: KnocChange) => {
    if (knoc === undefined) return
    update.mutate({ id: knoc.data.ID, body: toKnocUpdate(knoc.data, change), etag: knoc.etag })
  }
  return { save, isSaving: update.isPending, isOutdated, forget: () => setIsOutdated(false) }
}

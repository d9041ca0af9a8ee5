import type { ReactNode, SyntheticEvent } from 'react'
import { ChangedMeanwhile } from './changed-meanwhile.tsx'

type Props = {
  /** The dialog's Save button names it. */
  formId: string
  onSubmit: (event: SyntheticEvent) => unknown
  /** Somebody else has changed what is edited; nothing was saved. */
  isOutdated: boolean
  onReload: () => void
  children: ReactNode
}

/** The frame of a dialog's form: two columns on wide screens, and what somebody else changed above the fields. */
export function EditForm({ formId, onSubmit, isOutdated, onReload, children }: Props) {
  return (
    <form
      id={formId}
      noValidate
      onSubmit={(event) => {
        // The dialog may stand inside another form of the page: React passes the event on to it.
        event.stopPropagation()
        void onSubmit(event)
      }}
      className="grid gap-x-4 gap-y-5 pb-2 sm:grid-cols-2"
    >
      {isOutdated ? (
        <div className="sm:col-span-2">
          <ChangedMeanwhile onReload={onReload} />
        </div>
      ) : null}
      {children}
    </form>
  )
}

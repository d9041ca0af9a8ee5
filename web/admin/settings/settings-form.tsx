import type { ReactNode } from 'react'
import { ChangedMeanwhile } from '../components/changed-meanwhile.tsx'
import { SaveBar } from './save-bar.tsx'
import type { SettingsFormState } from './use-settings-form.ts'

/** A section's fields between what somebody else changed meanwhile, and Cancel and Save. */
export function SettingsForm({
  label,
  state,
  children,
}: {
  label: string
  state: SettingsFormState
  children: ReactNode
}) {
  return (
    <form
      noValidate
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        state.submit()
      }}
      className="flex flex-col gap-5"
    >
      {state.isOutdated ? <ChangedMeanwhile onReload={state.reload} /> : null}
      {children}
      <SaveBar isDirty={state.isDirty} isSaving={state.isSaving} onCancel={state.cancel} />
    </form>
  )
}

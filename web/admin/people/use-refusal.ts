import { useState } from 'react'
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { isFailure } from '../../api.ts'
import { useErrorDialog } from '../shell/admin-errors.tsx'
import { type FieldPlaces, toFieldFault } from './field-fault.ts'

/**
 * What a form does when the server refuses it: the text stands at its field, which gets the focus; a change by
 * somebody else is said above the fields (`isOutdated`); everything else goes to the error dialog.
 */
export function useRefusal<Values extends FieldValues>(
  form: Pick<UseFormReturn<Values>, 'setError'>,
  places: FieldPlaces<Path<Values>>,
) {
  const showError = useErrorDialog()
  const [isOutdated, setIsOutdated] = useState(false)
  const refuse = (error: unknown) => {
    if (isFailure(error, 'err.changedMeanwhile')) return setIsOutdated(true)
    const fault = toFieldFault(error, places)
    if (fault === undefined) return showError(error)
    form.setError(fault.field, { type: 'server', message: fault.code }, { shouldFocus: true })
  }
  return { refuse, isOutdated, forget: () => setIsOutdated(false) }
}

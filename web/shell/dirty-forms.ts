import { useEffect } from 'react'

const dirtyForms = new Set<symbol>()

/** Marks the page as not to be reloaded by itself while a form holds something that isn't saved. */
export function useDirtyForm(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return undefined
    const mark = Symbol('form')
    dirtyForms.add(mark)
    return () => void dirtyForms.delete(mark)
  }, [isDirty])
}

/** Whether a reload would lose what somebody typed. */
export const hasDirtyForm = (): boolean => dirtyForms.size > 0

import { useEffect, useSyncExternalStore } from 'react'

const dirtyForms = new Set<symbol>()
const listeners = new Set<() => void>()

/** Marks the page as not to be reloaded by itself while a form holds something that isn't saved. */
export function useDirtyForm(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return undefined
    const mark = Symbol('form')
    dirtyForms.add(mark)
    tell()
    return () => {
      dirtyForms.delete(mark)
      tell()
    }
  }, [isDirty])
}

/** Whether a reload would lose what somebody typed. */
export const hasDirtyForm = (): boolean => dirtyForms.size > 0

/** The same, for what is drawn by it. */
export const useHasDirtyForm = (): boolean => useSyncExternalStore(subscribe, hasDirtyForm)

function tell(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

import { useCallback, useState } from 'react'
import { browserStorage, type LocalKey } from '../shell/browser-storage.ts'

/** A value kept in this browser; `toValue` makes sense of whatever is stored. */
export function useKept<T>(
  key: LocalKey,
  toValue: (stored: unknown) => T,
): [T, (change: (before: T) => T) => void] {
  const [value, setValue] = useState(() => toValue(browserStorage.readLocal(key)))
  const update = useCallback(
    (change: (before: T) => T) =>
      setValue((before) => {
        const next = change(before)
        browserStorage.writeLocal(key, next)
        return next
      }),
    [key],
  )
  return [value, update]
}

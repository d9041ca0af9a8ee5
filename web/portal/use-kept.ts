import { useCallback, useEffect, useState } from 'react'
import { browserStorage, type LocalKey } from '../shell/browser-storage.ts'

/** A value kept in this browser, the same in every tab; `toValue` makes sense of whatever is stored. */
export function useKept<T>(
  key: LocalKey,
  toValue: (stored: unknown) => T,
): [T, (change: (before: T) => T) => void] {
  const [value, setValue] = useState(() => toValue(browserStorage.readLocal(key)))
  useEffect(() => {
    const onChange = (event: StorageEvent) => {
      if (event.key === key) setValue(toValue(browserStorage.readLocal(key)))
    }
    window.addEventListener('storage', onChange)
    return () => window.removeEventListener('storage', onChange)
  }, [key, toValue])
  const update = useCallback(
    (change: (before: T) => T) => {
      // From what is stored, not from what this tab drew: another tab may have changed it since.
      const next = change(toValue(browserStorage.readLocal(key)))
      browserStorage.writeLocal(key, next)
      setValue(next)
    },
    [key, toValue],
  )
  return [value, update]
}

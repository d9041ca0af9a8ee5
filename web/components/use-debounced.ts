import { useEffect, useState } from 'react'

/** A value once it has rested for so many milliseconds: what is asked of the server while somebody types. */
export function useDebounced<T>(value: T, restMs = 300): T {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs)
    return () => clearTimeout(timer)
  }, [value, restMs])
  return rested
}

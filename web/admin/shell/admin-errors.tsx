import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { ErrorDialog } from '../../components/error-dialog.tsx'

const ErrorContext = createContext<(error: unknown) => void>(() => {
  throw new Error('no AdminErrors above')
})

/** Shows an error in the dialog titled 'Error': `onError: useErrorDialog()`. */
export const useErrorDialog = () => useContext(ErrorContext)

/** Holds the console's one error dialog. */
export function AdminErrors({ children }: { children: ReactNode }) {
  const [error, setError] = useState<unknown>(null)
  const show = useCallback((next: unknown) => setError(next), [])
  return (
    <ErrorContext value={show}>
      {children}
      <ErrorDialog error={error} onClose={() => setError(null)} />
    </ErrorContext>
  )
}

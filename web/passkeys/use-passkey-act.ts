import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toShownError } from './passkey-failure.ts'

type Outcome = { onDone: () => void; onError: (error: unknown) => void }

/**
 * Runs what a passkey button does, once at a time. What the browser refused reaches `onError` as an Error with its
 * text in the reader's language; the server's refusals reach it as they are.
 */
export function usePasskeyAct({ onDone, onError }: Outcome) {
  const { t } = useTranslation()
  const [isBusy, setIsBusy] = useState(false)

  async function run(act: () => Promise<void>): Promise<void> {
    if (isBusy) return
    setIsBusy(true)
    try {
      await act()
      onDone()
    } catch (error) {
      onError(toShownError(error, t))
    } finally {
      setIsBusy(false)
    }
  }
  return { isBusy, run: (act: () => Promise<void>) => void run(act) }
}

/** Whether this browser, at this address, can use passkeys at all. */
export const hasPasskeys = (): boolean => typeof globalThis.PublicKeyCredential === 'function'

import { useTranslation } from 'react-i18next'
import { errorText, fieldErrorText } from './error-text.ts'

/** Errors in the reader's language: `ofError(error)` for answers, `ofField(message)` for a form's rules. */
export function useErrorText() {
  const { i18n } = useTranslation()
  return {
    ofError: (error: unknown) => errorText(i18n, error),
    ofField: (message: string | undefined) => fieldErrorText(i18n, message),
  }
}

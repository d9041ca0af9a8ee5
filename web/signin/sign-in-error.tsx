import { useTranslation } from 'react-i18next'
import { useSearch } from 'wouter'
import { Banner } from '../components/banner.tsx'
import { isTextKey } from '../i18n/start-i18n.ts'
import type { TextKey } from '../i18n/texts.ts'
import { useErrorText } from '../i18n/use-error-text.ts'
import { asksToWait, useRetryWait } from './retry-wait.ts'

/**
 * 'Error: {message}' above a sign-in form: what the last try said, or before any the code that the address brings
 * (`?error=`). A refusal that asks to wait counts down and goes when the wait is over. Portal §2.
 */
export function SignInError({ failure }: { failure: unknown }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const given = useGivenError()
  if (asksToWait(failure)) return <WaitBanner failure={failure} />
  const message = failure ? errors.ofError(failure) : given && t(given)
  return message ? <Banner tone="danger" title={t('error.labelled', { message })} /> : null
}

function WaitBanner({ failure }: { failure: unknown }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const seconds = useRetryWait(failure)
  if (seconds === 0) return null
  return (
    <Banner
      tone="danger"
      title={
        <>
          {/* Spoken once, not every second. */}
          <span className="sr-only">{t('error.labelled', { message: errors.ofError(failure) })}</span>
          <span aria-hidden="true">{t('error.labelled', { message: t('signIn.wait', { seconds }) })}</span>
        </>
      }
    />
  )
}

/** The text for `?error=`: a code of the catalogue says itself, whatever else somebody wrote there is not repeated. */
function useGivenError(): TextKey | null {
  const { i18n } = useTranslation()
  const code = new URLSearchParams(useSearch()).get('error')
  return code === null ? null : givenErrorKey(code, (key) => isTextKey(i18n, key))
}

/** The same, apart from the page. */
export function givenErrorKey(code: string, isKnown: (key: string) => boolean): TextKey {
  // Its text ends in a number of seconds, which an address doesn't carry.
  if (code === 'err.tooManyRequests') return 'signIn.waitUnknown'
  return /^err\.\w+$/.test(code) && isKnown(code) ? (code as TextKey) : 'signIn.failed'
}

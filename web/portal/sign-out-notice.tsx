import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../components/banner.tsx'
import { tellServer } from './sign-out.ts'
import { useSignOutState } from './sign-out-state.ts'

/** The server is told again so often, in milliseconds. */
const againEveryMs = 5_000

/** Says that the server didn't hear of a logout, and tells it until it does. */
export function SignOutNotice() {
  const { t } = useTranslation()
  const state = useSignOutState()
  useEffect(() => {
    if (state === null) return undefined
    const again = () => void tellServer()
    const timer = setInterval(again, againEveryMs)
    window.addEventListener('online', again)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', again)
    }
  }, [state])
  if (state !== 'unheard') return null
  return (
    <Banner tone="warn" title={t('signOut.unheard')}>
      {t('signOut.unheardText')}
    </Banner>
  )
}

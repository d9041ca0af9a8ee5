import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { useTheme } from '../shell/theme.ts'
import { AddressList } from './address-list.tsx'
import { SessionCountdown } from './session-countdown.tsx'
import type { UserSession } from './user-session.ts'

const dayMs = 86_400_000

/** Who is signed in, how long, from where. */
export function SessionPanel({ session, onEnded }: { session: UserSession; onEnded: () => void }) {
  const { t } = useTranslation()
  const { HighAccessibility } = useTheme()
  const [isHidden, setIsHidden] = useState(false)
  const { status, offsetMs } = session
  return (
    <section
      aria-label={t('home.account')}
      className="flex flex-col gap-5 rounded-3xl border border-line bg-surface p-5 shadow-low sm:flex-row sm:flex-wrap sm:items-end sm:justify-between sm:p-6 lg:sticky lg:gap-6 lg:top-6 lg:flex-col lg:items-stretch lg:rounded-t-[9rem] lg:px-7 lg:pt-20 lg:pb-8"
    >
      <h1 className="text-2xl leading-tight font-bold tracking-tight wrap-anywhere text-ink lg:text-center lg:text-[1.375rem]">
        {t('home.greeting', { name: status.Name || status.UserName })}
      </h1>
      <div className="lg:flex lg:flex-col lg:items-center lg:text-center">
        <SessionCountdown
          endsAt={Date.parse(status.Ends)}
          offsetMs={offsetMs}
          isHidden={HighAccessibility && isHidden}
          onEnded={onEnded}
        />
        {HighAccessibility ? (
          <Button
            size="sm"
            className="mt-2"
            icon={isHidden ? Eye : EyeOff}
            onClick={() => setIsHidden(!isHidden)}
          >
            {t(isHidden ? 'home.showTimer' : 'home.hideTimer')}
          </Button>
        ) : null}
      </div>
      <div className="w-full border-t border-line pt-4 text-sm">
        <AddressList status={status} />
        <p className="mt-1.5 text-muted lg:text-center">{t('home.keepOpen')}</p>
        <AccountExpiry validUntil={status.ValidUntil} now={Date.parse(status.Now)} />
      </div>
    </section>
  )
}

function AccountExpiry({ validUntil, now }: { validUntil: string | null; now: number }) {
  const { t } = useTranslation()
  if (validUntil === null) return null
  const days = Math.floor((Date.parse(validUntil) - now) / dayMs)
  return (
    <p className="mt-1.5 font-medium text-ink lg:text-center">
      {days < 1 ? t('home.accountExpiresToday') : t('home.accountExpires', { count: days })}
    </p>
  )
}

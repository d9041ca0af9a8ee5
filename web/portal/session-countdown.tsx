import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { sessionState } from '#machines/session-state.ts'
import { cx } from '../components/class-names.ts'
import { clockTime } from '../components/relative-time.ts'
import { useNow } from '../components/use-now.ts'
import { confirmEnd } from './user-session.ts'

/** The timer is drawn anew so often, in milliseconds. Portal §9. */
const tickMs = 1_000
/** The server's clock and the browser's part by so much only when one of them is set, in milliseconds. */
const clockSetMs = 30_000

type Props = {
  /** By the server's clock, in milliseconds. */
  endsAt: number
  offsetMs: number
  isHidden: boolean
  onEnded: () => void
}

/** Time left in the session, HH:MM:SS; says when it is over. */
export function SessionCountdown(props: Props) {
  // A clock that was set meanwhile begins anew: time never goes back otherwise, and an end is final.
  return <Countdown key={`${props.endsAt} ${Math.round(props.offsetMs / clockSetMs)}`} {...props} />
}

function Countdown({ endsAt, offsetMs, isHidden, onEnded }: Props) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const now = useLatest(useNow(tickMs) + offsetMs)
  const state = sessionState(endsAt, now)
  const isOver = state === 'ended'
  useEffect(() => {
    if (!isOver) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let isGone = false
    const ask = async () => {
      const isConfirmed = await confirmEnd(queryClient)
      if (isGone) return
      if (isConfirmed) onEnded()
      else timer = setTimeout(() => void ask(), tickMs)
    }
    void ask()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [isOver, onEnded, queryClient])

  const isNearEnd = state === 'expiringSoon'
  return (
    <div>
      <p className="flex items-center gap-2 text-sm lg:justify-center font-semibold">
        <span aria-hidden="true" className={cx('size-2 rounded-full', isNearEnd ? 'bg-warn' : 'bg-ok')} />
        <output>{t(isNearEnd ? 'home.sessionEnding' : 'home.sessionActive')}</output>
      </p>
      <p
        role="timer"
        aria-label={t('home.timeLeft')}
        className={cx(
          'mt-1 text-[min(2.75rem,13.5vw)] leading-none font-bold tracking-tight tabular-nums',
          isNearEnd && 'text-warn',
          isHidden && 'text-base! font-medium! text-muted',
        )}
      >
        {isHidden ? t('home.timerHidden') : clockTime(endsAt - now)}
      </p>
    </div>
  )
}

/** The greatest of the numbers so far. */
function useLatest(value: number): number {
  const [latest, setLatest] = useState(value)
  if (value > latest) setLatest(value)
  return Math.max(value, latest)
}

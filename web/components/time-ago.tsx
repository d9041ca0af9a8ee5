import { useTranslation } from 'react-i18next'
import { relativeTime } from './relative-time.ts'
import { useNow } from './use-now.ts'

/** An instant as distance from now, kept up to date; the exact time is in the title. `offsetMs` = server's clock − browser's. */
export function TimeAgo({
  at,
  offsetMs = 0,
  everyMs = 10_000,
}: {
  at: string
  offsetMs?: number
  everyMs?: number
}) {
  const { i18n } = useTranslation()
  const now = useNow(everyMs)
  const instant = Date.parse(at)
  return (
    <time dateTime={at} title={new Date(instant).toLocaleString(i18n.language)}>
      {relativeTime(instant, { now: now + offsetMs, locale: i18n.language })}
    </time>
  )
}

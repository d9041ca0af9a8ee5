import { Clock } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { AclStatus } from '#server/status/status.schema.ts'
import { Badge } from '../components/badge.tsx'
import { relativeTime, timeSpan } from '../components/relative-time.ts'
import { useByClock } from './entry-clock.tsx'
import { ageInSteps, leftInSteps } from './entry-steps.ts'
import { type EntryView, entryView, lastTurn } from './entry-view.ts'

/** An entry as it is to be shown now; a new one only when the clock changes something about it. */
export function useEntryView(entry: AclStatus): EntryView {
  const turn = useByClock(useCallback((now: number) => lastTurn(entry, now), [entry]))
  return useMemo(() => entryView(entry, turn), [entry, turn])
}

/** How long access lasts, or how the entry stands. */
export function EntryBadge({ view }: { view: EntryView }) {
  const { t, i18n } = useTranslation()
  const { endsAt, restriction } = view
  const leftMs = useByClock((now) => (endsAt === null ? null : leftInSteps(endsAt - now)))
  if (leftMs === null)
    return (
      <Badge tone={restriction === null ? view.tone : 'neutral'}>
        {restriction === null || restriction === 'agentOffline'
          ? t(`status.${view.label}`)
          : t('entry.restricted')}
      </Badge>
    )
  return (
    <Badge tone={view.tone} icon={Clock}>
      {leftMs > 0 ? t('entry.accessFor', { time: timeSpan(leftMs, i18n.language) }) : t('entry.accessOver')}
    </Badge>
  )
}

/** Whether the door was seen open or closed, and when the enforcement point last agreed that it is open. */
export function EntryVerified({ view: { verifiedAt, proof } }: { view: EntryView }) {
  const { t, i18n } = useTranslation()
  const ageMs = useByClock((now) => (verifiedAt === null ? null : ageInSteps(now - verifiedAt)))
  if (proof === null) return null
  const time =
    ageMs === null
      ? ''
      : ageMs < 60_000
        ? t('entry.verifiedSeconds', { seconds: inSeconds(ageMs, i18n.language) })
        : relativeTime(-ageMs, { now: 0, locale: i18n.language })
  return <span className="text-xs text-muted tabular-nums">{t(`entry.${proof}`, { time })}</span>
}

/**
 * Of a list that firewalls fetch by themselves: whether access works already, when the list was last read and when it
 * is read next.
 */
export function EntryReading({ entry }: { entry: AclStatus }) {
  const { t, i18n } = useTranslation()
  const readAt = entry.ListReadAt === null ? null : Date.parse(entry.ListReadAt)
  const nextAt = entry.NextReadAt === null ? null : Date.parse(entry.NextReadAt)
  const ageMs = useByClock((now) => (readAt === null ? null : Math.max(1_000, ageInSteps(now - readAt))))
  const nextMs = useByClock((now) => (nextAt === null ? null : leftInSteps(nextAt - now)))
  if (!entry.Passive) return null
  const far = (milliseconds: number) => relativeTime(milliseconds, { now: 0, locale: i18n.language })
  const sentences = [
    entry.Status === 6 ? t('entry.list.published') : null,
    entry.Status === 8 ? t('entry.list.revoking') : null,
    ageMs === null ? t('entry.list.neverRead') : t('entry.list.lastRead', { time: far(-ageMs) }),
    nextMs === null ? null : t('entry.list.nextRead', { time: far(nextMs) }),
  ]
  return <p className="text-sm text-muted">{sentences.filter(Boolean).join(' ')}</p>
}

const inSeconds = (milliseconds: number, locale: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: milliseconds < 10_000 ? 1 : 0 }).format(
    milliseconds / 1_000,
  )

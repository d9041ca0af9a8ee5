import { ArrowUpRight, Clock, Star } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { AclStatus } from '#server/status/status.schema.ts'
import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { relativeTime, timeSpan } from '../components/relative-time.ts'
import { Spinner } from '../components/spinner.tsx'
import { isTextKey } from '../i18n/start-i18n.ts'
import { useErrorText } from '../i18n/use-error-text.ts'
import { type EntryView, entryLink } from './entry-view.ts'

/** What a card and a row are given of an entry. */
export type EntryProps = {
  entry: AclStatus
  view: EntryView
  /** A click on this entry is on its way to the server. */
  isBusy: boolean
  /** Why the last click failed here. */
  failure: unknown
  isFavourite: boolean
  /** Nothing can be granted at all now: no licence, or a proxy nobody configured. */
  isBlocked: boolean
  onGrant: (entry: AclStatus) => void
  onRevoke: (entry: AclStatus) => void
  onFavourite: (entry: AclStatus) => void
  onOpen: (entry: AclStatus) => void
}

/** The entry's name, as a link where it has a web address that can be used. */
export function EntryName({ entry, view, onOpen }: Pick<EntryProps, 'entry' | 'view' | 'onOpen'>) {
  const { t } = useTranslation()
  const href = view.isRestricted ? undefined : entryLink(entry)
  if (href === undefined) return <>{entry.Description}</>
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      aria-label={t('entry.open', { name: entry.Description })}
      onClick={() => onOpen(entry)}
      className="rounded decoration-accent-ink decoration-2 underline-offset-4 hover:text-accent-ink hover:underline"
    >
      {entry.Description}
      {/* Keeps the arrow on the line of the last word. */}
      {'\u00a0'}
      <ArrowUpRight aria-hidden="true" className="inline size-4 align-[-0.15em] text-muted" />
    </a>
  )
}

/** How long access lasts, or how the entry stands. */
export function EntryBadge({ view }: Pick<EntryProps, 'view'>) {
  const { t, i18n } = useTranslation()
  if (view.leftMs === null)
    return (
      <Badge tone={view.isRestricted ? 'neutral' : view.tone}>
        {view.isRestricted && view.label !== 'agentOffline'
          ? t('entry.restricted')
          : t(`status.${view.label}`)}
      </Badge>
    )
  return (
    <Badge tone={view.tone} icon={Clock}>
      {view.leftMs > 0
        ? t('entry.accessFor', { time: timeSpan(view.leftMs, i18n.language) })
        : t('entry.accessOver')}
    </Badge>
  )
}

/** When the enforcement point was last seen to agree. */
export function EntryVerified({ view, now }: Pick<EntryProps, 'view'> & { now: number }) {
  const { t, i18n } = useTranslation()
  if (view.verifiedMsAgo === null) return null
  const time =
    view.verifiedMsAgo < 60_000
      ? t('entry.verifiedSeconds', { seconds: inSeconds(view.verifiedMsAgo, i18n.language) })
      : relativeTime(now - view.verifiedMsAgo, { now, locale: i18n.language })
  return <span className="text-xs text-muted tabular-nums">{t('entry.verified', { time })}</span>
}

const inSeconds = (milliseconds: number, locale: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: milliseconds < 10_000 ? 1 : 0 }).format(
    milliseconds / 1_000,
  )

/** What went wrong, or why nothing can be done. */
export function EntryNote({ entry, view, failure }: Pick<EntryProps, 'entry' | 'view' | 'failure'>) {
  const { t, i18n } = useTranslation()
  const errors = useErrorText()
  const text = failure
    ? errors.ofError(failure)
    : entry.Error && (isTextKey(i18n, entry.Error) ? i18n.t(entry.Error) : entry.Error)
  if (text)
    return (
      <p role={failure ? 'alert' : undefined} className="text-sm font-medium text-danger">
        {text}
      </p>
    )
  if (view.isRestricted)
    return (
      <p className="text-sm text-muted">
        {view.label === 'agentOffline' ? `${t('entry.restricted')}. ` : null}
        {t('entry.restrictedText')}
      </p>
    )
  return entry.GrantTypeFixedIps ? (
    <p className="text-sm text-muted">{t('entry.fixedAddressesText')}</p>
  ) : null
}

/** Grant, revoke, or pending; nothing for entries that open by themselves. */
export function EntryButton({
  entry,
  view,
  isBusy,
  isBlocked,
  onGrant,
  onRevoke,
  wide,
}: EntryProps & { wide?: boolean }) {
  const { t } = useTranslation()
  const named = { name: entry.Description }
  if (view.button === 'none') return null
  if (view.button === 'pending')
    return (
      <Button wide={wide} variant="waiting" aria-disabled aria-label={t('entry.pendingNamed', named)}>
        <Spinner />
        {t('entry.pending')}
      </Button>
    )
  if (view.button === 'revoke')
    return (
      <Button
        wide={wide}
        busy={isBusy}
        aria-label={t('entry.revokeNamed', named)}
        onClick={() => onRevoke(entry)}
      >
        {t('entry.revoke')}
      </Button>
    )
  return (
    <Button
      variant="primary"
      wide={wide}
      busy={isBusy}
      disabled={isBlocked}
      aria-label={t('entry.grantNamed', named)}
      onClick={() => onGrant(entry)}
    >
      {t('entry.grant')}
    </Button>
  )
}

/** The star. */
export function FavouriteButton({
  entry,
  isFavourite,
  onFavourite,
}: Pick<EntryProps, 'entry' | 'isFavourite' | 'onFavourite'>) {
  const { t } = useTranslation()
  const name = entry.Description
  return (
    <IconButton
      icon={Star}
      filled={isFavourite}
      aria-pressed={isFavourite}
      label={isFavourite ? t('home.favouriteRemove', { name }) : t('home.favouriteAdd', { name })}
      onClick={() => onFavourite(entry)}
      tone={isFavourite ? 'accent' : 'neutral'}
    />
  )
}

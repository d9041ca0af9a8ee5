import { ArrowUpRight, Star } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { AclStatus } from '#server/status/status.schema.ts'
import { Button } from '../components/button.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { Spinner } from '../components/spinner.tsx'
import { type EntryView, entryLink } from './entry-view.ts'

/** What every drawing of an entry is given. Stays the same while nothing about the entry changes. */
export type EntryProps = {
  entry: AclStatus
  /** A click on this entry is on its way to the server. */
  isBusy: boolean
  /** Why the last click failed here. */
  failure: unknown
  /** Nothing can be granted at all now: no licence, or a proxy nobody configured. */
  isBlocked: boolean
  onGrant: (entry: AclStatus) => void
  onRevoke: (entry: AclStatus) => void
  onOpen: (entry: AclStatus) => void
}

/** The star's part of it. */
export type FavouriteProps = {
  entry: AclStatus
  isFavourite: boolean
  onFavourite: (entry: AclStatus) => void
}

/** A last word of more letters may be broken, and its arrow go alone. */
const longestKept = 16

/** The entry's name, as a link where it has a web address that can be used. */
export function EntryName({
  entry,
  view,
  onOpen,
}: Pick<EntryProps, 'entry' | 'onOpen'> & { view: EntryView }) {
  const { t } = useTranslation()
  const href = view.restriction === null ? entryLink(entry) : undefined
  if (href === undefined) return <>{entry.Description}</>
  const cut = entry.Description.lastIndexOf(' ') + 1
  const [start, last] = [entry.Description.slice(0, cut), entry.Description.slice(cut)]
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      aria-label={t('entry.open', { name: entry.Description })}
      onClick={() => onOpen(entry)}
      className="rounded decoration-accent-ink decoration-2 underline-offset-4 hover:text-accent-ink hover:underline"
    >
      {start}
      {/* The arrow stays on the line of the last word: after a space alone a browser may part them. */}
      <span className={last.length <= longestKept ? 'whitespace-nowrap' : undefined}>
        {last}
        {'\u00a0'}
        <ArrowUpRight aria-hidden="true" className="inline size-4 align-[-0.15em] text-muted" />
      </span>
    </a>
  )
}

/** A row's button, or that the entry opens by itself. */
export function EntryAccess(props: EntryProps & { view: EntryView }) {
  const { t } = useTranslation()
  const { entry, view } = props
  const opensByItself = view.button === 'none' && !entry.ClickToGrant && view.restriction === null
  if (opensByItself) return <span className="text-sm text-muted">{t('entry.automatic')}</span>
  return <EntryButton {...props} />
}

/** Grant, revoke, or pending, which does nothing; none for entries that open by themselves. Portal §4 "Buttons". */
export function EntryButton({
  entry,
  view,
  isBusy,
  isBlocked,
  onGrant,
  onRevoke,
  wide,
}: EntryProps & { view: EntryView; wide?: boolean }) {
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
export function FavouriteButton({ entry, isFavourite, onFavourite }: FavouriteProps) {
  const { t } = useTranslation()
  const name = entry.Description
  return (
    <IconButton
      icon={Star}
      filled={isFavourite}
      aria-pressed={isFavourite}
      label={isFavourite ? t('home.favouriteRemove', { name }) : t('home.favouriteAdd', { name })}
      ref={(button) => {
        const isBare = document.activeElement === null || document.activeElement === document.body
        if (button === null || movedBy !== entry.ACLID || !isBare) return
        movedBy = null
        button.focus()
      }}
      onClick={({ detail }) => {
        // By the keyboard; a pointer stays where it is.
        if (detail === 0) followFocus(entry.ACLID)
        onFavourite(entry)
      }}
      tone={isFavourite ? 'accent' : 'neutral'}
    />
  )
}

/** The entry whose star was just pressed by the keyboard: it moves to another section, and takes the focus with it. */
let movedBy: string | null = null
/** The sections are drawn anew within this time, in milliseconds; later whoever presses has gone elsewhere. */
const movesWithinMs = 2_000

function followFocus(aclId: string): void {
  movedBy = aclId
  setTimeout(() => {
    if (movedBy === aclId) movedBy = null
  }, movesWithinMs)
}

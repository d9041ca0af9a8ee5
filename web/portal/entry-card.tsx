import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../components/class-names.ts'
import { EntryDoor } from './entry-door.tsx'
import { EntryNote } from './entry-note.tsx'
import {
  EntryButton,
  EntryName,
  type EntryProps,
  FavouriteButton,
  type FavouriteProps,
} from './entry-parts.tsx'
import { EntryBadge, EntryVerified, useEntryView } from './entry-times.tsx'

/** One entry as a card with its door. What is out of sight isn't laid out, so that 200 scroll as 10 do. */
export const EntryCard = memo(function EntryCard(props: EntryProps & FavouriteProps) {
  const { t } = useTranslation()
  const { entry } = props
  const view = useEntryView(entry)
  const isRestricted = view.restriction !== null
  return (
    <article
      aria-label={entry.Description}
      aria-busy={props.isBusy || view.button === 'pending'}
      className={cx(
        'flex flex-col gap-4 rounded-2xl border border-line bg-surface p-4 shadow-low transition-shadow duration-200 [contain-intrinsic-block-size:auto_10.75rem] [content-visibility:auto] hover:shadow-mid',
        isRestricted && 'bg-transparent shadow-none hover:shadow-none',
      )}
    >
      <div className="flex gap-4">
        <EntryDoor icon={entry.Icon} view={view} />
        <div className="flex min-w-0 flex-1 flex-col gap-1.5">
          <div className="flex items-start gap-1">
            <h4
              className={cx(
                'min-w-0 flex-1 pt-1 leading-snug font-bold tracking-tight wrap-anywhere',
                isRestricted ? 'text-muted' : 'text-ink',
              )}
            >
              <EntryName {...props} view={view} />
            </h4>
            <span className="-mt-1 -mr-1.5">
              <FavouriteButton {...props} />
            </span>
          </div>
          <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
            <EntryBadge view={view} />
            <EntryVerified view={view} />
          </div>
        </div>
      </div>
      <EntryNote {...props} view={view} />
      <div className="mt-auto">
        {view.button === 'none' && !entry.ClickToGrant && !isRestricted ? (
          <p className="flex min-h-10 items-center text-sm text-muted">{t('entry.automatic')}</p>
        ) : (
          <EntryButton {...props} view={view} wide />
        )}
      </div>
    </article>
  )
})

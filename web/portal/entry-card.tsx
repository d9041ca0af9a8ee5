import { useTranslation } from 'react-i18next'
import { cx } from '../components/class-names.ts'
import { EntryDoor } from './entry-door.tsx'
import {
  EntryBadge,
  EntryButton,
  EntryName,
  EntryNote,
  type EntryProps,
  EntryVerified,
  FavouriteButton,
} from './entry-parts.tsx'

/** One entry as a card with its door. */
export function EntryCard(props: EntryProps & { now: number }) {
  const { t } = useTranslation()
  const { entry, view, now } = props
  return (
    <article
      aria-label={entry.Description}
      aria-busy={props.isBusy || view.button === 'pending'}
      className={cx(
        'flex flex-col gap-4 rounded-2xl border border-line bg-surface p-4 shadow-low transition-shadow duration-200 hover:shadow-mid',
        view.isRestricted && 'bg-transparent shadow-none hover:shadow-none',
      )}
    >
      <div className="flex gap-4">
        <EntryDoor icon={entry.Icon} view={view} />
        <div className="flex min-w-0 flex-1 flex-col gap-1.5">
          <div className="flex items-start gap-1">
            <h4
              className={cx(
                'min-w-0 flex-1 pt-1 leading-snug font-bold tracking-tight wrap-anywhere',
                view.isRestricted ? 'text-muted' : 'text-ink',
              )}
            >
              <EntryName {...props} />
            </h4>
            <span className="-mt-1 -mr-1.5">
              <FavouriteButton {...props} />
            </span>
          </div>
          <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
            <EntryBadge view={view} />
            <EntryVerified view={view} now={now} />
          </div>
        </div>
      </div>
      <EntryNote {...props} />
      <div className="mt-auto">
        {view.button === 'none' && !entry.ClickToGrant && !view.isRestricted ? (
          <p className="flex min-h-10 items-center text-sm text-muted">{t('entry.automatic')}</p>
        ) : (
          <EntryButton {...props} wide />
        )}
      </div>
    </article>
  )
}

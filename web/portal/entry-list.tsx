import { useTranslation } from 'react-i18next'
import { cx } from '../components/class-names.ts'
import { NamedIcon } from '../components/named-icon.tsx'
import {
  EntryBadge,
  EntryButton,
  EntryName,
  EntryNote,
  type EntryProps,
  EntryVerified,
  FavouriteButton,
} from './entry-parts.tsx'

/** Entries as a table: favourite, system, access. */
export function EntryList({
  label,
  entries,
  isHeadHidden,
}: {
  label: string
  /** Headings for screen readers only: they stand above an earlier table already. */
  isHeadHidden: boolean
  entries: readonly (EntryProps & { now: number })[]
}) {
  const { t } = useTranslation()
  return (
    <div className="overflow-hidden rounded-2xl border border-line bg-surface shadow-low">
      <table aria-label={label} className="w-full border-collapse text-left">
        <thead className={isHeadHidden ? 'sr-only' : 'max-sm:sr-only'}>
          <tr className="border-b border-line text-sm text-muted">
            <th scope="col" className="w-16 py-2 pl-3 font-semibold">
              <span className="sr-only">{t('home.column.favourite')}</span>
            </th>
            <th scope="col" className="py-2 font-semibold">
              {t('home.column.system')}
            </th>
            <th scope="col" className="py-2 pr-4 text-right font-semibold">
              {t('home.column.access')}
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((props) => (
            <EntryRow key={props.entry.ACLID} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function EntryRow(props: EntryProps & { now: number }) {
  const { entry, view, now } = props
  return (
    <tr className="border-b border-line last:border-b-0 max-sm:grid max-sm:grid-cols-[auto_1fr] max-sm:items-center max-sm:py-2">
      <td className="w-16 py-1.5 pl-3">
        <FavouriteButton {...props} />
      </td>
      <th scope="row" className="py-2 pr-3 text-left font-normal">
        <span className="flex items-center gap-3">
          <NamedIcon name={entry.Icon} className="size-5 shrink-0 text-muted" />
          <span
            className={cx(
              'min-w-0 font-semibold wrap-anywhere',
              view.isRestricted ? 'text-muted' : 'text-ink',
            )}
          >
            <EntryName {...props} />
          </span>
        </span>
        <span className="block pl-8">
          <EntryNote {...props} />
        </span>
      </th>
      <td className="py-2 pr-4 max-sm:col-span-2 max-sm:pl-4">
        <span className="flex flex-wrap items-center justify-end gap-x-3 gap-y-2 max-sm:justify-between">
          <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1 sm:flex-row-reverse">
            <EntryBadge view={view} />
            <EntryVerified view={view} now={now} />
          </span>
          <EntryButton {...props} />
        </span>
      </td>
    </tr>
  )
}

import { memo, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../components/class-names.ts'
import { NamedIcon } from '../components/named-icon.tsx'
import { EntryNote } from './entry-note.tsx'
import {
  EntryAccess,
  EntryName,
  type EntryProps,
  FavouriteButton,
  type FavouriteProps,
} from './entry-parts.tsx'
import { EntryBadge, EntryVerified, useEntryView } from './entry-times.tsx'

/** The columns of a row; a telephone has the access below the system. */
const columns = 'grid grid-cols-[3rem_minmax(0,1fr)] sm:grid-cols-[3.75rem_minmax(12rem,1fr)_minmax(0,auto)]'

/** Entries as one table: favourite, system, access; each section is a group of its rows. Portal §2 "List view". */
export function EntryList({ label, children }: { label: string; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <div className="overflow-hidden rounded-2xl border border-line bg-surface shadow-low">
      <table aria-label={label} className="block w-full text-left">
        <thead className="block max-sm:sr-only">
          <tr className={cx(columns, 'border-b border-line text-sm text-muted')}>
            <th scope="col" className="py-2 pl-3 font-semibold">
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
        {children}
      </table>
    </div>
  )
}

/** A section of the table under its heading. */
export function EntryListSection({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <tbody className="block">
      <tr className="block border-b border-line bg-sunken">
        <th scope="rowgroup" colSpan={3} className="block px-4 py-1.5 text-left">
          <h3 className="text-sm font-semibold text-muted">{title}</h3>
        </th>
      </tr>
      {children}
    </tbody>
  )
}

/** One entry as a row; what is out of sight isn't laid out. */
export const EntryRow = memo(function EntryRow(props: EntryProps & FavouriteProps) {
  const { entry } = props
  const view = useEntryView(entry)
  const isRestricted = view.restriction !== null
  return (
    <tr
      aria-busy={props.isBusy || view.button === 'pending'}
      className={cx(
        columns,
        'items-center border-b border-line py-1.5 [contain-intrinsic-block-size:auto_3.5rem] [content-visibility:auto] in-[tbody:last-child]:last:border-b-0',
      )}
    >
      <td className="pl-1 max-sm:self-start sm:pl-3">
        <FavouriteButton {...props} />
      </td>
      <th scope="row" className="py-1 pr-3 text-left font-normal">
        <span className="flex items-center gap-3">
          <NamedIcon name={entry.Icon} className="size-5 shrink-0 text-muted" />
          <span
            className={cx('min-w-0 font-semibold wrap-anywhere', isRestricted ? 'text-muted' : 'text-ink')}
          >
            <EntryName {...props} view={view} />
          </span>
        </span>
        <div className="pl-8">
          <EntryNote {...props} view={view} />
        </div>
      </th>
      <td className="flex flex-wrap items-center justify-end gap-x-3 gap-y-2 py-1 pr-4 max-sm:col-start-2 max-sm:justify-between max-sm:pl-8">
        <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1 sm:flex-row-reverse">
          <EntryBadge view={view} />
          <EntryVerified view={view} />
        </span>
        <EntryAccess {...props} view={view} />
      </td>
    </tr>
  )
})

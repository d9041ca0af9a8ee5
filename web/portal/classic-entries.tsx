import { memo, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { AclStatus, UserStatus } from '#server/status/status.schema.ts'
import { cx } from '../components/class-names.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { EntryPolls, useEntryActs } from './entry-acts.tsx'
import { EntryNote } from './entry-note.tsx'
import { EntryAccess, EntryName, type EntryProps } from './entry-parts.tsx'
import { EntryBadge, EntryVerified, useEntryView } from './entry-times.tsx'
import { visibleEntries } from './sections.ts'
import { useFirstScreen } from './use-first-screen.ts'

const beginning = (entries: readonly AclStatus[], most: number) => entries.slice(0, most)

/** The columns of a row; a telephone has one below the other. */
const columns = 'grid sm:grid-cols-[minmax(0,1fr)_minmax(0,14rem)_9.5rem] sm:gap-x-4'

/** The entries as one table: description as a link, status, action. Portal §2 "Classic home". */
export const ClassicEntries = memo(function ClassicEntries({ status }: { status: UserStatus }) {
  const { t } = useTranslation()
  const acts = useEntryActs(status)
  const entries = useMemo(() => visibleEntries(status.ACLs), [status.ACLs])
  const drawn = useFirstScreen(entries, beginning)
  if (entries.length === 0) return <EmptyState title={t('home.empty')} text={t('home.emptyText')} />
  return (
    <>
      <h2 className="text-xl font-bold tracking-tight text-ink">{t('home.title')}</h2>
      <div className="overflow-hidden rounded-2xl border border-line bg-surface shadow-low">
        <table aria-label={t('home.title')} className="block w-full text-left">
          <thead className="block max-sm:sr-only">
            <tr className={cx(columns, 'border-b border-line px-5 py-2.5 text-sm text-muted')}>
              <th scope="col" className="font-semibold">
                {t('home.column.description')}
              </th>
              <th scope="col" className="font-semibold">
                {t('home.column.status')}
              </th>
              <th scope="col" className="text-right font-semibold">
                {t('home.column.action')}
              </th>
            </tr>
          </thead>
          <tbody className="block">
            {drawn.map((entry) => (
              <ClassicRow key={entry.ACLID} {...acts.propsOf(entry)} />
            ))}
          </tbody>
        </table>
      </div>
      <EntryPolls acts={acts} entries={entries} />
    </>
  )
})

const ClassicRow = memo(function ClassicRow(props: EntryProps) {
  const view = useEntryView(props.entry)
  const isRestricted = view.restriction !== null
  return (
    <tr
      aria-busy={props.isBusy || view.button === 'pending'}
      className={cx(
        columns,
        'items-center gap-y-2 border-b border-line px-5 py-3 [contain-intrinsic-block-size:auto_4rem] [content-visibility:auto] last:border-b-0',
      )}
    >
      <th scope="row" className="min-w-0 text-left font-normal">
        <span className={cx('font-semibold wrap-anywhere', isRestricted ? 'text-muted' : 'text-ink')}>
          <EntryName {...props} view={view} />
        </span>
        <EntryNote {...props} view={view} />
      </th>
      <td className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <EntryBadge view={view} />
        <EntryVerified view={view} />
      </td>
      <td className="flex sm:justify-end">
        <EntryAccess {...props} view={view} />
      </td>
    </tr>
  )
})

import { LayoutGrid, List } from 'lucide-react'
import { memo, useCallback, useDeferredValue, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { AclStatus, UserStatus } from '#server/status/status.schema.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { SearchField } from '../components/search-field.tsx'
import { EntryPolls, useEntryActs } from './entry-acts.tsx'
import { EntryCard } from './entry-card.tsx'
import { EntryList, EntryListSection, EntryRow } from './entry-list.tsx'
import type { EntryProps, FavouriteProps } from './entry-parts.tsx'
import {
  firstEntries,
  type Section,
  searchAbove,
  searchSections,
  sectionsOf,
  toIds,
  visibleEntries,
} from './sections.ts'
import { useFirstScreen } from './use-first-screen.ts'
import { useKept } from './use-kept.ts'

const toView = (stored: unknown): 'card' | 'list' => (stored === 'list' ? 'list' : 'card')

/** The entries in their sections, as cards or as a list, with search above 10. Portal §2 "New dashboard". */
export const HomeEntries = memo(function HomeEntries({ status }: { status: UserStatus }) {
  const { t, i18n } = useTranslation()
  const [view, setView] = useKept('view', toView)
  const [favourites, setFavourites] = useKept('favouriteAclIds', toIds)
  const [search, setSearch] = useState('')
  const acts = useEntryActs(status)

  const entries = useMemo(() => visibleEntries(status.ACLs), [status.ACLs])
  const favouriteIds = useMemo(() => new Set(favourites), [favourites])
  const sections = useMemo(
    () => sectionsOf(entries, { favourites: favouriteIds, uses: acts.uses, locale: i18n.language }),
    [entries, favouriteIds, acts.uses, i18n.language],
  )
  const hasSearch = entries.length > searchAbove
  // What is typed shows at once; what is found may come a moment later.
  const wanted = useDeferredValue(hasSearch ? search.trim() : '')
  const found = useMemo(() => searchSections(sections, wanted), [sections, wanted])
  const drawn = useFirstScreen(found, firstEntries)
  const onFavourite = useCallback(
    ({ ACLID }: AclStatus) =>
      setFavourites((before) =>
        before.includes(ACLID) ? before.filter((id) => id !== ACLID) : [...before, ACLID],
      ),
    [setFavourites],
  )
  const propsOf = (entry: AclStatus): EntryProps & FavouriteProps => ({
    ...acts.propsOf(entry),
    isFavourite: favouriteIds.has(entry.ACLID),
    onFavourite,
  })

  if (entries.length === 0) return <EmptyState title={t('home.empty')} text={t('home.emptyText')} />
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-1 gap-y-3">
        <h2 className="flex-1 text-xl font-bold tracking-tight text-ink">{t('home.title')}</h2>
        {hasSearch ? (
          <SearchField
            label={t('home.search')}
            value={search}
            onChange={setSearch}
            className="max-sm:order-last max-sm:w-full sm:w-72"
          />
        ) : null}
        <IconButton
          icon={view === 'card' ? List : LayoutGrid}
          label={t(view === 'card' ? 'home.view.list' : 'home.view.cards')}
          onClick={() => setView((before) => (before === 'card' ? 'list' : 'card'))}
        />
      </div>
      <output className="sr-only">
        {wanted === '' ? '' : t('home.searchResult', { count: countOf(found) })}
      </output>
      {found.length === 0 ? <EmptyState title={t('home.noMatches', { search: wanted })} /> : null}
      {view === 'card' ? <Cards sections={drawn} propsOf={propsOf} /> : null}
      {view === 'list' && found.length > 0 ? <Rows sections={drawn} propsOf={propsOf} /> : null}
      <EntryPolls acts={acts} entries={entries} />
    </>
  )
})

type Props = { sections: readonly Section[]; propsOf: (entry: AclStatus) => EntryProps & FavouriteProps }

function Cards({ sections, propsOf }: Props) {
  return sections.map((section) => (
    <section key={`${section.kind} ${section.name}`} className="flex flex-col gap-3">
      <h3 className="text-sm font-semibold text-muted">
        <SectionTitle section={section} />
      </h3>
      <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,18.5rem),1fr))] gap-4">
        {section.entries.map((entry) => (
          <EntryCard key={entry.ACLID} {...propsOf(entry)} />
        ))}
      </div>
    </section>
  ))
}

function Rows({ sections, propsOf }: Props) {
  const { t } = useTranslation()
  return (
    <EntryList label={t('home.title')}>
      {sections.map((section) => (
        <EntryListSection key={`${section.kind} ${section.name}`} title={<SectionTitle section={section} />}>
          {section.entries.map((entry) => (
            <EntryRow key={entry.ACLID} {...propsOf(entry)} />
          ))}
        </EntryListSection>
      ))}
    </EntryList>
  )
}

function SectionTitle({ section }: { section: Section }) {
  const { t } = useTranslation()
  if (section.kind === 'favourites') return t('home.favourites')
  if (section.kind === 'top') return t('home.top')
  return section.kind === 'other' ? t('home.other') : section.name
}

const countOf = (sections: readonly Section[]): number =>
  sections.reduce((sum, { entries }) => sum + entries.length, 0)

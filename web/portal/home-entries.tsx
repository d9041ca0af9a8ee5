import { LayoutGrid, List } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { AclStatus } from '#server/status/status.schema.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { SearchField } from '../components/search-field.tsx'
import { useNow } from '../components/use-now.ts'
import { EntryCard } from './entry-card.tsx'
import { EntryList } from './entry-list.tsx'
import { entryView } from './entry-view.ts'
import {
  countUse,
  type Section,
  searchAbove,
  searchEntries,
  sectionsOf,
  toIds,
  toUseCounts,
  visibleEntries,
} from './sections.ts'
import { useGrants } from './use-grants.ts'
import { useKept } from './use-kept.ts'
import type { UserSession } from './user-session.ts'

const GrantPoll = lazy(async () => ({ default: (await import('./grant-poll.tsx')).GrantPoll }))

const toView = (stored: unknown): 'card' | 'list' => (stored === 'list' ? 'list' : 'card')

/** The entries in their sections, as cards or as a list, with search above 10. */
export function HomeEntries({ session: { status, offsetMs } }: { session: UserSession }) {
  const { t, i18n } = useTranslation()
  const [view, setView] = useKept('view', toView)
  const [favourites, setFavourites] = useKept('favouriteAclIds', toIds)
  const [uses, setUses] = useKept('topAclIds', toUseCounts)
  const [search, setSearch] = useState('')
  /** How the last click ended, for screen readers. */
  const [news, setNews] = useState('')
  const { busy, failures, polls, grantEntry, revokeEntry, endPoll } = useGrants()
  const now = useNow(1_000) + offsetMs

  const entries = useMemo(() => visibleEntries(status.ACLs), [status.ACLs])
  const hasSearch = entries.length > searchAbove
  const found = useMemo(
    () => (hasSearch ? searchEntries(entries, search) : entries),
    [entries, search, hasSearch],
  )
  const favouriteIds = useMemo(() => new Set(favourites), [favourites])
  const sections = useMemo(
    () => sectionsOf(found, { favourites: favouriteIds, uses, locale: i18n.language }),
    [found, favouriteIds, uses, i18n.language],
  )
  const onOpen = useCallback(
    ({ ACLID }: AclStatus) => setUses((before) => countUse(before, ACLID)),
    [setUses],
  )
  const onGrant = useCallback(
    (entry: AclStatus) => {
      onOpen(entry)
      grantEntry(entry)
    },
    [onOpen, grantEntry],
  )
  const onFavourite = useCallback(
    ({ ACLID }: AclStatus) =>
      setFavourites((before) =>
        before.includes(ACLID) ? before.filter((id) => id !== ACLID) : [...before, ACLID],
      ),
    [setFavourites],
  )
  const onSettled = useCallback(
    (aclId: string, status: number | null) => {
      endPoll(aclId)
      const outcome = outcomeOf(status)
      const name = entries.find((entry) => entry.ACLID === aclId)?.Description ?? ''
      setNews(outcome ? t(`entry.${outcome}`, { name }) : '')
    },
    [endPoll, entries, t],
  )
  const toProps = (entry: AclStatus) => ({
    entry,
    now,
    view: entryView(entry, now),
    isBusy: busy.has(entry.ACLID),
    failure: failures.get(entry.ACLID),
    isFavourite: favouriteIds.has(entry.ACLID),
    isBlocked: !status.Licensed || !status.UserLicensed || status.UntrustedProxy !== null,
    onGrant,
    onRevoke: revokeEntry,
    onFavourite,
    onOpen,
  })

  if (entries.length === 0) return <EmptyState title={t('home.empty')} text={t('home.emptyText')} />
  return (
    <>
      <div className="flex items-center justify-between gap-3">
        <h2 className="text-xl font-bold tracking-tight text-ink">{t('home.title')}</h2>
        <div className="flex items-center gap-1">
          {hasSearch ? (
            <SearchField
              label={t('home.search')}
              value={search}
              onChange={setSearch}
              className="max-sm:hidden sm:w-64"
            />
          ) : null}
          <IconButton
            icon={view === 'card' ? List : LayoutGrid}
            label={t(view === 'card' ? 'home.view.list' : 'home.view.cards')}
            onClick={() => setView((before) => (before === 'card' ? 'list' : 'card'))}
          />
        </div>
      </div>
      {hasSearch ? (
        <SearchField label={t('home.search')} value={search} onChange={setSearch} className="sm:hidden" />
      ) : null}
      <output className="sr-only">{news}</output>
      <output className="sr-only">
        {search.trim() === '' ? '' : t('home.searchResult', { count: found.length })}
      </output>
      {found.length === 0 ? <EmptyState title={t('home.noMatches', { search: search.trim() })} /> : null}
      {sections.map((section, index) => (
        <section key={`${section.kind} ${section.name}`} className="flex flex-col gap-3">
          <h3 className="text-sm font-semibold text-muted">
            <SectionTitle section={section} />
          </h3>
          {view === 'list' ? (
            <EntryList
              isHeadHidden={index > 0}
              label={section.name || t('home.title')}
              entries={section.entries.map(toProps)}
            />
          ) : (
            <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,18.5rem),1fr))] gap-4">
              {section.entries.map((entry) => (
                <EntryCard key={entry.ACLID} {...toProps(entry)} />
              ))}
            </div>
          )}
        </section>
      ))}
      <Suspense>
        {[...polls].map(([aclId, count]) => (
          <GrantPoll key={`${aclId} ${count}`} aclId={aclId} onSettled={onSettled} />
        ))}
      </Suspense>
    </>
  )
}

const outcomeOf = (status: number | null): 'granted' | 'revoked' | 'failed' | null => {
  if (status === 0 || status === 5 || status === 6) return 'granted'
  if (status === 4 || status === 9) return 'revoked'
  return status === 1 || status === 10 ? 'failed' : null
}

function SectionTitle({ section }: { section: Section }) {
  const { t } = useTranslation()
  if (section.kind === 'favourites') return t('home.favourites')
  if (section.kind === 'top') return t('home.top')
  return section.kind === 'other' ? t('home.other') : section.name
}

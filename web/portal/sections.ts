import type { AclStatus } from '#server/status/status.schema.ts'

/** A search box shows above so many entries. Portal §9. */
export const searchAbove = 10
/** The section of the most used entries shows above so many, and holds so many. */
export const topAbove = 20
export const topSize = 5

/** The category of entries that were given none; shown as 'Other', last. */
const defaultCategory = 'Default'

export type Section = {
  kind: 'favourites' | 'top' | 'other' | 'category'
  name: string
  entries: AclStatus[]
}

/**
 * The entries a user sees: not hidden, no children, each Description once.
 *
 * Of several with one Description a parent comes before a child, then the oldest; the server sends the oldest first.
 */
export function visibleEntries(acls: readonly AclStatus[]): AclStatus[] {
  const shown = new Map<string, AclStatus>()
  for (const acl of acls) {
    if (acl.HideFromUsers || isChild(acl)) continue
    const same = shown.get(acl.Description)
    if (same === undefined || (same.ParentID !== null && acl.ParentID === null))
      shown.set(acl.Description, acl)
  }
  return [...shown.values()]
}

/**
 * The sections in their order: favourites, the most used (above 20 entries), then the categories by name with the
 * default one last. A favourite stands among the favourites only; the most used stand in their category as well.
 */
export function sectionsOf(
  entries: readonly AclStatus[],
  { favourites, uses, locale }: { favourites: ReadonlySet<string>; uses: UseCounts; locale: string },
): Section[] {
  const collator = new Intl.Collator(locale, { numeric: true, sensitivity: 'base' })
  const byName = (one: AclStatus, other: AclStatus) => collator.compare(one.Description, other.Description)
  const rest = entries.filter((entry) => !favourites.has(entry.ACLID))
  const sections: Section[] = [
    {
      kind: 'favourites',
      name: '',
      entries: entries.filter((entry) => favourites.has(entry.ACLID)).sort(byName),
    },
    { kind: 'top', name: '', entries: entries.length > topAbove ? mostUsed(rest, uses) : [] },
    ...categoriesOf(rest, collator).map((section) => ({ ...section, entries: section.entries.sort(byName) })),
  ]
  return sections.filter((section) => section.entries.length > 0)
}

/**
 * What a search leaves of the sections: entries whose Description, URL or Icon contain the text, whatever the case.
 * The most used, which stand in their categories as well, are left out, so that each is found once.
 */
export function searchSections(sections: readonly Section[], search: string): Section[] {
  const wanted = search.trim().toLowerCase()
  if (wanted === '') return [...sections]
  const matches = ({ Description, URL, Icon }: AclStatus) =>
    [Description, URL, Icon].some((text) => text.toLowerCase().includes(wanted))
  return sections
    .filter(({ kind }) => kind !== 'top')
    .map((section) => ({ ...section, entries: section.entries.filter(matches) }))
    .filter(({ entries }) => entries.length > 0)
}

/** As many entries as a screen shows at first, in their sections: the others are drawn a moment later. */
export function firstEntries(sections: readonly Section[], most: number): Section[] {
  let left = most
  return sections.flatMap((section) => {
    const entries = section.entries.slice(0, left)
    left -= entries.length
    return entries.length === 0 ? [] : { ...section, entries }
  })
}

/** ACLID → how often it was opened or granted in this browser. */
export type UseCounts = Readonly<Record<string, number>>

/** One more use. */
export const countUse = (uses: UseCounts, aclId: string): UseCounts => ({
  ...uses,
  [aclId]: (uses[aclId] ?? 0) + 1,
})

/** What storage holds, as use counts; whatever isn't one is left out. */
export const toUseCounts = (stored: unknown): UseCounts =>
  typeof stored === 'object' && stored !== null
    ? Object.fromEntries(
        Object.entries(stored).filter(
          (entry): entry is [string, number] => typeof entry[1] === 'number' && Number.isFinite(entry[1]),
        ),
      )
    : {}

/** What storage holds, as ids. */
export const toIds = (stored: unknown): string[] =>
  Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []

const isChild = (acl: AclStatus): boolean => acl.ParentID !== null && acl.ID === ''

const mostUsed = (entries: readonly AclStatus[], uses: UseCounts): AclStatus[] =>
  entries
    .filter((entry) => (uses[entry.ACLID] ?? 0) > 0)
    .sort((one, other) => (uses[other.ACLID] ?? 0) - (uses[one.ACLID] ?? 0))
    .slice(0, topSize)

function categoriesOf(entries: readonly AclStatus[], collator: Intl.Collator): Section[] {
  const groups = new Map<string, AclStatus[]>()
  for (const entry of entries) {
    const name = entry.Category.trim() || defaultCategory
    groups.set(name, [...(groups.get(name) ?? []), entry])
  }
  return [...groups]
    .map(
      ([name, group]): Section => ({
        kind: name === defaultCategory ? 'other' : 'category',
        name,
        entries: group,
      }),
    )
    .sort((one, other) =>
      one.kind === other.kind ? collator.compare(one.name, other.name) : one.kind === 'other' ? 1 : -1,
    )
}

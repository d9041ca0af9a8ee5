import { describe, expect, it } from 'vitest'
import type { AclStatus } from '#server/status/status.schema.ts'
import {
  countUse,
  firstEntries,
  searchSections,
  sectionsOf,
  toIds,
  toUseCounts,
  visibleEntries,
} from './sections.ts'
import { anEntry as entryWith } from './testing/an-entry.ts'

const anEntry = (name: string, facts: Partial<AclStatus> = {}): AclStatus =>
  entryWith({ ID: name, ACLID: name, Description: name, ...facts })
const names = (entries: readonly AclStatus[]) => entries.map((entry) => entry.ACLID)
const plain = { favourites: new Set<string>(), uses: {}, locale: 'en-AU' }

describe('what a user sees', () => {
  it('leaves out hidden entries and children', () => {
    const entries = [
      anEntry('shown'),
      anEntry('hidden', { HideFromUsers: true }),
      anEntry('child', { ParentID: 'shown', ID: '' }),
    ]
    expect(names(visibleEntries(entries))).toEqual(['shown'])
  })

  it('shows a Description once: after hiding, a parent before a child, then the oldest', () => {
    const same = { Description: 'Same' }
    expect(
      names(
        visibleEntries([
          anEntry('hidden', { ...same, HideFromUsers: true }),
          anEntry('of-parent', { ...same, ParentID: 'p' }),
          anEntry('older', same),
          anEntry('newer', same),
        ]),
      ),
    ).toEqual(['older'])
  })
})

describe('sections', () => {
  it('come by category name, with the default one last as Other', () => {
    const entries = [
      anEntry('d'),
      anEntry('z', { Category: 'Zoo' }),
      anEntry('e', { Category: '' }),
      anEntry('a10', { Category: 'Area' }),
      anEntry('a9', { Category: 'Area' }),
    ]
    expect(sectionsOf(entries, plain).map(({ kind, name, entries }) => [kind, name, names(entries)])).toEqual(
      [
        ['category', 'Area', ['a9', 'a10']],
        ['category', 'Zoo', ['z']],
        ['other', 'Default', ['d', 'e']],
      ],
    )
  })

  it('begin with the favourites, which stand nowhere else', () => {
    const sections = sectionsOf([anEntry('a'), anEntry('b')], {
      ...plain,
      favourites: new Set(['b', 'gone']),
    })
    expect(sections.map(({ kind, entries }) => [kind, names(entries)])).toEqual([
      ['favourites', ['b']],
      ['other', ['a']],
    ])
  })

  it('name the five most used only above 20 entries', () => {
    const entries = Array.from({ length: 21 }, (_, index) => anEntry(`e${index}`))
    const uses = { e3: 2, e4: 9, e5: 1, e6: 4, e7: 3, e8: 5, gone: 50 }
    const top = (count: number) =>
      sectionsOf(entries.slice(0, count), { ...plain, uses }).find(({ kind }) => kind === 'top')
    expect(names(top(21)?.entries ?? [])).toEqual(['e4', 'e8', 'e6', 'e7', 'e3'])
    expect(top(20)).toBeUndefined()
  })

  it('a search leaves what matches by Description, URL or Icon, whatever the case', () => {
    const entries = [
      anEntry('a', { Description: 'Payroll' }),
      anEntry('b', { URL: 'https://pay.example', Category: 'Zoo' }),
      anEntry('c', { Icon: 'credit-card' }),
    ]
    const search = (text: string) =>
      searchSections(sectionsOf(entries, plain), text).map((section) => names(section.entries))
    expect(search(' PAY ')).toEqual([['b'], ['a']])
    expect(search('Credit')).toEqual([['c']])
    expect(search('  ')).toHaveLength(2)
    expect(search('nothing')).toEqual([])
  })

  it('a search finds each entry once: the most used are in their category as well', () => {
    const entries = Array.from({ length: 21 }, (_, index) => anEntry(`e${index}`))
    const sections = sectionsOf(entries, { ...plain, favourites: new Set(['e2']), uses: { e1: 1, e2: 2 } })
    expect(sections.map(({ kind }) => kind)).toEqual(['favourites', 'top', 'other'])
    expect(searchSections(sections, 'e2').map(({ kind, entries }) => [kind, names(entries)])).toEqual([
      ['favourites', ['e2']],
      ['other', ['e20']],
    ])
    expect(searchSections(sections, 'e1').map(({ kind }) => kind)).toEqual(['other'])
  })

  it('begin with as many entries as are asked for, in the same order', () => {
    const entries = ['a', 'b', 'c'].map((name) => anEntry(name))
    const sections = sectionsOf(entries, { ...plain, favourites: new Set(['c']) })
    const namesOf = (most: number) => firstEntries(sections, most).map(({ entries }) => names(entries))
    expect([0, 1, 2, 9].map(namesOf)).toEqual([
      [],
      [['c']],
      [['c'], ['a']],
      sections.map(({ entries }) => names(entries)),
    ])
  })

  it('are none without entries', () => {
    expect(sectionsOf([], plain)).toEqual([])
  })
})

describe('what the browser keeps', () => {
  it('counts uses', () => {
    expect(countUse(countUse({}, 'a'), 'a')).toEqual({ a: 2 })
  })
  it('makes sense of anything that is stored', () => {
    expect(toUseCounts({ a: 2, b: 'x', c: Number.NaN })).toEqual({ a: 2 })
    for (const spoilt of [undefined, null, 'x', 7, '[{']) {
      expect(toUseCounts(spoilt)).toEqual({})
      expect(toIds(spoilt)).toEqual([])
    }
    expect(toIds(['a', 1, null, 'b'])).toEqual(['a', 'b'])
  })
})

import { describe, expect, it } from 'vitest'
import { chooseEntries, isOpen, needsClick, needsSignIn, stateOf } from './entries.ts'
import { anEntry } from './testing/fake-site.ts'

describe('an entry', () => {
  it.each([
    [0, 'open', true],
    [1, 'failed', false],
    [2, 'pending', false],
    [3, 'agentOffline', false],
    [4, 'closed', false],
    [5, 'read', true],
    [6, 'published', true],
    [8, 'closing', false],
    [9, 'closed', false],
    [10, 'failed', false],
    [77, 'pending', false],
  ])('with status %i is %s', (Status, state, open) => {
    expect([stateOf(anEntry({ Status })), isOpen(anEntry({ Status }))]).toEqual([state, open])
  })

  it('is restricted where it may not be opened, unless it is still open', () => {
    expect(stateOf(anEntry({ Status: 4, DisableForUser: true }))).toBe('restricted')
    expect(stateOf(anEntry({ Status: 0, DisableForUser: true }))).toBe('open')
  })

  it('needs a click only where a click opens', () => {
    const clicked = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10].filter((Status) =>
      needsClick(anEntry({ ClickToGrant: true, Status })),
    )
    expect(clicked).toEqual([1, 4, 9, 10])
    expect(needsClick(anEntry({ Status: 4 }))).toBe(false)
    expect(needsClick(anEntry({ ClickToGrant: true, Status: 4, DisableForUser: true }))).toBe(false)
  })

  it('that opens by itself and is over needs a sign-in', () => {
    expect([4, 9].map((Status) => needsSignIn(anEntry({ Status })))).toEqual([false, true])
    expect(needsSignIn(anEntry({ Status: 9, ClickToGrant: true }))).toBe(false)
  })
})

describe('what a run is about', () => {
  const [ssh, git, wiki] = [
    anEntry(),
    anEntry({ Description: 'Git', ClickToGrant: true }),
    anEntry({ Description: 'Wiki' }),
  ]
  const names = (wanted: readonly string[]) => {
    const chosen = chooseEntries({ ACLs: [ssh, git, wiki] }, wanted)
    return [chosen.wanted.map(({ Description }) => Description), chosen.missing]
  }

  it('is every entry that opens by itself, unless some are named', () => {
    expect(names([])).toEqual([['SSH', 'Wiki'], []])
  })

  it('is exactly those named, by name in any case or by id', () => {
    expect(names(['git', ' id of SSH '])).toEqual([['SSH', 'Git'], []])
    expect(names(['SSH', 'Mail'])).toEqual([['SSH'], ['Mail']])
  })
})

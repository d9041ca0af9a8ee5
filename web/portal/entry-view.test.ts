import { describe, expect, it } from 'vitest'
import type { AclStatus } from '#server/status/status.schema.ts'
import { entryLink, entryView, hasPastEnd } from './entry-view.ts'
import { anEntry } from './testing/an-entry.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
const at = (milliseconds: number) => new Date(now + milliseconds).toISOString()
const hour = 3_600_000

const view = (facts: Partial<AclStatus>) => entryView(anEntry(facts), now)

describe('an entry at a moment', () => {
  it('stands open with the time that is left', () => {
    expect(view({ Status: 0, ExpiredAfter: at(2 * hour) })).toMatchObject({
      door: 'open',
      button: 'revoke',
      leftMs: 2 * hour,
      endsSoon: false,
      tone: 'ok',
    })
  })
  it('turns orange below 15 minutes', () => {
    expect(view({ Status: 0, ExpiredAfter: at(15 * 60_000) }).tone).toBe('ok')
    expect(view({ Status: 0, ExpiredAfter: at(15 * 60_000 - 1) }).tone).toBe('warn')
  })
  it('is ajar while something is on its way, and offers to take back what may be open', () => {
    expect(view({ Status: 2 })).toMatchObject({ door: 'ajar', button: 'pending' })
    expect(view({ Status: 8, ExpiredAfter: at(hour) })).toMatchObject({
      door: 'ajar',
      button: 'revoke',
      leftMs: null,
    })
    expect(view({ Status: 6, ExpiredAfter: at(hour) })).toMatchObject({
      door: 'ajar',
      button: 'revoke',
      leftMs: hour,
    })
  })
  it('has no button on an error, while greyed, or when it opens by itself', () => {
    for (const facts of [
      { Status: 1 },
      { Status: 10 },
      { Status: 3 },
      { Status: 4, DisableForUser: true },
      { Status: 4, ClickToGrant: false },
      { Status: 7 },
    ])
      expect(view(facts).button, JSON.stringify(facts)).toBe('none')
  })
  it('is greyed when restricted or when its agent is away', () => {
    expect(view({ Status: 3 }).isRestricted).toBe(true)
    expect(view({ Status: 4, DisableForUser: true }).isRestricted).toBe(true)
    expect(view({ Status: 4 }).isRestricted).toBe(false)
  })
  it('says how long ago it was verified, never in the future, and only while open', () => {
    expect(view({ Status: 0, ExpiredAfter: at(hour), VerifiedAt: at(-400) }).verifiedMsAgo).toBe(400)
    expect(view({ Status: 0, ExpiredAfter: at(hour), VerifiedAt: at(50) }).verifiedMsAgo).toBe(0)
    expect(view({ Status: 9, VerifiedAt: at(-400) }).verifiedMsAgo).toBeNull()
  })
})

describe('an entry’s link', () => {
  it('is there for web addresses only', () => {
    expect(entryLink(anEntry({ URL: 'https://a.example/x?y=1' }))).toBe('https://a.example/x?y=1')
    for (const URL of ['', 'ssh://a.example', 'javascript:alert(1)', 'https://', ' data:text/html,x'])
      expect(entryLink(anEntry({ URL })), URL).toBeUndefined()
  })
  it('carries the one-time token', () => {
    const entry = anEntry({ URL: 'https://a.example/x?y=1', Config: { UriToken: 'a b&c' } })
    expect(entryLink(entry)).toBe('https://a.example/x?y=1&knoc_token=a+b%26c')
  })
})

it('asks for a fresh status once an end has passed', () => {
  expect(hasPastEnd([anEntry({ ExpiredAfter: at(0) })], now)).toBe(true)
  expect(hasPastEnd([anEntry({ ExpiredAfter: at(1) }), anEntry()], now)).toBe(false)
})

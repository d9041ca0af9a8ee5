import { describe, expect, it } from 'vitest'
import { statusNumbers } from '#machines/grant-status.ts'
import type { AclStatus } from '#server/status/status.schema.ts'
import { entryLink, entryView, hasPastEnd, lastTurn } from './entry-view.ts'
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
      endsAt: now + 2 * hour,
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
      endsAt: null,
    })
    expect(view({ Status: 6, ExpiredAfter: at(hour) })).toMatchObject({
      door: 'ajar',
      button: 'revoke',
      endsAt: now + hour,
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
  it.each([
    [{ Status: 3 }, 'agentOffline'],
    [{ Status: 3, DisableForUser: true, RestrictedBy: 'denyList' }, 'agentOffline'],
    [{ DisableForUser: true, RestrictedBy: 'internalOnly' }, 'internalOnly'],
    [{ DisableForUser: true, RestrictedBy: 'externalOnly' }, 'externalOnly'],
    [{ DisableForUser: true, RestrictedBy: 'allowList' }, 'allowList'],
    [{ DisableForUser: true, RestrictedBy: 'denyList' }, 'denyList'],
    [{ DisableForUser: true }, 'unexplained'],
    [{ Status: 4 }, null],
    [{ Status: 4, RestrictedBy: 'denyList' }, null],
  ] as const)('is greyed with its reason: %o is %s', (facts, restriction) => {
    expect(view(facts).restriction).toBe(restriction)
  })
  it('tells when it was verified only while open', () => {
    const VerifiedAt = at(-400)
    expect(view({ Status: 0, ExpiredAfter: at(hour), VerifiedAt }).verifiedAt).toBe(now - 400)
    expect(view({ Status: 9, VerifiedAt }).verifiedAt).toBeNull()
  })
  it('says how an open or a closed door is known to be so, and nothing while it may be either', () => {
    expect(view({ Status: 0, Verified: 'verified' }).proof).toBe('verified')
    expect(view({ Status: 0, Verified: 'reported' }).proof).toBe('reported')
    expect(view({ Status: 9, Verified: 'verified' }).proof).toBe('closedVerified')
    expect(view({ Status: 9, Verified: 'reported' }).proof).toBe('closedReported')
    for (const Status of [1, 2, 3, 4, 8, 10]) expect(view({ Status, Verified: 'verified' }).proof).toBeNull()
    for (const Status of [0, 5, 6, 9]) expect(view({ Status }).proof).toBeNull()
  })
  it('is the same between two turns of the clock', () => {
    for (const Status of statusNumbers)
      for (const DisableForUser of [false, true])
        for (const end of [null, -hour, -1, 0, 1, 899_999, 900_000, 900_001, hour]) {
          const entry = anEntry({ Status, DisableForUser, ExpiredAfter: end === null ? null : at(end) })
          const turn = lastTurn(entry, now)
          expect(turn).toBeLessThanOrEqual(now)
          expect(entryView(entry, turn), `${Status} ${end}`).toEqual(entryView(entry, now))
        }
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

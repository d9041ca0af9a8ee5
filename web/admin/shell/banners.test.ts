import { describe, expect, it } from 'vitest'
import { type BannerFacts, type BannerPlace, findBanner } from './banners.ts'

const licensing = {
  Licensed: true,
  Expires: '2030-01-01T00:00:00Z',
  UserLimit: 100,
  UserLimitOverage: 50,
  UserLimitOveragePercentage: 50,
  SessionLimit: null,
}
const facts = (
  status: Partial<BannerFacts['status']> = {},
  agents: BannerFacts['agents'] = [{ Version: '2.0.0' }, { Version: null }],
): BannerFacts => ({
  status: {
    Cloud: false,
    ServerVersion: '2.0.0',
    AvailableServerVersions: [],
    MinimumRequiredAgentVersion: { version: '1.6.0' },
    AvailableAgentVersions: ['2.0.0'],
    LatestChangeLogsUrl: null,
    LicenceSite: 'https://licence.example',
    UserCount: 10,
    Licensing: licensing,
    Now: '2026-11-21T00:00:00Z',
    ...status,
  },
  agents,
})
const everything = facts(
  {
    Licensing: { ...licensing, Licensed: true, Expires: '2026-12-01T00:00:00Z' },
    UserCount: 150,
    AvailableServerVersions: [
      { version: '2.1.0', urgency: 'high', changelog_link: 'https://example.org/2.1.0' },
    ],
  },
  [{ Version: '1.5.0' }],
)

/** Dismisses one banner after the other. */
const sequence = (of: BannerFacts, place: BannerPlace) => {
  const seen: string[] = []
  for (let next = findBanner(of, place, seen); next; next = findBanner(of, place, seen)) seen.push(next.id)
  return seen
}

describe('banners of the console', () => {
  it('shows none when all is well', () => {
    expect(findBanner(facts(), 'home', [])).toBeUndefined()
  })

  it('shows them one at a time, in each page’s order', () => {
    expect(sequence(everything, 'home')).toEqual([
      'expiresSoon',
      'agentIncompatible',
      'userLimitExceeded',
      'serverUpdate',
    ])
    expect(sequence(everything, 'users')).toEqual([
      'agentIncompatible',
      'userLimitExceeded',
      'userLimitReached',
      'serverUpdate',
    ])
    expect(sequence(everything, 'other')).toEqual(['agentIncompatible', 'userLimitExceeded', 'serverUpdate'])
  })

  it('puts the missing licence first, and links to a licence site only where there is one', () => {
    const unlicensed = { Licensing: { ...licensing, Licensed: false } }
    expect(findBanner(facts(unlicensed, [{ Version: '1.0.0' }]), 'other', [])).toMatchObject({
      id: 'unlicensed',
      link: { url: 'https://licence.example' },
    })
    expect(findBanner(facts({ ...unlicensed, LicenceSite: null }), 'other', [])?.link).toBeUndefined()
  })

  it.each([
    [100, undefined],
    [101, 'userLimitOver'],
    [130, 'userLimitOver'],
    [131, 'userLimitFar'],
    [149, 'userLimitFar'],
    [150, 'userLimitBlocked'],
  ])('with %i of 100 users says %s', (UserCount, text) => {
    expect(findBanner(facts({ UserCount }), 'other', [])?.text).toBe(text)
  })

  it('warns 60 days before the licence ends, but not in the cloud', () => {
    const at = (Expires: string, Cloud = false) =>
      findBanner(facts({ Cloud, Licensing: { ...licensing, Expires } }), 'home', [])
    expect(at('2027-01-21T00:00:00Z')).toBeUndefined()
    expect(at('2027-01-20T00:00:00Z')).toMatchObject({ id: 'expiresSoon', values: { count: 60 } })
    expect(at('2026-11-22T00:00:00Z', true)).toBeUndefined()
  })

  it('names the most urgent update, with its changelog when it presses', () => {
    const updates = (...AvailableServerVersions: unknown[]) =>
      findBanner(
        facts({ AvailableServerVersions, LatestChangeLogsUrl: 'https://example.org/log' }),
        'other',
        [],
      )
    expect(updates({ version: '2.0.0', urgency: 'critical' }, { version: '1.9.0' })).toBeUndefined()
    expect(
      updates({ version: '2.3.0', urgency: 'low' }, { version: '2.2.0', urgency: 'critical' }),
    ).toMatchObject({
      text: 'serverUpdate.critical',
      values: { version: '2.2.0' },
      link: { url: 'https://example.org/log' },
    })
    expect(updates({ version: '2.3.0', urgency: 'medium' })?.link).toBeUndefined()
    expect(updates({ version: '2.3.0', urgency: 'strange' })?.text).toBe('serverUpdate.default')
    expect(
      updates({ version: '2.3.0', urgency: 'high', changelog_link: 'javascript:alert(1)' })?.link?.url,
    ).toBe('https://example.org/log')
    expect(updates(null, 'x', { version: 7 })).toBeUndefined()
  })
})

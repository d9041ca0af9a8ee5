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
const noLicence = { ...licensing, Licensed: false }
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

/** Dismisses one banner after the other: what is seen in turn. */
const sequence = (of: BannerFacts, place: BannerPlace) => {
  const seen: string[] = []
  for (let next = findBanner(of, place, seen); next; next = findBanner(of, place, seen)) seen.push(next.text)
  return seen
}

describe('banners of the console', () => {
  it('shows none when all is well', () => {
    expect(findBanner(facts(), 'home', [])).toBeUndefined()
  })

  it.each([
    ['home', ['expiresSoon', 'agentIncompatible', 'userLimitBlocked', 'serverUpdate.high']],
    ['people', ['agentIncompatible', 'userLimitBlocked', 'userLimitReached', 'serverUpdate.high']],
    ['other', ['agentIncompatible', 'userLimitBlocked', 'serverUpdate.high']],
  ] as const)('shows them one at a time, in the order of %s', (place, order) => {
    expect(sequence(everything, place)).toEqual(order)
    const unlicensed = { ...everything, status: { ...everything.status, Licensing: noLicence } }
    expect(sequence(unlicensed, place)[0]).toBe('unlicensed')
  })

  it('shows another kind although one was dismissed, and the same one when it has become worse', () => {
    const users = (UserCount: number) => facts({ UserCount }, [{ Version: '2.0.0' }])
    expect(findBanner(users(120), 'other', [])?.text).toBe('userLimitOver')
    const dismissed = ['userLimitOver']
    expect(findBanner(users(120), 'other', dismissed)).toBeUndefined()
    expect(findBanner(users(121), 'other', dismissed)).toBeUndefined()
    expect(findBanner(users(140), 'other', dismissed)?.text).toBe('userLimitFar')
    expect(findBanner(users(150), 'other', dismissed)?.text).toBe('userLimitBlocked')
    expect(findBanner({ ...users(120), agents: [{ Version: '1.0.0' }] }, 'other', dismissed)?.text).toBe(
      'agentIncompatible',
    )
  })

  it('says of what a license key mends that it is done in Settings', () => {
    const soon = { Licensing: { ...licensing, Expires: '2026-12-01T00:00:00Z' } }
    expect(findBanner(facts(soon), 'home', [])?.isForSettings).toBe(true)
    expect(findBanner(facts({ Licensing: noLicence }), 'home', [])?.isForSettings).toBe(true)
    expect(findBanner(facts({ UserCount: 150 }), 'home', [])?.isForSettings).toBeUndefined()
  })

  it('puts the missing licence first, and links to a licence site only where there is one', () => {
    const unlicensed = { Licensing: noLicence }
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

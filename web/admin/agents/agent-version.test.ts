import { describe, expect, it } from 'vitest'
import { announcedVersion, latestVersion, versionStanding } from './agent-version.ts'

const policy = { minimum: '1.6.0', available: ['2.0.0', '2.10.0', '2.9.1'] }

describe('agent versions', () => {
  it('names the newest that can be had', () => {
    expect(latestVersion(policy)).toBe('2.10.0')
  })

  it.each([
    ['1.5.9', 'incompatible'],
    ['1.6.0', 'outOfDate'],
    ['2.10.0', 'upToDate'],
    ['3.0.0', 'upToDate'],
    [null, 'unknown'],
    ['', 'unknown'],
    ['1.6.0-rc.1', 'incompatible'],
  ] as const)('shows %s as %s', (version, standing) => {
    expect(versionStanding(version, policy)).toBe(standing)
  })

  it('calls nobody out of date when the server hands out nothing', () => {
    expect(versionStanding('1.6.0', { minimum: '1.6.0', available: [] })).toBe('upToDate')
  })

  it('announces the newest version only once some agent runs it', () => {
    expect(announcedVersion([{ Version: '2.9.1' }, { Version: null }], policy)).toBeUndefined()
    expect(announcedVersion([{ Version: '2.9.1' }, { Version: '2.10.0' }], policy)).toBe('2.10.0')
  })
})

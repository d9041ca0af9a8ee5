import { describe, expect, it } from 'vitest'
import type { Capabilities } from '#machines/protocol.ts'
import { findOsName, reviewNotices, setSuggestions } from './knoc-review.ts'

const capabilities: Capabilities = {
  'os-release': { NAME: 'Debian GNU/Linux', VERSION: '13 (trixie)' },
  ipset: {
    command_available: true,
    sudo_enabled: true,
    privilege: 'root',
    ipsets: [
      { name: 'ssh4', address_family: 'inet', timeouts: true, references: 2 },
      { name: 'ssh6', address_family: 'inet6', timeouts: false, references: 0 },
    ],
  },
  haproxy: null,
  script: { enabled: false, commands: [] },
}
const plain: Parameters<typeof reviewNotices>[0]['options'] = {
  AutoBrowseUsers: false,
  HideFromUsers: false,
  CutConnections: true,
  ForeignEntries: 'report',
}
const texts = (acl: Record<string, unknown>, options = plain, agent: Capabilities | null = capabilities) =>
  reviewNotices({ acl, capabilities: agent, options }).map(({ tone, text }) => `${tone} ${text}`)

describe('the review of a Linux knoc', () => {
  it('says nothing of a set that is ready', () => {
    expect(texts({ V4SetName: 'ssh4' })).toEqual([])
  })

  it('warns of sets that the agent has not got', () => {
    expect(texts({ V4SetName: 'web4', V6SetName: 'web6' })).toEqual([
      'warning missingV4Set',
      'warning missingV6Set',
    ])
    expect(texts({ V4SetName: 'ssh4' }, plain, null)).toEqual(['warning missingV4Set'])
  })

  it('warns when a revoke would cut nothing although it is to, and only when the agent says so', () => {
    const withCut = (cut: 'rules' | 'none'): Capabilities => ({
      ...capabilities,
      ipset: {
        ...capabilities.ipset,
        ipsets: capabilities.ipset.ipsets.map((set) => (set.name === 'ssh4' ? { ...set, cut } : set)),
      },
    })
    const knoc = { V4SetName: 'ssh4' }
    expect(texts(knoc, plain, withCut('none'))).toEqual(['warning cutsNothing'])
    expect(texts(knoc, { ...plain, CutConnections: false }, withCut('none'))).toEqual([])
    expect(texts(knoc, plain, withCut('rules'))).toEqual([])
    expect(texts({}, plain, withCut('none'))).toEqual([])
  })

  it('warns that static entries of the administrator’s own would go', () => {
    expect(texts({ V4SetName: 'ssh4' }, { ...plain, ForeignEntries: 'remove' })).toEqual([
      'warning removesForeign',
    ])
  })

  it('warns of sets that cannot do their job', () => {
    expect(texts({ V6SetName: 'ssh6' })).toEqual(['warning noTimeouts', 'warning noReferences'])
    expect(texts({ V6SetName: 'ssh4' })).toEqual(['warning wrongFamily'])
  })

  it('warns of AutoBrowse and mentions what users do not see', () => {
    expect(texts({}, { ...plain, AutoBrowseUsers: true, HideFromUsers: true })).toEqual([
      'warning autoBrowse',
      'info hidden',
    ])
  })

  it('names the operating system, or leaves it unknown', () => {
    expect(findOsName(capabilities)).toBe('Debian GNU/Linux 13 (trixie)')
    expect(findOsName({ ...capabilities, 'os-release': null })).toBeUndefined()
    expect(findOsName(null)).toBeUndefined()
  })

  it('suggests each family its own sets', () => {
    expect(setSuggestions(capabilities)).toEqual({ V4SetName: ['ssh4'], V6SetName: ['ssh6'] })
    expect(setSuggestions(null)).toEqual({ V4SetName: [], V6SetName: [] })
  })
})

import { describe, expect, it } from 'vitest'
import type { Capabilities } from '#machines/protocol.ts'
import { getDefinition } from '../backends/find-definition.ts'
import { checkCapable, mayOpen } from './compatibility.ts'

const able: Capabilities = {
  'os-release': { NAME: 'Debian', VERSION: '12' },
  ipset: { command_available: true, sudo_enabled: true, privilege: 'root', ipsets: [] },
  haproxy: null,
  script: { enabled: true, commands: [] },
}

describe('versions', () => {
  it('lets an agent below the minimum only close', () => {
    expect([mayOpen('2.0.0'), mayOpen('1.9.9'), mayOpen('junk'), mayOpen(null)]).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
})

describe('an agent for a kind of enforcement point', () => {
  it.each<[string, string, string | null, Capabilities | null, string | null]>([
    ['fits', 'ipset', '2.0.0', able, null],
    ['was never connected', 'ipset', null, null, null],
    ['has no ipset', 'ipset', '2.0.0', withIpset({ command_available: false }), 'err.ipsetNoCommand'],
    ['may not change sets', 'ipset', '2.0.0', withIpset({ sudo_enabled: false }), 'err.ipsetNoSudo'],
    ['is too old for the kind', 'ipset', '1.5.0', able, 'err.agentBackendTypeNotSupported'],
    ['is too old for the server', 'ipset', '1.9.0', able, 'err.agentIncapable'],
    [
      'allows no scripts',
      'script',
      '2.0.0',
      { ...able, script: { enabled: false, commands: [] } },
      'err.agentIncapable',
    ],
    ['allows scripts', 'script', '2.0.0', able, null],
  ])('%s', (_, type, version, capabilities, code) => {
    const check = () => checkCapable(getDefinition(type), { version, capabilities })
    if (code === null) expect(check).not.toThrow()
    else expect(check).toThrow(expect.objectContaining({ code }))
  })
})

function withIpset(facts: Partial<Capabilities['ipset']>): Capabilities {
  return { ...able, ipset: { ...able.ipset, ...facts } }
}

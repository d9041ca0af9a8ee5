import { describe, expect, it } from 'vitest'
import type { Capabilities } from '#machines/protocol.ts'
import { findOnlyCapable, isAgentCapable, knocTypes } from './knoc-types.ts'

const [linux] = knocTypes
const capabilities = (ipset: Partial<Capabilities['ipset']> = {}): Capabilities => ({
  'os-release': null,
  ipset: { command_available: true, sudo_enabled: true, privilege: 'capability', ipsets: [], ...ipset },
  haproxy: null,
  script: { enabled: true, commands: [] },
})
const agent = (Version: string | null, Capabilities: Capabilities | null = capabilities()) => ({
  Version,
  Capabilities,
})

describe('agents for a Linux knoc', () => {
  it.each([
    ['reports ipset and may change sets', agent('2.0.0'), true],
    ['has told no version', agent(null), true],
    ['was never connected', agent(null, null), false],
    ['has no ipset command', agent('2.0.0', capabilities({ command_available: false })), false],
    ['may not change sets', agent('2.0.0', capabilities({ sudo_enabled: false })), false],
    ['is too old for the kind', agent('1.5.0'), false],
    ['is too old for the server', agent('1.9.0'), false],
  ])('an agent that %s', (_, candidate, isCapable) => {
    expect(isAgentCapable(candidate, linux, '2.0.0')).toBe(isCapable)
  })

  it('chooses the one capable agent by itself, and none when there are several', () => {
    const [good, old] = [agent('2.0.0'), agent('1.0.0')]
    expect(findOnlyCapable([old, good], linux, '2.0.0')).toBe(good)
    expect(findOnlyCapable([good, agent('2.1.0')], linux, '2.0.0')).toBeUndefined()
    expect(findOnlyCapable([old], linux, '2.0.0')).toBeUndefined()
  })
})

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { definitions } from '#server/backends/definitions/index.ts'
import { findProgram, requireProgram } from '#tests/support/debian.ts'
import { addressFor, defaultAddresses, haproxyGuidance } from './haproxy-config.ts'

describe('the guidance for a knoc of HAProxy', () => {
  it.skipIf(!requireProgram('haproxy')).each([
    ['/var/run/haproxy.sock', 'tcp'],
    ['127.0.0.1:9999', 'http'],
  ] as const)('is a configuration that HAProxy takes: %s, %s', (address, mode) => {
    const folder = mkdtempSync(join(tmpdir(), 'knoc-guide-'))
    const block = (wanted: string) =>
      haproxyGuidance({ address, id: 7 }).find(({ key }) => key === wanted)?.text ?? ''
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(
      file,
      `${block('global').replace('knoc-agent', 'root')}
defaults
  mode ${mode}
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend door
  bind 127.0.0.1:1
${block(mode)}
  default_backend service
backend service
  server s1 127.0.0.1:2
`,
    )
    const checked = spawnSync(findProgram('haproxy') ?? '', ['-c', '-f', file], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect(checked.stderr).not.toMatch(/ALERT|WARNING/)
    expect(checked.status).toBe(0)
  })

  it('names a socket to the agent that it does not use by itself', () => {
    const blocks = (address: string) => haproxyGuidance({ address, id: 7 })
    for (const address of ['/var/run/haproxy.sock', '/run/haproxy.sock', 'localhost:9999'])
      expect(blocks(address).map(({ key }) => key)).not.toContain('agent')
    const { text } = blocks('/srv/h.sock').find(({ key }) => key === 'agent') ?? {}
    expect(JSON.parse(text ?? '')).toEqual({ haproxyAddresses: ['/srv/h.sock'] })
  })

  it('has defaults that the definition takes', () => {
    for (const [Protocol, Address] of Object.entries(defaultAddresses))
      expect(definitions.haproxy.backend.safeParse({ Protocol, Address }).success).toBe(true)
  })
})

describe('the address when the protocol is chosen', () => {
  const reported = '/run/haproxy/admin.sock'
  it.each([
    ['unix', { stored: '', typed: '', reported }, reported],
    ['unix', { stored: '', typed: '', reported: undefined }, '/var/run/haproxy.sock'],
    ['tcp', { stored: '', typed: '/var/run/haproxy.sock', reported }, '127.0.0.1:9999'],
    ['tcp', { stored: '/srv/h.sock', typed: '/srv/h.sock', reported }, '127.0.0.1:9999'],
    ['unix', { stored: '/srv/h.sock', typed: '127.0.0.1:9999', reported }, '/srv/h.sock'],
    ['tcp', { stored: '', typed: '/typed/by.hand', reported }, undefined],
  ])('%s with %j', (protocol, facts, address) => {
    expect(addressFor(protocol, facts)).toBe(address)
  })
})

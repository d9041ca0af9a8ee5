import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { guidance, portOf } from './ipset-rules.ts'

const sets = { v4: 'knoc_ssh', v6: 'knoc_ssh6', port: 2222 }

describe('guidance for a Linux knoc', () => {
  it.each([
    ['ssh://bastion.example.org', 22],
    ['ssh://ada@bastion:2222', 2222],
    ['https://[2001:db8::1]:8443/x', 8443],
    ['https://[2001:db8::1]/x', 443],
    ['HTTPS://wiki', 443],
    ['rdp://desk', 3389],
    ['gopher://old', undefined],
    ['bastion', undefined],
    ['', undefined],
    ['https://x:99999', undefined],
  ])('reads the port of %j as %s', (url, port) => {
    expect(portOf(url)).toBe(port)
  })

  it('asks the set before ESTABLISHED and refuses with a reset, in both families', () => {
    for (const { text } of guidance(sets).slice(1)) {
      const lines = text.split('\n')
      expect(lines[0]).toMatch(/ INPUT 1 .*! --match-set knoc_ssh6? src -j REJECT --reject-with tcp-reset$/)
      expect(lines[1]).toMatch(/ INPUT 2 .*ESTABLISHED/)
      expect(lines[2]).toMatch(/ INPUT 3 .*--match-set knoc_ssh6? src -j ACCEPT$/)
    }
    expect(guidance(sets).map(({ key }) => key)).toEqual(['sets', 'rules4', 'rules6'])
    expect(guidance({ ...sets, v4: undefined }).map(({ key }) => key)).toEqual(['sets', 'rules6'])
  })

  const canTry =
    process.getuid?.() === 0 && ['/usr/sbin/ipset', '/usr/sbin/iptables'].every((path) => existsSync(path))
  it.skipIf(!canTry)('prints commands that the kernel takes', () => {
    const script = guidance(sets)
      .map(({ text }) => text)
      .join('\n')
    const tried = spawnSync('unshare', ['-n', 'sh', '-ec', script], { encoding: 'utf8' })
    expect(tried).toMatchObject({ status: 0, stderr: '' })
  })
})

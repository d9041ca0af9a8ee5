import { describe, expect, it } from 'vitest'
import { haproxy, placeText, readPlace } from './haproxy.ts'

const longest = `/${'a'.repeat(106)}`

describe('the address of a runtime socket', () => {
  it.each([
    ['/var/run/haproxy.sock', '/run/haproxy.sock'],
    ['/run/haproxy/admin-1_2.sock', '/run/haproxy/admin-1_2.sock'],
    ['/run/.hidden', '/run/.hidden'],
    [longest, longest],
    ['127.0.0.1:9999', '127.0.0.1:9999'],
    ['127.1:9999', '127.0.0.1:9999'],
    ['LOCALHOST:9999', '127.0.0.1:9999'],
    ['proxy.example:80', 'proxy.example:80'],
    ['[0:0::1]:9999', '[::1]:9999'],
  ])('%j is the same list as %j', (address, text) => {
    const place = readPlace(address)
    expect(place && placeText(place)).toBe(text)
  })

  it.each([
    '',
    '/',
    'haproxy.sock',
    './haproxy.sock',
    '/run/../etc/haproxy.sock',
    '/run/./haproxy.sock',
    '/run//haproxy.sock',
    '/run/haproxy.sock/',
    '/run/haproxy.sock;show info',
    '/run/haproxy.sock\nshow info',
    '/run/hap roxy.sock',
    '/run/a,/run/b',
    '/run/ha\0proxy.sock',
    `${longest}a`,
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '127.0.0.1:99999999999',
    '127.0.0.1:9999/path',
    'user@host:9999',
    'a b:9999',
    '[::1:9999',
    '::1:9999',
    '256.0.0.1:9999',
    'unix@/run/haproxy.sock',
    'fd@3',
  ])('%j is none', (address) => {
    expect(readPlace(address)).toBeUndefined()
  })
})

describe('a knoc of HAProxy', () => {
  const codeOf = (result: { error?: { issues: { message: string }[] } | undefined }) =>
    result.error?.issues[0]?.message

  it.each([
    [{}, 'err.aclIdRequired'],
    [{ ID: 'seven' }, 'err.aclIdMustBeNumber'],
    [{ ID: Number.NaN }, 'err.aclIdMustBeNumber'],
    [{ ID: 1.5 }, 'err.aclIdMustBeNumber'],
    [{ ID: -1 }, 'err.aclIdMustBeNumber'],
    [{ ID: 2 ** 31 }, 'err.aclIdMustBeNumber'],
  ])('needs the number of an ACL: %j', (acl, code) => {
    expect(codeOf(haproxy.acl.safeParse(acl))).toBe(code)
  })

  it('takes an address of its protocol only', () => {
    const parse = (backend: unknown) => haproxy.backend.safeParse(backend)
    expect(parse({ Address: '/run/h.sock' }).data).toEqual({ Protocol: 'unix', Address: '/run/h.sock' })
    expect(codeOf(parse({ Protocol: 'tcp', Address: '/run/h.sock' }))).toBe('err.invalidField')
    expect(codeOf(parse({ Address: '127.0.0.1:9999' }))).toBe('err.invalidField')
    expect(parse({ Protocol: 'udp', Address: '127.0.0.1:9999' }).success).toBe(false)
  })

  it('keeps both families in one list, which has one key however its socket is written', () => {
    const keysOf = (Address: string, Protocol: 'unix' | 'tcp', agentId = 'a') =>
      haproxy.targets({ aclId: 'x', agentId, backend: { Protocol, Address }, acl: { ID: 7 } })
    expect(keysOf('/var/run/haproxy.sock', 'unix')).toEqual([
      { families: [4, 6], key: 'haproxy:a:/run/haproxy.sock:7', list: { ID: 7 } },
    ])
    expect(keysOf('/run/haproxy.sock', 'unix')).toEqual(keysOf('/var/run/haproxy.sock', 'unix'))
    expect(keysOf('localhost:9999', 'tcp')).toEqual(keysOf('127.0.0.1:9999', 'tcp'))
    expect(keysOf('/run/haproxy.sock', 'unix', 'b')).not.toEqual(keysOf('/run/haproxy.sock', 'unix'))
  })
})

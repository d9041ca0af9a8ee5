import { describe, expect, it } from 'vitest'
import { clientAddress } from './client-address.ts'
import { isGrantable } from './grantable-address.ts'
import { createAddressMatcher, toClientKey } from './ip-address.ts'

const isTrusted = createAddressMatcher(['10.0.0.1', '10.9.0.0/16', 'fd00:1::/64'])
const proxy = '10.0.0.1'

describe('the client’s address', () => {
  it.each<[string, string, Record<string, string>, string, false | string]>([
    ['the peer, when nobody speaks for it', '203.0.113.7', {}, '203.0.113.7', false],
    ['IPv4 although the socket is IPv6', '::ffff:203.0.113.7', {}, '203.0.113.7', false],
    ['IPv6 in its one spelling', '2001:DB8:0:0::1', {}, '2001:db8::1', false],
    ['without its zone', 'fe80::1%eth0', {}, 'fe80::1', false],
    [
      'the peer, flagged, when a stranger sends X-Forwarded-For',
      '203.0.113.7',
      { 'x-forwarded-for': '198.51.100.1' },
      '203.0.113.7',
      '203.0.113.7',
    ],
    [
      'the peer, flagged, when a stranger sends Forwarded',
      '203.0.113.7',
      { forwarded: 'for=198.51.100.1' },
      '203.0.113.7',
      '203.0.113.7',
    ],
    [
      'the peer, flagged, when a stranger sends Via',
      '203.0.113.7',
      { via: '1.1 proxy' },
      '203.0.113.7',
      '203.0.113.7',
    ],
    [
      'the peer, flagged, when a stranger sends X-Forwarded-Proto',
      '203.0.113.7',
      { 'x-forwarded-proto': 'https' },
      '203.0.113.7',
      '203.0.113.7',
    ],
    [
      'flagged with an IPv4-mapped stranger too',
      '::ffff:203.0.113.7',
      { via: 'x' },
      '203.0.113.7',
      '203.0.113.7',
    ],
    ['what a trusted proxy says', proxy, { 'x-forwarded-for': '198.51.100.1' }, '198.51.100.1', false],
    [
      'what an IPv4-mapped trusted proxy says',
      '::ffff:10.0.0.1',
      { 'x-forwarded-for': '198.51.100.1' },
      '198.51.100.1',
      false,
    ],
    [
      'what a trusted proxy of the other family says',
      'fd00:1::5',
      { 'x-forwarded-for': '2001:db8::9' },
      '2001:db8::9',
      false,
    ],
    [
      'the rightmost: what stands left of it is forged',
      proxy,
      { 'x-forwarded-for': '1.2.3.4, 198.51.100.1' },
      '198.51.100.1',
      false,
    ],
    [
      'right of which only trusted proxies stand',
      proxy,
      { 'x-forwarded-for': '1.2.3.4, 198.51.100.1, 10.9.8.7' },
      '198.51.100.1',
      false,
    ],
    [
      'the first of a chain that is trusted throughout',
      proxy,
      { 'x-forwarded-for': '10.9.1.1, 10.9.8.7' },
      '10.9.1.1',
      false,
    ],
    ['without a port', proxy, { 'x-forwarded-for': '198.51.100.1:4711' }, '198.51.100.1', false],
    ['without brackets and port', proxy, { 'x-forwarded-for': '[2001:db8::9]:4711' }, '2001:db8::9', false],
    [
      'unmapped in the header too',
      proxy,
      { 'x-forwarded-for': '::ffff:198.51.100.1' },
      '198.51.100.1',
      false,
    ],
    [
      'not disturbed by rubbish on the client’s side',
      proxy,
      { 'x-forwarded-for': 'rubbish, 198.51.100.1' },
      '198.51.100.1',
      false,
    ],
    [
      'from Forwarded',
      proxy,
      { forwarded: 'for=192.0.2.60;proto=http;by=203.0.113.43' },
      '192.0.2.60',
      false,
    ],
    [
      'from Forwarded with IPv6 and quotes',
      proxy,
      { forwarded: 'proto=https; For="[2001:db8:cafe::17]:4711"' },
      '2001:db8:cafe::17',
      false,
    ],
    [
      'the rightmost of Forwarded, whatever quote was left open before it',
      proxy,
      { forwarded: 'for="1.2.3.4, for=198.51.100.1' },
      '198.51.100.1',
      false,
    ],
    [
      'the same in both headers',
      proxy,
      { forwarded: 'for=198.51.100.1', 'x-forwarded-for': '198.51.100.1' },
      '198.51.100.1',
      false,
    ],
    [
      'refused when the headers differ: one is forged',
      proxy,
      { forwarded: 'for=1.2.3.4', 'x-forwarded-for': '198.51.100.1' },
      proxy,
      proxy,
    ],
    [
      'refused when the rightmost is rubbish',
      proxy,
      { 'x-forwarded-for': '198.51.100.1, rubbish' },
      proxy,
      proxy,
    ],
    ['refused when the rightmost is empty', proxy, { 'x-forwarded-for': '198.51.100.1,' }, proxy, proxy],
    ['refused when the header is empty', proxy, { 'x-forwarded-for': '' }, proxy, proxy],
    ['refused for loose IPv4 spellings', proxy, { 'x-forwarded-for': '0x7f.1' }, proxy, proxy],
    ['refused for hidden names in Forwarded', proxy, { forwarded: 'for=_hidden' }, proxy, proxy],
    ['refused when Forwarded names nobody', proxy, { forwarded: 'proto=https' }, proxy, proxy],
    [
      'refused for endless chains',
      proxy,
      { 'x-forwarded-for': Array(40).fill('10.9.1.1').join() },
      proxy,
      proxy,
    ],
    ['the proxy’s own, when it speaks for itself', proxy, {}, proxy, false],
    ['unknown when the connection is gone', '', { 'x-forwarded-for': '1.2.3.4' }, 'unknown', 'unknown'],
  ])('is %s', (_, peer, headers, address, viaUntrustedProxy) => {
    expect(clientAddress({ peer, headers: new Headers(headers), isTrusted })).toEqual({
      address,
      family: address.includes(':') ? 6 : 4,
      viaUntrustedProxy,
    })
  })

  it('takes a repeated header as one list', () => {
    const headers = new Headers([
      ['x-forwarded-for', '1.2.3.4'],
      ['x-forwarded-for', '198.51.100.1'],
    ])
    expect(clientAddress({ peer: proxy, headers, isTrusted }).address).toBe('198.51.100.1')
  })

  it('counts an IPv6 client by its /64', () => {
    expect(toClientKey('2001:db8::1')).toBe(toClientKey('2001:db8::ffff:1'))
    expect(toClientKey('2001:db8:0:1::1')).not.toBe(toClientKey('2001:db8::1'))
    expect(toClientKey('10.0.0.1')).toBe('10.0.0.1')
  })
})

describe('a grantable address', () => {
  const rules = { ownAddresses: ['198.51.100.5'], proxies: ['10.9.0.0/16'], allowLoopback: false }
  it.each([
    ['203.0.113.7', true],
    ['192.168.1.20', true],
    ['100.64.0.9', true],
    ['2001:db8::1', true],
    ['fd12::1', true],
    ['0.0.0.0', false],
    ['0.1.2.3', false],
    ['::', false],
    ['127.0.0.1', false],
    ['::1', false],
    ['169.254.1.1', false],
    ['fe80::1', false],
    ['224.0.0.1', false],
    ['ff02::1', false],
    ['255.255.255.255', false],
    ['240.0.0.1', false],
    ['::ffff:203.0.113.7', false],
    ['198.51.100.5', false],
    ['10.9.3.3', false],
    ['203.0.113.7/24', false],
    ['2001:DB8::1', false],
    ['fd12::1%eth0', false],
    ['1', false],
    ['010.0.0.1', false],
    ['unknown', false],
    ['', false],
  ])('%s: %s', (address, expected) => {
    expect(isGrantable(address, rules)).toBe(expected)
  })

  it('may be loopback in the demonstration only', () => {
    expect(isGrantable('127.0.0.1', { ...rules, allowLoopback: true })).toBe(true)
    expect(isGrantable('0.0.0.0', { ...rules, allowLoopback: true })).toBe(false)
  })
})

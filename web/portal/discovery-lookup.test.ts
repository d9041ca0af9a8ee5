import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { SystemStatus } from '#server/status/status.schema.ts'
import { familyTargets, portTargets, startLookup } from './discovery-lookup.ts'

const system: SystemStatus = {
  IPApi: 'https://knoc.example.com',
  LookupPorts: [
    { Port: 443, At: 443 },
    { Port: 222, At: 222 },
    { Port: 3389, At: 13_389 },
    { Port: 8000, At: 8000 },
  ],
  IPv4Origin: '',
  IPv6Origin: '',
  JsBundleHash: '',
  OIDC: false,
  AdminOIDC: false,
  SAML: false,
  AdminSAML: false,
}

/** How each port answers: after so many milliseconds, or never. */
let answers: Record<string, { afterMs: number; text: string } | 'never'> = {}
const asked: string[] = []

beforeEach(() => {
  vi.useFakeTimers()
  asked.length = 0
  vi.stubGlobal('location', { hostname: 'knoc.example.com' })
  vi.stubGlobal('fetch', (url: string, { signal }: RequestInit) => {
    asked.push(url)
    const answer = answers[new URL(url).port] ?? 'never'
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')))
      if (answer !== 'never') setTimeout(() => resolve(new Response(answer.text)), answer.afterMs)
    })
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const waiting = Promise.resolve('waiting')
const at = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

it('asks every lookup port at once, with the nonce, where it listens', () => {
  startLookup(portTargets(system), { nonce: 'a+b&c' })
  expect(asked).toEqual([
    'https://knoc.example.com/ip?n=a%2Bb%26c',
    'https://knoc.example.com:222/ip?n=a%2Bb%26c',
    'https://knoc.example.com:13389/ip?n=a%2Bb%26c',
    'https://knoc.example.com:8000/ip?n=a%2Bb%26c',
  ])
})

it('gives what came within the time, and the rest later', async () => {
  answers = {
    '': { afterMs: 50, text: '203.0.113.1' },
    222: 'never',
    13389: { afterMs: 999, text: '203.0.113.2' },
    8000: { afterMs: 4_000, text: '203.0.113.3' },
  }
  const lookup = startLookup(portTargets(system), { nonce: 'n' })
  const first = lookup.take(at(1_000))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await first).toEqual([
    { Port: 443, IP: '203.0.113.1' },
    { Port: 3389, IP: '203.0.113.2' },
  ])
  const rest = lookup.take(new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(8_999)
  expect(await Promise.race([rest, waiting])).toBe('waiting')
  await vi.advanceTimersByTimeAsync(1)
  expect(await rest).toEqual([{ Port: 8000, IP: '203.0.113.3' }])
  expect(await lookup.blocked).toEqual(new Set([222]))
})

it('waits for nobody once all have answered or failed', async () => {
  answers = {
    '': { afterMs: 10, text: '203.0.113.1' },
    222: { afterMs: 20, text: 'garbage' },
    13389: { afterMs: 10, text: '' },
    8000: { afterMs: 10, text: '2001:db8::1' },
  }
  const lookup = startLookup(portTargets(system), { nonce: 'n' })
  const taken = lookup.take(at(1_000))
  await vi.advanceTimersByTimeAsync(30)
  expect(await Promise.race([taken, waiting])).toEqual([
    { Port: 443, IP: '203.0.113.1' },
    { Port: 8000, IP: '2001:db8::1' },
  ])
  expect(await lookup.blocked).toEqual(new Set())
})

it('doesn’t wait for a port that is known to be blocked', async () => {
  answers = {
    '': { afterMs: 10, text: '203.0.113.1' },
    222: 'never',
    13389: { afterMs: 10, text: '203.0.113.1' },
    8000: { afterMs: 10, text: '203.0.113.1' },
  }
  const taken = startLookup(portTargets(system), { nonce: 'n' }).take(at(1_000), new Set([222]))
  await vi.advanceTimersByTimeAsync(30)
  expect(await Promise.race([taken, waiting])).toHaveLength(3)
})

it('has nothing to ask while discovery is off, and asks no more than a request can name', () => {
  expect(portTargets({ ...system, IPApi: '' })).toEqual([])
  expect(portTargets({ ...system, IPApi: 'javascript:alert(1)' })).toEqual([])
  const many = Array.from({ length: 50 }, (_, i) => ({ Port: i + 1, At: i + 1 }))
  expect(portTargets({ ...system, LookupPorts: many })).toHaveLength(7)
})

it('asks the origins of one family, which stand for the session’s own addresses', () => {
  const dual = { ...system, IPv4Origin: 'https://v4.example.com', IPv6Origin: 'https://v6.example.com:8443' }
  expect(familyTargets(dual)).toEqual([
    { Port: 0, url: 'https://v4.example.com/ip', isOurs: true },
    { Port: 0, url: 'https://v6.example.com:8443/ip', isOurs: true },
  ])
  expect(familyTargets(system)).toEqual([])
})

it('shows the nonce to nobody else: a foreign service could have its own address seen by it', () => {
  startLookup(portTargets({ ...system, IPApi: 'https://ip.example.net' }), { nonce: 'secret' })
  expect(asked).toHaveLength(4)
  expect(asked[1]).toBe('https://ip.example.net:222/')
  expect(asked.join(' ')).not.toContain('secret')
})

import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SystemStatus, UserStatus } from '#server/status/status.schema.ts'
import { ApiFailure } from '../api.ts'
// Loaded beforehand: the clock of these tests doesn't wait for files.
import './discovery.ts'
import { addressesForClick } from './discovery-click.ts'
import { hasFreshNonce, withoutRefused } from './discovery-start.ts'
import { aStatus } from './testing/a-status.ts'
import { anEntry } from './testing/an-entry.ts'

const origin = 'https://knoc.example.com'
const entry = anEntry({ CGNATOpen: true })
const own = { Port: 0, IP: '203.0.113.1' }

/** What the lookup ports answer: after so many milliseconds, or never. */
let ports: Record<number, { afterMs: number; text: string } | 'never'> = {}
let system: Partial<SystemStatus> = {}
let logged: unknown[] = []
/** How the server answers POST /api/log_ips, one after another. */
let refusals: string[] = []
let asked: string[] = []
let reads: string[] = []
let queryClient: QueryClient

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('location', { origin, hostname: 'knoc.example.com', href: `${origin}/home/new` })
  vi.stubGlobal('fetch', answer)
  vi.stubGlobal('sessionStorage', undefined)
  ports = { 443: { afterMs: 20, text: '203.0.113.1' }, 222: { afterMs: 30, text: '203.0.113.2' } }
  system = { IPApi: origin, LookupPorts: [443, 222].map((Port) => ({ Port, At: Port })) }
  logged = []
  refusals = []
  asked = []
  reads = []
  queryClient = new QueryClient()
  know({})
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  queryClient.clear()
})

const know = (facts: Partial<UserStatus>) =>
  queryClient.setQueryData(['userStatus'], { status: aStatus(facts), offsetMs: 0 })

const answer = (input: string | URL, init: RequestInit = {}): Promise<Response> => {
  const { pathname, port, search } = new URL(input, origin)
  if (pathname === '/ip') return answerLookup(Number(port || 443), search, init)
  if (pathname === '/api/log_ips') return Promise.resolve(answerLog(init.body))
  if (pathname === '/api/status') reads.push(search === '' ? 'status' : 'revalidation')
  const data = pathname === '/api/status' ? aStatus({ Nonce: 'fresh' }) : system
  return Promise.resolve(Response.json({ data }))
}

function answerLookup(port: number, search: string, { signal }: RequestInit): Promise<Response> {
  asked.push(`${port}${search}`)
  const found = ports[port] ?? 'never'
  return new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('aborted')))
    if (found !== 'never') setTimeout(() => resolve(new Response(found.text)), found.afterMs)
  })
}

function answerLog(body: RequestInit['body']): Response {
  const refusal = refusals.shift()
  if (refusal !== undefined) {
    const [Err, Extra] = refusal.split(' ')
    return Response.json({ Err, Extra }, { status: 409 })
  }
  logged.push(...(JSON.parse(body as string) as { IPs: unknown[] }).IPs)
  return Response.json({ data: null })
}

/** What a click would send, and after how many milliseconds. */
async function click(clicked = entry) {
  const begin = Date.now()
  let afterMs: number | undefined
  const click = addressesForClick(clicked, queryClient).then((from) => {
    afterMs = Date.now() - begin
    return from
  })
  for (let i = 0; i < 250 && afterMs === undefined; i += 1) await vi.advanceTimersByTimeAsync(10)
  return { ...(await click), afterMs: afterMs ?? Infinity }
}

describe('with CGNATOpen and a lookup service available', () => {
  it('sends the discovered per-port IPs beside the session’s own', async () => {
    const { IPs, afterMs } = await click()
    expect(IPs).toEqual([own, { Port: 443, IP: '203.0.113.1' }, { Port: 222, IP: '203.0.113.2' }])
    expect(asked).toEqual(['443?n=nonce', '222?n=nonce'])
    expect(afterMs).toBeLessThan(200)
  })

  it('sends what came within 1 s, and the rest by log_ips', async () => {
    ports[222] = { afterMs: 3_000, text: '203.0.113.2' }
    const { IPs, afterMs, tellRest } = await click()
    expect(IPs).toEqual([own, { Port: 443, IP: '203.0.113.1' }])
    expect(afterMs).toBeGreaterThanOrEqual(1_000)
    expect(afterMs).toBeLessThan(1_100)
    const told = tellRest()
    await vi.advanceTimersByTimeAsync(9_000)
    await told
    expect(logged).toEqual([{ Port: 222, IP: '203.0.113.2' }])
  })

  it('doesn’t wait a second time for a port that is blocked, and still asks it', async () => {
    ports[222] = 'never'
    const first = await click()
    expect(first.afterMs).toBeGreaterThanOrEqual(1_000)
    const told = first.tellRest()
    await vi.advanceTimersByTimeAsync(10_000)
    await told
    expect(logged).toEqual([])
    const second = await click()
    expect(second.afterMs).toBeLessThan(200)
    expect(second.IPs).toEqual([own, { Port: 443, IP: '203.0.113.1' }])
    // From another address it may be open.
    know({ CurrentAddress: '203.0.113.9' })
    expect((await click()).afterMs).toBeGreaterThanOrEqual(1_000)
  })

  it('sends one entry with Port 0 when no lookup port can be reached', async () => {
    ports = {}
    expect((await click()).IPs).toEqual([own])
    ports = { 443: { afterMs: 1, text: '<html>' }, 222: { afterMs: 1, text: 'x'.repeat(1e6) } }
    expect((await click()).IPs).toEqual([own])
  })

  it('leaves out of log_ips what the server has not seen, and re-validates where it comes from', async () => {
    ports = { 443: { afterMs: 1_100, text: '203.0.113.3' }, 222: { afterMs: 1_100, text: '203.0.113.4' } }
    refusals = ['err.addressChanged 2001:db8::1', 'err.addressNotSeen 203.0.113.3']
    const { tellRest } = await click()
    const told = tellRest()
    await vi.advanceTimersByTimeAsync(500)
    await told
    expect(logged).toEqual([{ Port: 222, IP: '203.0.113.4' }])
    expect(reads).toContain('revalidation')
  })

  it('reads the status first when its nonce is older than 50 s', async () => {
    know({ Now: new Date(Date.now() - 51_000).toISOString() })
    await click()
    expect(reads).toEqual(['status'])
    expect(asked).toEqual(['443?n=fresh', '222?n=fresh'])
  })
})

describe('otherwise', () => {
  it('sends one entry with Port 0 for an entry without CGNATOpen, and asks nobody', async () => {
    expect((await click(anEntry())).IPs).toEqual([own])
    expect(asked).toEqual([])
  })

  it('sends one entry with Port 0 while discovery is off', async () => {
    system = { IPApi: '', LookupPorts: [] }
    const { IPs, afterMs } = await click()
    expect(IPs).toEqual([own])
    expect(afterMs).toBeLessThan(200)
    expect(asked).toEqual([])
  })
})

it('takes a nonce for fresh for 50 s by the server’s clock, whatever the browser’s says', () => {
  const now = Date.now()
  const session = (ageMs: number, Nonce = 'n') => ({
    status: aStatus({ Now: new Date(now - ageMs).toISOString(), Nonce }),
    offsetMs: 0,
  })
  expect(hasFreshNonce(session(49_999), now)).toBe(true)
  expect(hasFreshNonce(session(50_000), now)).toBe(false)
  expect(hasFreshNonce(session(-10), now)).toBe(false)
  expect(hasFreshNonce(session(0, ''), now)).toBe(false)
  const hour = 3_600_000
  expect(hasFreshNonce({ ...session(hour), offsetMs: -hour + 1_000 }, now)).toBe(true)
})

it('knows which address the server has not seen, and that another refusal names none', () => {
  const found = [own, { Port: 443, IP: '203.0.113.2' }]
  const refusal = (code: string, extra: string) => new ApiFailure({ status: 409, code, extra })
  expect(withoutRefused(found, refusal('err.addressNotSeen', '203.0.113.2'))).toEqual([own])
  expect(withoutRefused(found, refusal('err.addressNotGrantable', '203.0.113.2'))).toEqual([own])
  expect(withoutRefused(found, refusal('err.addressNotSeen', '203.0.113.3'))).toBeNull()
  expect(withoutRefused(found, refusal('err.tooManyRequests', '203.0.113.2'))).toBeNull()
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TargetDescription } from '#machines/protocol.ts'
import { backendField } from '#server/backends/sealing.schema.ts'
import { type FakePanos, type PanosFault, panosKey, startFakePanos } from '#tests/support/fake-panos.ts'
import { ipsetTarget, until } from '../testing/builders.ts'
import type { DriverError } from './driver.ts'
import { panosDriver } from './panos.ts'
import { createPanosApi, panosLimits } from './panos-api.ts'

const nothing = async () => ({ status: 200, text: '' })
const serial = '001122334455'
/** Short enough for a test, long enough for two loaded cores. */
const limits = { ...panosLimits, callMs: 2_000 }

let panos: FakePanos
let api: ReturnType<typeof createPanosApi>
beforeEach(async () => {
  const behind = { name: 'jit', serial, fetch: nothing }
  panos = await startFakePanos({
    lists: [{ name: 'jit', fetch: nothing }, { name: 'R.and-D 2', fetch: nothing }, behind],
  })
  api = createPanosApi({ ca: panos.authority, limits })
})
afterEach(async () => {
  api.stop()
  await panos.stop()
})

type Over = {
  backend?: Record<string, unknown>
  list?: Record<string, unknown>
  apiKey?: string | undefined
  api?: typeof api
  reach?: DriverError
}

function driver({ backend = {}, list = {}, ...over }: Over = {}) {
  const target: TargetDescription = ipsetTarget('', 4, {
    type: 'panos',
    family: null,
    backend: { Hostname: panos.hostname, VSys: 'vsys1', Insecure: false, ...backend },
    list: { EDLName: 'jit', ...list },
  })
  const apiKey = 'apiKey' in over ? over.apiKey : panosKey
  const unseal = (_: TargetDescription, field: string) =>
    field === backendField('ApiKey') ? apiKey : undefined
  return panosDriver({ api: over.api ?? api, unseal, checkReach: () => over.reach ?? null }, target)
}
const refresh = async (over?: Over) => driver(over).refresh?.()
const codeOf = async (over?: Over) => (await refresh(over))?.code ?? null

describe('an external dynamic list', () => {
  it('is refreshed by name and virtual system, with the key in a header and nowhere else', async () => {
    expect(await refresh()).toBeNull()
    await until('the list is fetched', () => panos.list('jit').fetches.length === 1)
    expect(panos.calls).toMatchObject([
      {
        method: 'POST',
        url: '/api/',
        form: {
          type: 'op',
          cmd: '<request><system><external-list><refresh><type><ip><name>jit</name></ip></type></refresh></external-list></system></request>',
          vsys: 'vsys1',
        },
      },
    ])
    const [{ headers, ...rest } = { headers: {} }] = panos.calls
    expect(headers).toMatchObject({
      'x-pan-key': panosKey,
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(JSON.stringify(rest)).not.toContain(panosKey)
    expect(Object.keys(panos.calls[0]?.form ?? {})).not.toContain('target')
  })

  it('is found behind a Panorama by its firewall’s serial number, and under a name with spaces', async () => {
    expect(await refresh({ list: { SerialNumber: serial } })).toBeNull()
    await until('the list is fetched', () => panos.list('jit', 'vsys1', serial).fetches.length === 1)
    expect(panos.list('jit').fetches).toEqual([])
    expect(await refresh({ list: { EDLName: 'R.and-D 2' } })).toBeNull()
  })

  it('is never opened, closed or listed', async () => {
    const one = driver()
    const entry = { address: '192.0.2.7', userName: 'erika', timeoutSeconds: 60 }
    expect(await one.open([entry])).toMatchObject([{ outcome: 'failed', error: { code: 'onlyFetched' } }])
    expect(await one.close([entry])).toMatchObject([{ outcome: 'failed', error: { code: 'onlyFetched' } }])
    expect([await one.list(), await one.ensure(), await one.empty()]).toEqual(['unlistable', null, null])
    expect(panos.calls).toEqual([])
  })

  it.each<[string, Over, string]>([
    ['a key that is not readable', { apiKey: undefined }, 'needsCredentials'],
    ['a key that no header can carry', { apiKey: 'two\nlines' }, 'needsCredentials'],
    ['a host that is none', { backend: { Hostname: 'fw/../x' } }, 'badTarget'],
    ['a name with markup', { list: { EDLName: '<jit>' } }, 'badTarget'],
    ['a device that this host does not allow', { reach: { code: 'notAllowed', text: 'no' } }, 'notAllowed'],
    ['a virtual system that is none', { backend: { VSys: 'vsys0' } }, 'badTarget'],
  ])('asks nobody with %s, and says so', async (_, over, code) => {
    expect((await driver(over).ensure())?.code).toBe(code)
    expect(await codeOf(over)).toBe(code)
    expect([await driver(over).list(), panos.calls]).toEqual(['unlistable', []])
  })
})

describe('a refresh that the device does not do', () => {
  it.each<[string, Over, string, RegExp]>([
    ['another key', { apiKey: 'another' }, 'keyRefused', /refused the API key: “Invalid Credential”/],
    ['no such list', { list: { EDLName: 'other' } }, 'listMissing', /no such list of addresses in vsys1/],
    ['no such virtual system', { backend: { VSys: 'vsys9' } }, 'unknownVsys', /does not know vsys9/],
    [
      'no such firewall',
      { list: { SerialNumber: '99999999' } },
      'unknownDevice',
      /no connected firewall 99999999/,
    ],
  ])('says why: %s', async (_, over, code, text) => {
    expect(await refresh(over)).toEqual({ code, text: expect.stringMatching(text) })
  })

  it.each<[PanosFault, string, RegExp]>([
    ['notAuthorized', 'permission', /may not run this command.*not authorized for user role/],
    ['unauthorized', 'permission', /Unauthorized request/],
    ['objectNotPresent', 'listMissing', /code 7/],
    ['invalidCommand', 'deviceRefused', /request -> system is unexpected; request is unexpected/],
    ['busy', 'deviceBusy', /Another job is in progress/],
    ['unavailable', 'deviceBusy', /HTTP 503/],
    ['malformed', 'badAnswer', /not its XML API/],
    ['doctype', 'badAnswer', /not its XML API/],
    ['html', 'badAnswer', /HTTP 200/],
    ['giant', 'answerTooLong', /more than 64 KiB/],
    ['hangUp', 'unreachable', /cannot be reached/],
  ])('says why: %s', async (fault, code, text) => {
    panos.setFault(fault)
    expect(await refresh()).toEqual({ code, text: expect.stringMatching(text) })
    expect(panos.list('jit').fetches).toEqual([])
    panos.setFault(null)
    expect(await refresh()).toBeNull()
  })

  it.each(['slow', 'drip'] as const)('is given up after its time when the answer is %s', async (fault) => {
    panos.setFault(fault)
    const startedAt = performance.now()
    expect(await refresh()).toEqual({ code: 'timeout', text: expect.stringContaining('within 2 s') })
    expect(performance.now() - startedAt).toBeGreaterThan(limits.callMs - 50)
    await until('the call is broken off', () => panos.callsUnderWay() === 0)
  })

  it('says when nobody listens', async () => {
    await panos.goAway()
    expect(await refresh()).toEqual({ code: 'unreachable', text: expect.stringContaining(panos.hostname) })
    await panos.comeBack()
    expect(await refresh()).toBeNull()
  })

  it('is broken off when the agent stops', async () => {
    panos.setFault('slow')
    const under = refresh()
    await until('a call', () => panos.callsUnderWay() === 1)
    api.stop()
    expect((await under)?.code).toBe('unreachable')
    expect(await codeOf()).toBe('unreachable')
    expect(panos.calls).toHaveLength(1)
  })
})

describe('a device’s certificate', () => {
  it('has to be of a known authority, unless this device’s is not checked', async () => {
    const stranger = createPanosApi({ ca: undefined, limits })
    expect(await refresh({ api: stranger })).toEqual({
      code: 'untrusted',
      text: expect.stringMatching(/^the certificate of 127\.0\.0\.1:\d+ is not trusted: /),
    })
    expect(panos.calls).toEqual([])
    expect(await codeOf({ api: stranger, backend: { Insecure: true } })).toBeNull()
    // One device that is not checked says nothing of the next.
    expect(await codeOf({ api: stranger })).toBe('untrusted')
  })

  it('has to name the device', async () => {
    const elsewhere = await startFakePanos({
      lists: [{ name: 'jit', fetch: nothing }],
      certificateFor: 'DNS:elsewhere.test',
    })
    const known = createPanosApi({ ca: elsewhere.authority, limits })
    const backend = { Hostname: elsewhere.hostname }
    expect(await codeOf({ api: known, backend })).toBe('untrusted')
    expect(await codeOf({ api: known, backend: { ...backend, Insecure: true } })).toBeNull()
    await elsewhere.stop()
  })
})

it('asks a device five things at once and not six; a full one keeps no other waiting', async () => {
  const other = await startFakePanos({ lists: [{ name: 'jit', fetch: nothing }] })
  const release = panos.hold()
  const many = Array.from({ length: 12 }, () => refresh())
  await until('five calls', () => panos.callsUnderWay() === 5)
  expect(await refresh({ backend: { Hostname: other.hostname, Insecure: true } })).toBeNull()
  expect(panos.calls).toHaveLength(5)
  release()
  expect(await Promise.all(many)).toEqual(Array.from({ length: 12 }, () => null))
  expect([panos.calls.length, panos.mostAtOnce()]).toEqual([12, 5])
  await other.stop()
})

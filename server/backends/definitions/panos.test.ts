import { describe, expect, it } from 'vitest'
import { secretNames } from '../secret-fields.ts'
import { panos } from './panos.ts'

const backend = { Hostname: 'fw.example.com', ApiKey: 'LUFRPT1k' }
const agentId = '0a0c0d0e-0000-4000-8000-000000000000'
const keyOf = (device: object, list: object, agent = agentId) =>
  panos.targets({
    aclId: 'any',
    agentId: agent,
    backend: panos.backend.parse({ ...backend, ...device }),
    acl: panos.acl.parse({ EDLName: 'jit', ...list }),
  })[0]?.key

describe('a Palo Alto backend', () => {
  it('has a virtual system and checks certificates unless told otherwise; its key is a secret', () => {
    expect(panos.backend.parse(backend)).toEqual({ ...backend, VSys: 'vsys1', Insecure: false })
    expect(secretNames(panos)).toEqual(['ApiKey'])
  })

  it.each(['10.0.0.1', 'fw', 'FW.example.com:8443', '[2001:db8::1]', '[2001:db8::1]:443', 'a-b.example.com'])(
    'is at %s',
    (Hostname) => expect(panos.backend.safeParse({ ...backend, Hostname }).success).toBe(true),
  )

  it.each([
    ...[
      '',
      'https://fw',
      'fw/api',
      'fw?x',
      'fw#x',
      'user@fw',
      'fw:0',
      'fw:65536',
      'fw:',
      'f w',
      '-fw',
      'fw-',
    ],
    ...['2001:db8::1', '[fw]', 'fw\n', 'fw,other', 'ü.example.com'],
  ])('is not at %j', (Hostname) =>
    expect(panos.backend.safeParse({ ...backend, Hostname }).success).toBe(false),
  )

  it.each([
    { ApiKey: '' },
    { ApiKey: 'two lines\n' },
    { ApiKey: 'x'.repeat(1_025) },
    { VSys: 'vsys0' },
    { VSys: 'vsys1000' },
    { VSys: 'shared' },
    { Other: 1 },
  ])('takes no %j', (over) => expect(panos.backend.safeParse({ ...backend, ...over }).success).toBe(false))
})

describe('a list on it', () => {
  it.each(['jit', 'R.and-D list_2', '_x', '9', 'x'.repeat(63)])('may be called %s', (EDLName) =>
    expect(panos.acl.safeParse({ EDLName }).success).toBe(true),
  )

  it.each(['', ' x', '-x', '.x', 'x'.repeat(64), '<x>', "x'", 'x&y', 'ü', 'x\n', undefined])(
    'may not be called %j',
    (EDLName) => expect(panos.acl.safeParse({ EDLName }).success).toBe(false),
  )

  it('is the same for everybody who means it, and another on another device, system, firewall or agent', () => {
    expect(keyOf({}, {})).toBe(`panos:${agentId}:fw.example.com::vsys1:jit`)
    expect(keyOf({ Hostname: 'FW.Example.com', ApiKey: 'another', Insecure: true }, {})).toBe(keyOf({}, {}))
    const keys = [
      keyOf({}, {}),
      keyOf({ Hostname: 'fw2.example.com' }, {}),
      keyOf({ VSys: 'vsys2' }, {}),
      keyOf({}, { SerialNumber: '001122334455' }),
      keyOf({}, { EDLName: 'other' }),
      keyOf({}, {}, '0b0c0d0e-0000-4000-8000-000000000000'),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('fits a target’s key, however long its names', () => {
    const longest = keyOf(
      { Hostname: `${'a'.repeat(250)}:65535`, VSys: 'vsys255' },
      { EDLName: 'x'.repeat(63), SerialNumber: '9'.repeat(32) },
    )
    expect(longest?.length).toBeLessThanOrEqual(512)
  })
})

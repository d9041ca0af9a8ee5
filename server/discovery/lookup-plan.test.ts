import { describe, expect, it } from 'vitest'
import { readLookupPorts } from '../platform/config-values.ts'
import { familyOrigins, noLookup, planLookup } from './lookup-plan.ts'

const tls = { certificateFile: '/cert', keyFile: '/key' }
const on = { DiscoverIP: true, DiscoverIPURL: '' }
const config = ({ publicUrl = 'https://knoc.example', ports = '443,222,3389,8000', isTls = true } = {}) => ({
  publicUrl,
  lookupPorts: readLookupPorts(ports).ports,
  tls: isTls ? tls : undefined,
})
const at = (choices: readonly { at: number }[]) => choices.map((choice) => choice.at)

describe('address discovery', () => {
  it('asks nobody while it is off, or when the foreign service is no web address', () => {
    expect(planLookup(config(), { DiscoverIP: false, DiscoverIPURL: 'https://lookup.example' })).toBe(
      noLookup,
    )
    for (const DiscoverIPURL of ['lookup.example', 'ftp://lookup.example', 'javascript:alert(1)'])
      expect(planLookup(config(), { ...on, DiscoverIPURL })).toBe(noLookup)
  })

  it('needs no listener on the port of the public URL, which the portal answers itself', () => {
    const plan = planLookup(config(), on)
    expect(plan).toMatchObject({ api: 'https://knoc.example', portalPort: 443, isCertificateMissing: false })
    expect(at(plan.ports)).toEqual([443, 222, 3389, 8000])
    expect(at(plan.listen)).toEqual([222, 3389, 8000])
    const moved = planLookup(config({ publicUrl: 'https://knoc.example:8443', ports: '443=8443,222' }), on)
    expect(moved).toMatchObject({ api: 'https://knoc.example', portalPort: 443 })
    expect(at(moved.listen)).toEqual([222])
    const inner = planLookup(config({ publicUrl: 'http://10.0.0.1:8000', isTls: false }), on)
    expect(inner).toMatchObject({ api: 'http://10.0.0.1', portalPort: 8000 })
    expect(at(inner.listen)).toEqual([443, 222, 3389])
    expect(planLookup(config({ publicUrl: 'http://10.0.0.1', isTls: false }), on).portalPort).toBeNull()
  })

  it('starts none in plain http for pages in https, and says so', () => {
    const plan = planLookup(config({ isTls: false }), on)
    expect(plan).toMatchObject({ listen: [], isCertificateMissing: true, portalPort: 443 })
    expect(at(plan.ports)).toEqual([443])
    const alone = planLookup(config({ isTls: false, ports: '443' }), on)
    expect(alone.isCertificateMissing).toBe(false)
  })

  it('asks a foreign service on the four ports, whatever ours are, and no look of ours counts', () => {
    const DiscoverIPURL = 'https://lookup.example/path'
    const plan = planLookup(config({ ports: '443=off' }), { ...on, DiscoverIPURL })
    expect(plan).toMatchObject({ api: 'https://lookup.example', listen: [], portalPort: null })
    expect(at(plan.ports)).toEqual([443, 222, 3389, 8000])
  })
})

it('names of one family have the public URL’s scheme and port', () => {
  const hosts = { ipv4Host: 'v4.knoc.example', ipv6Host: 'fd00::1' }
  expect(familyOrigins({ publicUrl: 'https://knoc.example:8443', ...hosts })).toEqual({
    IPv4Origin: 'https://v4.knoc.example:8443',
    IPv6Origin: 'https://[fd00::1]:8443',
  })
  expect(
    familyOrigins({ publicUrl: 'http://knoc.example', ipv4Host: undefined, ipv6Host: undefined }),
  ).toEqual({
    IPv4Origin: '',
    IPv6Origin: '',
  })
})

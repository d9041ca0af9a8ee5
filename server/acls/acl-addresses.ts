import ipaddr from 'ipaddr.js'
import { apiError } from '../errors.ts'
import type { Config } from '../platform/config.ts'
import { isGrantable } from '../platform/http/grantable-address.ts'
import { findAddress } from '../platform/http/ip-address.ts'
import type { AclFields } from './acl.schema.ts'

/** A range of addresses of one family, both ends in it, each in its one spelling. */
export type AddressRange = { start: string; end: string }

/** What decides whether an address may ever be granted. */
export type GrantRules = Pick<Config, 'trustedProxies' | 'grantLoopback'>

/**
 * The ranges of a restriction as they are recorded.
 *
 * @throws err.invalidIpAddress, Extra the field, for ends of two families or in the wrong order.
 */
export function toRanges(
  ranges: AclFields['IpExclusions']['Ranges'],
  path: readonly string[],
): AddressRange[] {
  return ranges.map(({ Start, End }, index) => {
    const [start, end] = [findAddress(Start), findAddress(End)]
    const isRange = start !== undefined && end !== undefined && start.family === end.family
    if (!isRange || compareAddresses(start.address, end.address) > 0)
      throw apiError('err.invalidIpAddress', {
        extra: [...path, 'IpExclusions', 'Ranges', index, 'End'].join('.'),
      })
    return { start: start.address, end: end.address }
  })
}

/**
 * Fixed addresses to grant, once each. One that may never be granted (loopback, multicast, a proxy's) is refused with
 * err.invalidIpAddress.
 */
export function toSpecifiedIps(
  ips: AclFields['GrantType']['Ips'],
  { rules, path }: { rules: GrantRules; path: readonly string[] },
): string[] {
  const addresses = ips.map(({ Ip }, index) => {
    const address = findAddress(Ip)?.address ?? ''
    const bounds = { ownAddresses: [], proxies: rules.trustedProxies, allowLoopback: rules.grantLoopback }
    if (!isGrantable(address, bounds))
      throw apiError('err.invalidIpAddress', { extra: [...path, 'GrantType', 'Ips', index, 'Ip'].join('.') })
    return address
  })
  return [...new Set(addresses)]
}

function compareAddresses(left: string, right: string): number {
  return Buffer.compare(
    Buffer.from(ipaddr.parse(left).toByteArray()),
    Buffer.from(ipaddr.parse(right).toByteArray()),
  )
}

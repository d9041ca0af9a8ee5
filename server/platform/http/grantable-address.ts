import ipaddr from 'ipaddr.js'
import { createAddressMatcher, findAddress } from './ip-address.ts'

/** Ranges that no client on a network can have, or that stand for more than one host. */
const neverGranted = new Set(['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast', 'ipv4Mapped'])

/** Class E. Other reserved ranges (documentation, benchmarks) are in use on inner networks. */
const isClassE = createAddressMatcher(['240.0.0.0/4'])

/**
 * Whether a door may be opened for an address at all (decision 8): one host, in its one spelling, which is
 * neither the server's own, a proxy's, nor any that stands for nobody or for everybody.
 */
export function isGrantable(
  address: string,
  {
    ownAddresses,
    proxies,
    allowLoopback,
  }: { ownAddresses: readonly string[]; proxies: readonly string[]; allowLoopback: boolean },
): boolean {
  if (findAddress(address)?.address !== address) return false
  const range = ipaddr.parse(address).range()
  if (range === 'loopback') return allowLoopback
  if (neverGranted.has(range) || isClassE(address)) return false
  return !createAddressMatcher([...ownAddresses, ...proxies])(address)
}

/** Whether an address is one host's on the Internet: what a foreign lookup service may say of somebody. */
export function isPublicUnicast(address: string): boolean {
  return ipaddr.parse(address).range() === 'unicast'
}

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * An address in its one spelling: IPv4 also when it came as ::ffff:a.b.c.d, IPv6 in RFC 5952 form without a
 * zone. Undefined for anything else, the loose IPv4 spellings (octal, fewer parts) included.
 */
export function findAddress(text: string): { address: string; family: 4 | 6 } | undefined {
  const plain = text.replace(/%.*$/, '')
  if (isIP(plain) === 0) return undefined
  const parsed = ipaddr.process(plain)
  return parsed.kind() === 'ipv4'
    ? { address: parsed.toString(), family: 4 }
    : { address: parsed.toString(), family: 6 }
}

/** Makes a test whether an address is in one of some addresses and CIDRs; compiled once. */
export function createAddressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const compiled = ranges.map((range) => {
    const [text = '', bits] = range.split('/')
    const network = ipaddr.process(text)
    const width = network.kind() === 'ipv4' ? 32 : 128
    return { network, bits: bits === undefined ? width : Number(bits) }
  })
  return function isInside(address) {
    if (isIP(address) === 0) return false
    const parsed = ipaddr.process(address)
    return compiled.some(
      ({ network, bits }) => network.kind() === parsed.kind() && parsed.match(network, bits),
    )
  }
}

/** What stands for one client when requests are counted: the address, of IPv6 the /64 that one client has whole. */
export function toClientKey(address: string): string {
  if (isIP(address) !== 6) return address
  const parts = (ipaddr.parse(address) as ipaddr.IPv6).parts.slice(0, 4)
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`
}

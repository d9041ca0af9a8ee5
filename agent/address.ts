import ipaddr from 'ipaddr.js'

/** An address or network as it was parsed: its family and its canonical text, without a host's /32 or /128. */
export type ParsedAddress = { family: 4 | 6; text: string; isNetwork: boolean }

/**
 * Reads an address or network, strictly: no zone, no IPv4 inside IPv6, no host bits, no short forms, never
 * the whole Internet. Undefined for anything else, so that nothing but digits, dots, colons, hex and one slash
 * can reach a device. (An inet6 set takes `::ffff:a.b.c.d`, and cuts host bits without a word.)
 */
export function parseAddress(text: string): ParsedAddress | undefined {
  if (!/^[0-9a-fA-F.:]{2,45}(?:\/\d{1,3})?$/.test(text)) return undefined
  const [host = '', prefixText] = text.split('/')
  const address = parseHost(host)
  if (address === undefined) return undefined
  const bits = address.kind() === 'ipv4' ? 32 : 128
  const prefix = prefixText === undefined ? bits : Number(prefixText)
  if (prefix < 1 || prefix > bits || hasHostBits(address, prefix)) return undefined
  const canonical = address.toString()
  const isNetwork = prefix < bits
  return { family: bits === 32 ? 4 : 6, text: isNetwork ? `${canonical}/${prefix}` : canonical, isNetwork }
}

/** The address with its prefix, /32 or /128 for a single host. */
export const toCidr = ({ family, text, isNetwork }: ParsedAddress): string =>
  isNetwork ? text : `${text}/${family === 4 ? 32 : 128}`

type Host = ReturnType<typeof ipaddr.parse>

function parseHost(host: string): Host | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(host)) return ipaddr.IPv4.parse(host)
  if (!host.includes(':') || host.includes('.') || !ipaddr.IPv6.isValid(host)) return undefined
  const address = ipaddr.IPv6.parse(host)
  return address.isIPv4MappedAddress() ? undefined : address
}

function hasHostBits(address: Host, prefix: number): boolean {
  return address.toByteArray().some((byte, index) => {
    const used = Math.min(8, Math.max(0, prefix - index * 8))
    return (byte & (0xff >> used)) !== 0
  })
}

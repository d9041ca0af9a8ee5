/**
 * An agent's address without its port, as the table shows it.
 *
 * Only a single colon is a port's; more of them make an IPv6 address, in brackets when a port follows. Console §3.
 */
export function toAddressWithoutPort(address: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(address)
  if (bracketed?.[1] !== undefined) return bracketed[1]
  return address.split(':').length === 2 ? (address.split(':')[0] ?? address) : address
}

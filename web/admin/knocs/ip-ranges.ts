/** One row of addresses, first to last; both empty while nothing was typed. */
export type IpRange = { Start: string; End: string }

/**
 * The private addresses of RFC 1918, and fc00::/7 with them, as read-only rows. Spec README "IP restrictions".
 */
export const privateRanges: readonly IpRange[] = [
  { Start: '10.0.0.0', End: '10.255.255.255' },
  { Start: '172.16.0.0', End: '172.31.255.255' },
  { Start: '192.168.0.0', End: '192.168.255.255' },
  { Start: 'fc00::', End: 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' },
]

/** What a restriction is. */
export type RestrictionType = 'none' | 'RFC1918' | 'allowList' | 'denyList'

/**
 * The ranges that a restriction means: the custom rows are kept by the form beside them, so that leaving RFC 1918
 * brings them back. Console §3.
 */
export const rangesFor = (type: RestrictionType, custom: readonly IpRange[]): readonly IpRange[] => {
  if (type === 'none') return []
  return type === 'RFC1918' ? privateRanges : custom
}

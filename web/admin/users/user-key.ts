/** How long a new API key is good: months, or for ever. Console §5. */
export const keyExpiries = ['12', '24', 'never'] as const
export type KeyExpiry = (typeof keyExpiries)[number]

/** The instant a key ends, or null for one that doesn't; a month that is too short ends on its last day. */
export function expiryOf(expiry: KeyExpiry, now: Date): string | null {
  if (expiry === 'never') return null
  const end = new Date(now)
  end.setUTCMonth(end.getUTCMonth() + Number(expiry))
  if (end.getUTCDate() !== now.getUTCDate()) end.setUTCDate(0)
  return end.toISOString()
}

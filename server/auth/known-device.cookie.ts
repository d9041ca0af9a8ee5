import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { SignInClient } from '../sessions/session.service.ts'
import type { Realm } from '../sessions/session-cookie.ts'

/** As long as browsers keep a cookie (RFC 6265bis): 400 days; each complete sign-in begins them anew. */
const maxAge = 400 * 86_400

/**
 * Reads both device cookies. The plain name counts too, whatever the public URL: a planted token that isn't this
 * account's own is worth nothing.
 */
export const readDeviceTokens = (c: Context): SignInClient['deviceTokens'] => ({
  user: read(c, 'user'),
  admin: read(c, 'admin'),
})

/** Gives a browser the cookie by which it is known after a complete sign-in (decision 33). */
export function setDeviceCookie(
  c: Context,
  { realm, token, secure }: { realm: Realm; token: string; secure: boolean },
): void {
  const options = { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge } as const
  setCookie(c, secure ? secureName(realm) : plainName(realm), token, options)
}

function read(c: Context, realm: Realm): string | undefined {
  const token = getCookie(c, secureName(realm)) ?? getCookie(c, plainName(realm))
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined
}

const plainName = (realm: Realm): string => `knoc_device_${realm}`
const secureName = (realm: Realm): string => `__Host-${plainName(realm)}`
